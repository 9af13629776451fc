//! Processes of nodes, and what is asked of their REST API.

use std::fs::{self, File};
use std::io::{BufRead as _, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdout, Command, ExitStatus, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use rustix::process::{Pid, Signal, kill_process};
use serde_json::{Value, json};
use undertone_fleet::processes::rest;

/// Guards against hangs only.
const HANG: Duration = Duration::from_secs(120);

/// Running node of the program, which is killed when it is dropped.
pub(crate) struct Node {
    child: Child,
    /// Kept open, so that the node can write to it.
    _stdout: BufReader<ChildStdout>,
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
    /// Starts `undertone node` with what the command has besides, and waits until it listens.
    pub(crate) fn start(command: &mut Command, said: &Path) -> Self {
        let said = said.to_owned();
        command.env_remove("UNDERTONE_LOG").stdin(Stdio::null());
        // A process that follows another one in the same folder goes on with its log.
        let stderr = File::options().create(true).append(true).open(&said);
        command.stdout(Stdio::piped()).stderr(stderr.unwrap());
        let mut child = command.spawn().unwrap();
        let mut stdout = BufReader::new(child.stdout.take().unwrap());
        let mut line = String::new();
        stdout.read_line(&mut line).unwrap();
        let ready: Value = serde_json::from_str(&line)
            .unwrap_or_else(|_| panic!("it did not start: {}", read(&said)));
        let (_, port) = ready["rest"].as_str().unwrap().rsplit_once(':').unwrap();
        Self {
            child,
            _stdout: stdout,
            rest: Rest {
                port: port.parse().unwrap(),
                said,
            },
            address: ready["listenAddresses"][0].as_str().unwrap().to_owned(),
        }
    }

    /// Sends the process a signal.
    pub(crate) fn signal(&self, signal: Signal) {
        kill_process(Pid::from_child(&self.child), signal).unwrap();
    }

    /// Waits until the process has ended.
    pub(crate) fn ended(mut self) -> ExitStatus {
        until("the process ends", || self.child.try_wait().unwrap())
    }

    /// Log lines of all processes that wrote to this log.
    pub(crate) fn said(&self) -> String {
        read(&self.rest.said)
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

impl Drop for Node {
    fn drop(&mut self) {
        // It may have ended by itself.
        let _ = self.child.kill();
        let _ = self.child.wait();
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
pub(crate) fn until<T>(what: &str, mut look: impl FnMut() -> Option<T>) -> T {
    let begun = Instant::now();
    loop {
        if let Some(found) = look() {
            return found;
        }
        assert!(begun.elapsed() < HANG, "it never came: {what}");
        thread::sleep(Duration::from_millis(20));
    }
}

fn read(path: &Path) -> String {
    fs::read_to_string(path).unwrap_or_default()
}
