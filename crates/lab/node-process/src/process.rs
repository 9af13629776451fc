use std::ffi::OsStr;
use std::fs::{self, File};
use std::io::{self, BufRead as _, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdout, Command, ExitStatus, Stdio};
use std::sync::mpsc;
use std::thread;
use std::time::Duration;

use rustix::process::{Pid, Signal, kill_process};

use crate::{Ready, wait_for};

/// Maximum number of log lines repeated in an error.
const TAIL_LINES: usize = 40;

/// Reason why a node does not run.
#[derive(Debug, thiserror::Error)]
pub enum StartError {
    /// The program is missing or not executable.
    #[error("cannot start {program}: {source}; build it with `cargo build --package undertone`")]
    Program {
        /// Path of the program.
        program: PathBuf,
        /// Error of the operating system.
        source: io::Error,
    },
    /// The log cannot be written.
    #[error("cannot write {log}: {source}")]
    Log {
        /// Path of the log.
        log: PathBuf,
        /// Error of the operating system.
        source: io::Error,
    },
    /// The node ended or was silent instead of printing that it is ready.
    #[error("it did not get ready within {limit_s} s, or ended; the end of its log {log}:\n{tail}")]
    NotReady {
        /// Time limit, seconds.
        limit_s: u64,
        /// Path of the log.
        log: PathBuf,
        /// End of the log.
        tail: String,
    },
}

/// Returns a command for a program, without this process's environment variables that configure nodes.
pub fn command(program: impl AsRef<OsStr>) -> Command {
    let mut command = Command::new(program);
    for (name, _) in std::env::vars_os() {
        if name.as_encoded_bytes().starts_with(b"UNDERTONE_") {
            command.env_remove(name);
        }
    }
    command
}

/// Process of a node, and its log; killed when dropped.
#[derive(Debug)]
pub struct NodeProcess {
    child: Child,
    log: PathBuf,
}

impl NodeProcess {
    /// Takes over a process that was started elsewhere and writes this log.
    pub fn new(child: Child, log: PathBuf) -> Self {
        Self { child, log }
    }

    /// Starts a node, which must have the flag `--json` and REST, and waits until it prints that it is ready. Its standard error
    /// is appended to the log.
    ///
    /// # Errors
    ///
    /// [`StartError`] if program or log cannot be used, or if the node ends or is not ready within `limit`.
    pub fn start(
        command: &mut Command,
        log: &Path,
        limit: Duration,
    ) -> Result<(Self, Ready), StartError> {
        let log = log.to_owned();
        let stderr = match File::options().create(true).append(true).open(&log) {
            Ok(stderr) => stderr,
            Err(source) => return Err(StartError::Log { log, source }),
        };
        command.stdin(Stdio::null()).stdout(Stdio::piped());
        let mut child = command
            .stderr(stderr)
            .spawn()
            .map_err(|source| StartError::Program {
                program: command.get_program().into(),
                source,
            })?;
        let stdout = child.stdout.take().expect("stdout was asked to be piped");
        let process = Self::new(child, log);
        match first_line(stdout, limit).and_then(|line| Ready::read(&line)) {
            Some(ready) => Ok((process, ready)),
            None => Err(StartError::NotReady {
                limit_s: limit.as_secs(),
                tail: process.log_tail(),
                log: process.log.clone(),
            }),
        }
    }

    /// Returns the process id.
    pub fn id(&self) -> u32 {
        self.child.id()
    }

    /// Sends the process a signal. Not for a process whose end was seen: its id may be another's by then.
    pub fn signal(&self, signal: Signal) {
        // Fails if the process has ended, which whoever asks for its status learns.
        let _ = kill_process(Pid::from_child(&self.child), signal);
    }

    /// Kills the process and waits for its end.
    pub fn kill(&mut self) {
        // Fails if the process has ended already.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }

    /// Returns the exit status if the process has ended.
    pub fn status(&mut self) -> Option<ExitStatus> {
        self.child.try_wait().ok()?
    }

    /// Waits for the process to end by itself; returns its exit status, or `None` if it still runs after `limit`.
    pub fn wait_for_end(&mut self, limit: Duration) -> Option<ExitStatus> {
        wait_for(limit, || self.status())
    }

    /// Returns the node's log, over all its runs.
    pub fn log(&self) -> String {
        read(&self.log)
    }

    /// Returns the last lines of the log, for error messages.
    pub fn log_tail(&self) -> String {
        log_tail(&self.log)
    }
}

impl Drop for NodeProcess {
    fn drop(&mut self) {
        // Also waits for the process, so that its files are closed.
        self.kill();
    }
}

/// Returns the last lines of a log, for error messages.
pub fn log_tail(log: &Path) -> String {
    let text = read(log);
    let lines: Vec<_> = text.lines().collect();
    lines[lines.len().saturating_sub(TAIL_LINES)..].join("\n")
}

fn read(log: &Path) -> String {
    let bytes = fs::read(log).unwrap_or_default();
    String::from_utf8_lossy(&bytes).into_owned()
}

/// Returns the first line that a process prints. All further output is read and dropped, so that the process never
/// waits for its reader.
fn first_line(stdout: ChildStdout, limit: Duration) -> Option<String> {
    let (sender, line) = mpsc::sync_channel(1);
    thread::spawn(move || {
        let mut lines = BufReader::new(stdout).lines().map_while(Result::ok);
        if let Some(first) = lines.next() {
            // The receiver may have given up.
            let _ = sender.send(first);
        }
        // Tells a waiting receiver if the output ended without a line.
        drop(sender);
        lines.for_each(drop);
    });
    line.recv_timeout(limit).ok()
}

#[cfg(test)]
#[path = "tests/process.rs"]
mod tests;
