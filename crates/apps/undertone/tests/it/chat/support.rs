//! A chat as a process, and what it says.

use std::io::{BufRead as _, BufReader, Write as _};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, Command, ExitStatus, Stdio};
use std::sync::mpsc::{Receiver, RecvTimeoutError, channel};
use std::time::Duration;

use serde_json::Value;
use tempfile::TempDir;

/// Patience of a test with a busy machine; nothing that works needs it.
pub(crate) const PATIENCE: Duration = Duration::from_secs(90);

/// A chat whose standard streams belong to the test. Dropping it ends the process.
pub(crate) struct Chat {
    child: Child,
    stdin: Option<ChildStdin>,
    stdout: Receiver<String>,
    said: Vec<String>,
}

/// The program with the arguments that all chats of a test share.
pub(crate) fn command(folder: &Path, more: &str) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_undertone"));
    command.args("chat --network local --listen-address 127.0.0.1".split(' '));
    command.args(more.split_whitespace());
    command.arg("--data-dir").arg(folder).current_dir(folder);
    command.env_remove("UNDERTONE_LOG");
    command
}

impl Chat {
    /// Starts a chat with its files in this folder.
    pub(crate) fn start(folder: &Path, more: &str) -> Self {
        let mut child = command(folder, more)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let (sender, stdout) = channel();
        let lines = BufReader::new(child.stdout.take().unwrap()).lines();
        std::thread::spawn(move || {
            for line in lines.map_while(Result::ok) {
                if sender.send(line).is_err() {
                    return;
                }
            }
        });
        Self {
            stdin: child.stdin.take(),
            child,
            stdout,
            said: Vec::new(),
        }
    }

    /// Starts a chat that writes JSON and goes on until it is dropped.
    pub(crate) fn json(folder: &Path, more: &str) -> Self {
        Self::start(folder, &format!("--json --listen {more}"))
    }

    /// Waits for a line.
    pub(crate) fn line(&mut self, is_it: impl Fn(&str) -> bool) -> String {
        loop {
            match self.stdout.recv_timeout(PATIENCE) {
                Ok(line) => {
                    self.said.push(line.clone());
                    if is_it(&line) {
                        return line;
                    }
                }
                Err(error) => {
                    let ended = matches!(error, RecvTimeoutError::Disconnected);
                    panic!("ended: {ended}; said: {:#?}", self.said);
                }
            }
        }
    }

    /// Waits for an event with this name, and whatever else is asked of it.
    pub(crate) fn event(&mut self, name: &str, is_it: impl Fn(&Value) -> bool) -> Value {
        let parse = |line: &str| serde_json::from_str::<Value>(line).unwrap();
        let line = self.line(|line| {
            let value = parse(line);
            value["event"] == name && is_it(&value)
        });
        parse(&line)
    }

    /// Waits until there was an event for each of these, in any order.
    pub(crate) fn events<const N: usize>(
        &mut self,
        wanted: [&dyn Fn(&Value) -> bool; N],
    ) -> [Value; N] {
        let mut found = [const { Value::Null }; N];
        while found.contains(&Value::Null) {
            let line = self.line(|_| true);
            let value: Value = serde_json::from_str(&line).unwrap();
            let open = wanted.iter().zip(&mut found);
            for (is_it, found) in open.filter(|(_, found)| found.is_null()) {
                if is_it(&value) {
                    *found = value.clone();
                }
            }
        }
        found
    }

    /// Waits until the chat is ready; the flags with which others find it.
    pub(crate) fn ready(&mut self) -> String {
        let ready = self.event("ready", |_| true);
        let address = ready["listenAddresses"][0].as_str().unwrap();
        format!("--static-peers {address} --storenode {address}")
    }

    /// Whether a line that was waited for, or one before it, has this text.
    pub(crate) fn has_said(&self, text: &str) -> bool {
        self.said.iter().any(|line| line.contains(text))
    }

    /// Waits for a message with this text.
    pub(crate) fn message(&mut self, text: &str) -> Value {
        self.event("message", |event| event["text"] == text)
    }

    /// Whether a message with this text was shown so far.
    pub(crate) fn has_shown(&self, text: &str) -> bool {
        let mut events = self.said.iter();
        events.any(|line| {
            let event: Value = serde_json::from_str(line).unwrap();
            event["event"] == "message" && event["text"] == text
        })
    }

    /// Waits until an own message has a state.
    pub(crate) fn own(&mut self, number: u64, state: &str) -> Value {
        self.event("own", |event| {
            event["number"] == number && event["state"] == state
        })
    }

    pub(crate) fn type_line(&mut self, line: &str) {
        let stdin = self.stdin.as_mut().unwrap();
        writeln!(stdin, "{line}").unwrap();
    }

    /// Ends the input and waits for the end of the chat.
    pub(crate) fn end(mut self) -> ExitStatus {
        drop(self.stdin.take());
        self.child.wait().unwrap()
    }
}

impl Drop for Chat {
    fn drop(&mut self) {
        // It may have ended by itself.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// Folders and files of a test.
pub(crate) struct Place(TempDir);

impl Place {
    pub(crate) fn new() -> Self {
        Self(tempfile::tempdir().unwrap())
    }

    /// A folder with this name.
    pub(crate) fn folder(&self, name: &str) -> PathBuf {
        let path = self.0.path().join(name);
        std::fs::create_dir_all(&path).unwrap();
        path
    }

    /// A file with this content.
    pub(crate) fn file(&self, name: &str, content: &str) -> String {
        let path = self.0.path().join(name);
        std::fs::write(&path, content).unwrap();
        path.to_str().unwrap().to_owned()
    }
}
