//! Process of one node: its start, its state and its end.

use std::fs::File;
use std::io::ErrorKind;
use std::path::PathBuf;
use std::process::Command;
use std::thread;
use std::time::{Duration, Instant};

use serde_json::Value;
use undertone_node_process::{NodeProcess as Process, Signal};
use undertone_testbed::Host;

use super::error::RunError;
use super::rest;

/// Interval at which a node that starts or ends is checked.
const LOOK_AGAIN: Duration = Duration::from_millis(50);

/// Time limit for a node to end after it was asked to; it sends its last frames in that time.
const GOODBYE: Duration = Duration::from_secs(10);

/// Node with its files, whose process may or may not have been started.
#[derive(Debug)]
pub(crate) struct NodeProcess {
    pub(crate) index: u32,
    pub(crate) peer_id: String,
    /// Multiaddress at which other nodes reach this node.
    pub(crate) address: String,
    pub(crate) deliveries: PathBuf,
    pub(crate) log: PathBuf,
    pub(crate) command: Command,
    pub(crate) process: Option<Process>,
    /// How a fault has ended the node, if one has.
    pub(crate) end: Option<NodeEnd>,
}

/// Ways in which a fault ends a process.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum NodeEnd {
    /// The process was killed.
    Killed,
    /// The process was asked to end with SIGTERM, and should exit with success.
    Asked,
}

/// Conditions under which a node is ready.
pub(crate) struct Wanted {
    pub(crate) peers: usize,
    pub(crate) tokens: u32,
}

impl Wanted {
    /// No conditions besides an answer to REST requests.
    pub(crate) const NOTHING: Self = Self {
        peers: 0,
        tokens: 0,
    };
}

impl NodeProcess {
    /// Starts the process in the host's namespace.
    pub(crate) fn launch(&mut self, host: &Host) -> Result<(), RunError> {
        let output = File::create(&self.log).map_err(|error| RunError::Folder {
            path: self.log.clone(),
            error,
        })?;
        let child = host.launch(&self.command, Some(&output))?;
        self.process = Some(Process::new(child, self.log.clone()));
        Ok(())
    }

    /// Whether the process was started and no fault has ended it.
    pub(crate) fn runs(&self) -> bool {
        self.process.is_some() && self.end.is_none()
    }

    /// Kills the process and waits for its end.
    pub(crate) fn kill(&mut self) {
        self.end = Some(NodeEnd::Killed);
        if let Some(process) = &mut self.process {
            process.kill();
        }
    }

    /// Asks the process to end, with SIGTERM.
    pub(crate) fn leave(&mut self) {
        self.end = Some(NodeEnd::Asked);
        if let Some(process) = &self.process {
            process.signal(Signal::TERM);
        }
    }

    pub(crate) fn wait(
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

    /// Returns the first unmet condition, if any.
    fn missing(&self, host: &Host, wanted: &Wanted) -> Result<Option<&'static str>, RunError> {
        let Some(health) = self.ask(host, "/health")? else {
            return Ok(Some("it does not answer"));
        };
        let peers = self.ask(host, "/admin/v1/peers/connected")?;
        let peers = peers.as_ref().and_then(Value::as_array).map_or(0, Vec::len);
        if peers < wanted.peers {
            return Ok(Some("it is not connected to all its peers"));
        }
        // A node without expected peers cannot have a mesh.
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

    /// Returns the JSON that the node's REST server returns for a path; `None` while the node does not
    /// listen, or if the answer is not JSON.
    pub(crate) fn ask(&self, host: &Host, path: &str) -> Result<Option<Value>, RunError> {
        match rest::ask_in(host, "GET", path, "")? {
            Ok(answer) => Ok(serde_json::from_str(&answer.body).ok()),
            Err(error) if error.kind() == ErrorKind::ConnectionRefused => Ok(None),
            Err(error) => Err(RunError::Rest {
                node: self.index,
                path: path.to_owned(),
                error,
            }),
        }
    }

    /// Returns an error if the process has ended by itself, or has failed or not ended when asked to end.
    pub(crate) fn check(&mut self) -> Result<(), RunError> {
        let Some(process) = &mut self.process else {
            return Ok(());
        };
        let status = match self.end {
            Some(NodeEnd::Killed) => return Ok(()),
            None => match process.status() {
                Some(status) => status,
                None => return Ok(()),
            },
            Some(NodeEnd::Asked) => match process.wait_for_end(GOODBYE) {
                Some(status) if status.success() => return Ok(()),
                Some(status) => status,
                None => return Err(RunError::Stays { node: self.index }),
            },
        };
        Err(RunError::Ended {
            node: self.index,
            status,
            said: process.log_tail(),
        })
    }
}
