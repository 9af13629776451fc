//! Driver of one light client process.

use std::collections::BTreeMap;
use std::fs::File;
use std::path::Path;
use std::process::Stdio;
use std::sync::Arc;
use std::time::Duration;

use parking_lot::Mutex;
use serde_json::{Value, json};
use tokio::io::{AsyncBufReadExt, AsyncWriteExt, BufReader};
use tokio::process::{Child, ChildStdin, ChildStdout};
use tokio::sync::{oneshot, watch};
use tokio::time::timeout;
use undertone_conformance::PeerCommand;

/// Time limit of one step; a step takes a second or two.
pub(crate) const STEP: Duration = Duration::from_secs(30);

/// Running light client; a drop kills the process.
pub(crate) struct Client {
    label: String,
    /// Kept because a drop kills it.
    _child: Child,
    stdin: ChildStdin,
    next_reference: u64,
    heard: Arc<Heard>,
}

/// What the client has written so far.
#[derive(Default)]
struct Heard {
    events: watch::Sender<Vec<Value>>,
    waiting: Mutex<BTreeMap<u64, oneshot::Sender<Value>>>,
}

/// Message that the client received or read from a store.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Message {
    pub(crate) pubsub_topic: String,
    pub(crate) content_topic: String,
    /// Hash of the message in hex, as the client computes it.
    pub(crate) hash: String,
    pub(crate) bytes: u64,
    /// The payload, if it is short.
    pub(crate) text: Option<String>,
}

impl Message {
    /// Reads what a client tells of a message.
    pub(crate) fn read(value: &Value) -> Self {
        let text = |name: &str| value[name].as_str().unwrap_or_default().to_owned();
        Self {
            pubsub_topic: text("pubsub_topic"),
            content_topic: text("topic"),
            hash: text("hash"),
            bytes: value["bytes"].as_u64().unwrap_or_default(),
            text: value["text"].as_str().map(str::to_owned),
        }
    }
}

impl Client {
    /// Starts a client whose standard error goes to a file of `folder`, and waits until it is ready.
    pub(crate) async fn start(command: &PeerCommand, folder: &Path) -> Self {
        let label = command.label().to_owned();
        let log = File::create(folder.join(format!("{label}.log"))).unwrap();
        let mut child = command
            .build()
            // The library's warnings and errors.
            .env("DEBUG", "waku:warn:*,waku:error:*")
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(log)
            .kill_on_drop(true)
            .spawn()
            .unwrap_or_else(|error| panic!("{label}: cannot start the program: {error}"));
        let stdin = child.stdin.take().unwrap();
        let heard = Arc::new(Heard::default());
        tokio::spawn(read(child.stdout.take().unwrap(), Arc::clone(&heard)));
        let client = Self {
            label,
            _child: child,
            stdin,
            next_reference: 0,
            heard,
        };
        client.event("start", "ready", |_| true).await;
        client
    }

    /// Carries out a command and returns its result; an error is the client's refusal.
    pub(crate) async fn ask(&mut self, step: &str, mut command: Value) -> Result<Value, String> {
        let reference = self.next_reference;
        self.next_reference += 1;
        command["ref"] = reference.into();
        let (sender, receiver) = oneshot::channel();
        self.heard.waiting.lock().insert(reference, sender);
        let line = format!("{command}\n");
        let answer = async {
            self.stdin.write_all(line.as_bytes()).await.ok()?;
            receiver.await.ok()
        };
        match timeout(STEP, answer).await {
            Ok(Some(reply)) => match reply["error"].as_str() {
                Some(reason) => Err(reason.to_owned()),
                None => Ok(reply["ok"].clone()),
            },
            Ok(None) => panic!("{step}: {} has ended", self.label),
            Err(_) => panic!("{step}: {}: no reply within {STEP:?}", self.label),
        }
    }

    /// Carries out a command that must succeed.
    pub(crate) async fn must(&mut self, step: &str, command: Value) -> Value {
        match self.ask(step, command).await {
            Ok(result) => result,
            Err(reason) => panic!("{step}: {}: {reason}", self.label),
        }
    }

    /// Waits until the client has a server of each protocol.
    pub(crate) async fn wait_peers(&mut self) {
        let protocols = ["store", "filter", "lightpush"];
        let command = json!({"cmd": "wait_peers", "protocols": protocols, "timeout_ms": 20_000});
        self.must("wait for servers", command).await;
    }

    /// Subscribes to a content topic, which the server must accept.
    pub(crate) async fn subscribe(&mut self, topic: &str) {
        let command = json!({"cmd": "subscribe", "topic": topic});
        let result = self.must("subscribe", command).await;
        assert_eq!(
            result["accepted"],
            true,
            "subscribe: {:?}",
            self.last("filter")
        );
    }

    /// Publishes short text by lightpush v3, which must succeed.
    pub(crate) async fn lightpush(&mut self, topic: &str, text: &str) {
        let command = json!({"cmd": "lightpush", "topic": topic, "text": text});
        let result = self.must("lightpush", command).await;
        assert!(
            is_pushed(&result),
            "lightpush: {result}, {:?}",
            self.last("lightpush-v3")
        );
    }

    /// Waits for the message with this short text on any subscribed topic.
    pub(crate) async fn message(&self, step: &str, text: &str) -> Message {
        let found = self.event(step, "message", |event| event["text"] == text);
        Message::read(&found.await)
    }

    /// Waits for the first event of this name that satisfies `is_it`, whether it comes or has come.
    pub(crate) async fn event(
        &self,
        step: &str,
        name: &str,
        is_it: impl Fn(&Value) -> bool,
    ) -> Value {
        self.event_after(step, 0, name, is_it).await
    }

    /// Waits for such an event that comes after the first `count` ones.
    pub(crate) async fn event_after(
        &self,
        step: &str,
        count: usize,
        name: &str,
        is_it: impl Fn(&Value) -> bool,
    ) -> Value {
        self.event_within(STEP, step, count, name, is_it).await
    }

    /// Waits longer, or less long, for such an event than a step takes.
    pub(crate) async fn event_within(
        &self,
        patience: Duration,
        step: &str,
        count: usize,
        name: &str,
        is_it: impl Fn(&Value) -> bool,
    ) -> Value {
        let find = |events: &Vec<Value>| {
            let mut later = events.iter().skip(count);
            later
                .find(|event| event["event"] == name && is_it(event))
                .cloned()
        };
        let mut events = self.heard.events.subscribe();
        let found = timeout(patience, events.wait_for(|events| find(events).is_some())).await;
        match found {
            Ok(Ok(events)) => find(&events).unwrap_or_default(),
            Ok(Err(_)) => panic!("{step}: {} has ended", self.label),
            Err(_) => panic!(
                "{step}: {}: no such event {name} within {patience:?}, only {:?}",
                self.label,
                self.events(name)
            ),
        }
    }

    /// Number of events so far.
    pub(crate) fn event_count(&self) -> usize {
        self.heard.events.borrow().len()
    }

    /// All events of this name so far.
    pub(crate) fn events(&self, name: &str) -> Vec<Value> {
        let events = self.heard.events.borrow();
        events
            .iter()
            .filter(|event| event["event"] == name)
            .cloned()
            .collect()
    }

    /// Messages received by filter so far.
    pub(crate) fn messages(&self) -> Vec<Message> {
        self.events("message").iter().map(Message::read).collect()
    }

    /// Answers of one kind so far.
    pub(crate) fn answers(&self, kind: &str) -> Vec<Value> {
        let mut answers = self.events("answer");
        answers.retain(|answer| answer["kind"] == kind);
        answers
    }

    /// Last answer of one kind.
    pub(crate) fn last(&self, kind: &str) -> Option<Value> {
        self.answers(kind).pop()
    }

    /// Ends the client.
    pub(crate) async fn quit(mut self) {
        self.must("quit", json!({"cmd": "quit"})).await;
    }
}

/// Whether a lightpush succeeded at one server.
pub(crate) fn is_pushed(result: &Value) -> bool {
    let lengths = ["successes", "failures"].map(|name| result[name].as_array().map(Vec::len));
    lengths == [Some(1), Some(0)]
}

/// Takes what the client writes, until it ends or writes what is no JSON.
async fn read(stdout: ChildStdout, heard: Arc<Heard>) {
    let mut lines = BufReader::new(stdout).lines();
    while let Ok(Some(line)) = lines.next_line().await {
        let Ok(value) = serde_json::from_str::<Value>(&line) else {
            eprintln!("not a line of JSON: {line}");
            break;
        };
        match value["ref"].as_u64() {
            Some(reference) => {
                let waiting = heard.waiting.lock().remove(&reference);
                drop(waiting.map(|sender| sender.send(value)));
            }
            None => heard.events.send_modify(|events| events.push(value)),
        }
    }
    // Nobody waits for replies that cannot come.
    heard.waiting.lock().clear();
}
