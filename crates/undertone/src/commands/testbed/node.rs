//! One process: started, asked, ended.

use std::fs::{self, File};
use std::path::PathBuf;
use std::process::{Child, Command, ExitStatus};
use std::thread;
use std::time::{Duration, Instant};

use rustix::process::{Pid, Signal, kill_process};
use serde_json::Value;
use undertone_testbed::Host;

use super::{RunError, rest};

/// Between two looks at a node that is starting.
const LOOK_AGAIN: Duration = Duration::from_millis(50);

/// How long a node may take to end that was asked to: it sends its last frames.
const GOODBYE: Duration = Duration::from_secs(10);

/// How much of a dead node's last words is repeated, bytes.
const LAST_WORDS: usize = 2_000;

/// A node: its files are there, its process may be.
#[derive(Debug)]
pub(crate) struct Node {
    pub(crate) index: u32,
    pub(crate) peer_id: String,
    /// Where others reach it.
    pub(crate) address: String,
    pub(crate) deliveries: PathBuf,
    pub(super) log: PathBuf,
    pub(super) command: Command,
    pub(super) child: Option<Child>,
    /// How a fault has ended it.
    pub(super) end: Option<End>,
}

/// How a fault ends a process.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum End {
    /// It was killed.
    Killed,
    /// It was asked to end, and should do so in good order.
    Asked,
}

/// When a node is ready.
pub(super) struct Wanted {
    pub(super) peers: usize,
    pub(super) tokens: u32,
}

impl Wanted {
    /// It answers.
    pub(super) const NOTHING: Self = Self {
        peers: 0,
        tokens: 0,
    };
}

impl Node {
    /// Starts the process.
    pub(crate) fn launch(&mut self, host: &Host) -> Result<(), RunError> {
        let output = File::create(&self.log).map_err(|error| RunError::Folder {
            path: self.log.clone(),
            error,
        })?;
        self.child = Some(host.launch(&self.command, Some(&output))?);
        Ok(())
    }

    /// Whether the process runs and is meant to.
    pub(crate) fn runs(&self) -> bool {
        self.child.is_some() && self.end.is_none()
    }

    /// Kills the process, and returns once it is gone.
    pub(crate) fn kill(&mut self) {
        self.end = Some(End::Killed);
        if let Some(child) = &mut self.child {
            // Fails for a process that has ended.
            let _ = child.kill();
            let _ = child.wait();
        }
    }

    /// Asks the process to end.
    pub(crate) fn leave(&mut self) {
        self.end = Some(End::Asked);
        let child = self.child.as_ref();
        let id = child.and_then(|child| Pid::from_raw(i32::try_from(child.id()).ok()?));
        if let Some(id) = id {
            // Fails for a process that has ended; it was not waited for, so nobody else has its id.
            let _ = kill_process(id, Signal::TERM);
        }
    }

    pub(super) fn wait(
        &mut self,
        host: &Host,
        wanted: &Wanted,
        began: Instant,
        limit: Duration,
    ) -> Result<(), RunError> {
        loop {
            let Some(missing) = self.missing(host, wanted)? else {
                return Ok(());
            };
            self.check()?;
            if began.elapsed() > limit {
                return Err(RunError::NotReady {
                    node: self.index,
                    after_s: limit.as_secs(),
                    missing,
                });
            }
            thread::sleep(LOOK_AGAIN);
        }
    }

    /// What it still lacks.
    fn missing(&self, host: &Host, wanted: &Wanted) -> Result<Option<&'static str>, RunError> {
        let Some(health) = self.ask(host, "/health")? else {
            return Ok(Some("it does not answer"));
        };
        let peers = self.ask(host, "/admin/v1/peers/connected")?;
        let peers = peers.as_ref().and_then(Value::as_array).map_or(0, Vec::len);
        if peers < wanted.peers {
            return Ok(Some("it is not connected to all its peers"));
        }
        // A node that is alone for now has nobody for a mesh.
        if wanted.peers > 0 && health["nodeHealth"] != "READY" {
            return Ok(Some("it has no mesh, or does not know the members yet"));
        }
        if wanted.tokens > 0 {
            let rln = self.ask(host, "/debug/v1/rln")?.unwrap_or_default();
            if rln["tokens"]["ready"].as_u64() < Some(wanted.tokens.into()) {
                return Ok(Some("its tokens are not prepared yet"));
            }
        }
        Ok(None)
    }

    /// What a path says; none while the node does not listen yet.
    pub(crate) fn ask(&self, host: &Host, path: &str) -> Result<Option<Value>, RunError> {
        let Ok(stream) = rest::connect(host)? else {
            return Ok(None);
        };
        let answer = rest::get(stream, path).map_err(|error| RunError::Rest {
            node: self.index,
            path: path.to_owned(),
            error,
        })?;
        Ok(serde_json::from_str(&answer.body).ok())
    }

    /// How the process ended, if it has.
    fn status(&mut self) -> Option<ExitStatus> {
        self.child.as_mut()?.try_wait().ok()?
    }

    /// How it ended, if it does before long.
    fn wait_for_end(&mut self) -> Option<ExitStatus> {
        let began = Instant::now();
        while began.elapsed() < GOODBYE {
            if let Some(status) = self.status() {
                return Some(status);
            }
            thread::sleep(LOOK_AGAIN);
        }
        None
    }

    /// An error if the process has ended by itself, or has not when it was asked to.
    pub(crate) fn check(&mut self) -> Result<(), RunError> {
        let status = match self.end {
            Some(End::Killed) => return Ok(()),
            None => match self.status() {
                Some(status) => status,
                None => return Ok(()),
            },
            Some(End::Asked) => match self.wait_for_end() {
                Some(status) if status.success() => return Ok(()),
                Some(status) => status,
                None => return Err(RunError::Stays { node: self.index }),
            },
        };
        let said = fs::read(&self.log).unwrap_or_default();
        let from = said.len().saturating_sub(LAST_WORDS);
        Err(RunError::Ended {
            node: self.index,
            status,
            said: String::from_utf8_lossy(&said[from..]).into_owned(),
        })
    }
}

impl Drop for Node {
    fn drop(&mut self) {
        // Waited for, so that its files are closed.
        self.kill();
    }
}
