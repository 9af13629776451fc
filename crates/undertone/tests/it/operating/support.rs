//! Processes of `undertone node`, and what is asked of them.

use std::fs::{self, File};
use std::io::{BufRead as _, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdout, Command, ExitStatus, Stdio};
use std::time::{Duration, Instant};

use rustix::process::{Pid, Signal, kill_process};
use serde_json::{Value, json};
use tempfile::TempDir;

use crate::support::process::ask;

/// Guards against hangs only.
pub(crate) const HANG: Duration = Duration::from_secs(120);

/// Pubsub topic of the tests.
pub(crate) const SHARD: &str = "/waku/2/rs/66/0";

/// Folder in which a node lives, also when its process ends and another one starts.
pub(crate) struct Home(TempDir);

impl Home {
    pub(crate) fn new() -> Self {
        Self(tempfile::tempdir().unwrap())
    }

    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.0.path().join(name)
    }

    /// Starts a node with flags, and waits until it runs.
    pub(crate) fn start(&self, flags: &[&str]) -> NodeProcess {
        let mut command = Command::new(env!("CARGO_BIN_EXE_undertone"));
        command.args(["node", "--json", "--network", "local", "--rln=false"]);
        command.args(["--listen-address", "127.0.0.1", "--tcp-port", "0"]);
        command
            .args(["--rest-port", "0", "--rest-admin", "--rest-auth=none"])
            .args(flags);
        command.arg("--data-dir").arg(self.path("data"));
        command.env_remove("UNDERTONE_LOG").stdin(Stdio::null());
        let said = self.path("said");
        let stderr = File::options().create(true).append(true).open(&said);
        command.stdout(Stdio::piped()).stderr(stderr.unwrap());
        let mut child = command.spawn().unwrap();
        let mut stdout = BufReader::new(child.stdout.take().unwrap());
        let mut line = String::new();
        stdout.read_line(&mut line).unwrap();
        let ready: Value = serde_json::from_str(&line)
            .unwrap_or_else(|_| panic!("it did not start: {}", read(&said)));
        let rest = ready["rest"].as_str().unwrap();
        let rest = rest.trim_start_matches("http://").to_owned();
        let address = ready["listenAddresses"][0].as_str().unwrap().to_owned();
        NodeProcess {
            child,
            _stdout: stdout,
            rest,
            address,
            said,
        }
    }
}

/// Process of a node, which is killed when it is dropped.
pub(crate) struct NodeProcess {
    child: Child,
    /// Kept open, so that the node can write to it.
    _stdout: BufReader<ChildStdout>,
    pub(crate) rest: String,
    /// Address of the node, with `/p2p`.
    pub(crate) address: String,
    said: PathBuf,
}

impl NodeProcess {
    /// Sends the process a signal.
    pub(crate) fn signal(&self, signal: Signal) {
        kill_process(Pid::from_child(&self.child), signal).unwrap();
    }

    /// Waits until the process has ended.
    pub(crate) fn ended(mut self) -> ExitStatus {
        until("the process ends", || self.child.try_wait().unwrap())
    }

    /// Log lines of all processes of this home.
    pub(crate) fn said(&self) -> String {
        read(&self.said)
    }

    /// Waits until the log has a text.
    pub(crate) fn says(&self, text: &str) {
        until(text, || self.said().contains(text).then_some(()));
    }

    /// Asks the REST API; returns status and body.
    pub(crate) fn ask(&self, method: &str, path: &str, body: &str) -> (u16, String) {
        let answer = ask(&self.rest, method, path, body);
        answer.unwrap_or_else(|| panic!("no answer to {method} {path}: {}", self.said()))
    }

    /// As [`Self::ask`], for answers that are JSON.
    pub(crate) fn json(&self, path: &str) -> Value {
        let (status, body) = self.ask("GET", path, "");
        assert_eq!(status, 200, "{path}: {body}");
        serde_json::from_str(&body).unwrap()
    }
}

impl Drop for NodeProcess {
    fn drop(&mut self) {
        // It has usually ended.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

fn read(path: &Path) -> String {
    fs::read_to_string(path).unwrap_or_default()
}

/// Looks again until there is a result.
pub(crate) fn until<T>(what: &str, mut look: impl FnMut() -> Option<T>) -> T {
    let begun = Instant::now();
    loop {
        if let Some(found) = look() {
            return found;
        }
        assert!(begun.elapsed() < HANG, "it never came: {what}");
        std::thread::sleep(Duration::from_millis(20));
    }
}

/// Publishes a message of a content topic; returns whether the node has acknowledged it.
pub(crate) fn publish(rest: &str, shard: &str, content_topic: &str) -> bool {
    let message = json!({ "payload": "bG9hZA==", "contentTopic": content_topic });
    let path = format!("/relay/v1/messages/{}", shard.replace('/', "%2F"));
    let answer = ask(rest, "POST", &path, &message.to_string());
    matches!(answer, Some((200, _)))
}
