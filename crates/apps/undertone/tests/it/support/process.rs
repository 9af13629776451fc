//! Processes of nodes, and what is asked of their REST API.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitStatus};
use std::thread;
use std::time::{Duration, Instant};

use serde_json::{Value, json};
use undertone_node_process::{NodeProcess, Signal, rest, wait_for};

/// Guards against hangs only.
const HANG: Duration = Duration::from_secs(120);

/// Running node of the program, which is killed when it is dropped.
pub(crate) struct Node {
    process: NodeProcess,
    pub(crate) rest: Rest,
    /// Address of the node, with `/p2p`.
    pub(crate) address: String,
}

/// REST API of a node, with the file of what the node says.
#[derive(Clone)]
pub(crate) struct Rest {
    pub(crate) port: u16,
    pub(crate) said: PathBuf,
}

impl Node {
    /// Starts `undertone node` with what the command has besides, and waits until it listens. A process that follows another
    /// one in the same folder goes on with its log.
    pub(crate) fn start(command: &mut Command, said: &Path) -> Self {
        let started = NodeProcess::start(command, said, HANG);
        let (process, ready) = started.unwrap_or_else(|error| panic!("{error}"));
        Self {
            process,
            rest: Rest {
                port: ready.rest.port(),
                said: said.to_owned(),
            },
            address: ready.listen_addresses[0].clone(),
        }
    }

    /// Sends the process a signal.
    pub(crate) fn signal(&self, signal: Signal) {
        self.process.signal(signal);
    }

    /// Waits until the process has ended.
    pub(crate) fn ended(mut self) -> ExitStatus {
        self.process.wait_for_end(HANG).expect("the process ends")
    }

    /// Log lines of all processes that wrote to this log.
    pub(crate) fn said(&self) -> String {
        self.process.log()
    }

    /// Waits until the log has a text.
    pub(crate) fn says(&self, text: &str) {
        until(text, || self.said().contains(text).then_some(()));
    }

    /// Asks the REST API; returns status and body.
    pub(crate) fn ask(&self, method: &str, path: &str, body: &str) -> (u16, String) {
        let answer = self.rest.ask(method, path, body);
        answer.unwrap_or_else(|| panic!("no answer to {method} {path}: {}", self.said()))
    }

    /// As [`Self::ask`], for answers that are JSON.
    pub(crate) fn json(&self, path: &str) -> Value {
        let (status, body) = self.ask("GET", path, "");
        assert_eq!(status, 200, "{path}: {body}");
        serde_json::from_str(&body).unwrap()
    }
}

impl Rest {
    /// Address of the API.
    pub(crate) fn authority(&self) -> String {
        format!("127.0.0.1:{}", self.port)
    }

    /// As [`ask`].
    pub(crate) fn ask(&self, method: &str, path: &str, body: &str) -> Option<(u16, String)> {
        ask(&self.authority(), method, path, body)
    }

    /// Asks until the answer is as wanted.
    pub(crate) fn until(&self, path: &str, wanted: impl Fn(&Value) -> bool) -> Value {
        let (begun, mut last) = (Instant::now(), None);
        while begun.elapsed() < HANG {
            last = self.ask("GET", path, "");
            if let Some((200, body)) = &last
                && let Ok(value) = serde_json::from_str(body)
                && wanted(&value)
            {
                return value;
            }
            thread::sleep(Duration::from_millis(50));
        }
        panic!("{path}: {last:?}; the node said: {}", read(&self.said));
    }

    /// Publishes a message of a content topic, which the node has to take once it knows that it is a member.
    pub(crate) fn publish(&self, content_topic: &str, payload: &str) {
        let message = json!({ "payload": payload, "contentTopic": content_topic });
        let (begun, mut last) = (Instant::now(), None);
        while begun.elapsed() < HANG {
            last = self.ask("POST", "/relay/v1/auto/messages", &message.to_string());
            if matches!(last, Some((200, _))) {
                return;
            }
            thread::sleep(Duration::from_millis(200));
        }
        panic!("{last:?}; the node said: {}", read(&self.said));
    }

    /// Subscribes to a content topic.
    pub(crate) fn subscribe(&self, content_topic: &str) {
        let topics = json!([content_topic]).to_string();
        let answer = self.ask("POST", "/relay/v1/auto/subscriptions", &topics);
        let is_done = matches!(answer, Some((200, _)));
        assert!(is_done, "{answer:?}; it said: {}", read(&self.said));
    }

    /// Waits until a message of a content topic with this payload has come.
    pub(crate) fn receives(&self, content_topic: &str, payload: &str) {
        let path = format!(
            "/relay/v1/auto/messages/{}",
            content_topic.replace('/', "%2F")
        );
        self.until(&path, |messages| {
            let messages = messages.as_array();
            messages.is_some_and(|all| all.iter().any(|message| message["payload"] == payload))
        });
    }
}

/// Asks a REST API and returns status and body; `None` if the whole answer did not come.
pub(crate) fn ask(rest: &str, method: &str, path: &str, body: &str) -> Option<(u16, String)> {
    let answer = rest::ask(rest.parse().unwrap(), method, path, body, HANG).ok()?;
    Some((answer.status, answer.body))
}

/// Looks again until there is a result.
pub(crate) fn until<T>(what: &str, look: impl FnMut() -> Option<T>) -> T {
    wait_for(HANG, look).unwrap_or_else(|| panic!("it never came: {what}"))
}

fn read(path: &Path) -> String {
    fs::read_to_string(path).unwrap_or_default()
}
