//! Driver of one peer program: sends typed commands, receives replies and events, ends the process.

use std::collections::BTreeMap;
use std::process::Stdio;
use std::sync::Arc;
use std::time::Duration;

use serde::de::DeserializeOwned;
use tokio::io::AsyncWriteExt;
use tokio::process::{Child, ChildStdin};
use tokio::sync::{mpsc, oneshot};
use tokio::time::timeout;

use crate::protocol::{
    Command, Connected, Content, Control, Delivery, Outcome, Peers, Published, Ready, Request, Stat,
};

mod command;
mod error;
mod reader;
mod stderr;
#[cfg(test)]
#[path = "tests/process.rs"]
mod tests;

pub use command::PeerCommand;
pub use error::PeerError;
use reader::{Shared, read_lines};

/// Time limit for a peer's answer, which guards against a peer that hangs; no test depends on its length.
const DEADLINE: Duration = Duration::from_secs(60);
/// Interval at which a peer is polled for state that it does not report by events.
const POLL: Duration = Duration::from_millis(20);

/// Running peer program; a drop kills the process.
#[derive(Debug)]
pub struct PeerProcess {
    label: String,
    ready: Ready,
    child: Child,
    stdin: ChildStdin,
    next_reference: u64,
    shared: Arc<Shared>,
    messages: mpsc::UnboundedReceiver<Delivery>,
}

/// Reply that has not arrived yet.
#[derive(Debug)]
pub struct PendingReply {
    command: &'static str,
    receiver: oneshot::Receiver<Outcome>,
}

impl PeerProcess {
    /// Starts a program and waits until it is ready.
    pub async fn spawn(command: &PeerCommand) -> Result<Self, PeerError> {
        let label = command.label().to_owned();
        let mut child = command
            .build()
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .kill_on_drop(true)
            .spawn()
            .map_err(|source| PeerError::Start {
                peer: label.clone(),
                program: command.program().to_owned(),
                source,
            })?;
        let stdin = child.stdin.take().expect("stdin was asked to be piped");
        let stdout = child.stdout.take().expect("stdout was asked to be piped");
        let stderr = child.stderr.take().expect("stderr was asked to be piped");

        let shared = Arc::new(Shared::default());
        *shared.waiting.lock() = Some(BTreeMap::new());
        let (ready_sender, ready_receiver) = oneshot::channel();
        let (message_sender, messages) = mpsc::unbounded_channel();
        tokio::spawn(shared.stderr.clone().collect(stderr));
        tokio::spawn(read_lines(
            stdout,
            Arc::clone(&shared),
            ready_sender,
            message_sender,
        ));

        let mut peer = Self {
            label,
            ready: Ready {
                peer: String::new(),
                addrs: Vec::new(),
            },
            child,
            stdin,
            next_reference: 0,
            shared,
            messages,
        };
        peer.ready = match timeout(DEADLINE, ready_receiver).await {
            Ok(Ok(ready)) => ready,
            Ok(Err(_)) => return Err(peer.gone("ready").await),
            Err(_) => return Err(peer.late("ready")),
        };
        Ok(peer)
    }

    /// Returns the label given to the command.
    #[must_use]
    pub fn label(&self) -> &str {
        &self.label
    }

    /// Returns the peer's libp2p id.
    #[must_use]
    pub fn peer_id(&self) -> &str {
        &self.ready.peer
    }

    /// Returns the first address on which the peer listens; empty if there is none.
    #[must_use]
    pub fn addr(&self) -> &str {
        self.ready.addrs.first().map_or("", String::as_str)
    }

    /// Returns the first WebSocket address on which the peer listens.
    #[must_use]
    pub fn websocket_addr(&self) -> Option<&str> {
        let mut addrs = self.ready.addrs.iter().map(String::as_str);
        addrs.find(|addr| addr.contains("/ws"))
    }

    /// Dials an address; returns the peer id found there.
    pub async fn connect(&mut self, addr: &str) -> Result<String, PeerError> {
        let command = Command::Connect {
            addr: addr.to_owned(),
        };
        Ok(self.ask::<Connected>("connect", command).await?.peer)
    }

    /// Subscribes to a topic.
    pub async fn subscribe(&mut self, topic: &str) -> Result<(), PeerError> {
        self.tell(
            "subscribe",
            Command::Subscribe {
                topic: topic.to_owned(),
            },
        )
        .await
    }

    /// Unsubscribes from a topic.
    pub async fn unsubscribe(&mut self, topic: &str) -> Result<(), PeerError> {
        self.tell(
            "unsubscribe",
            Command::Unsubscribe {
                topic: topic.to_owned(),
            },
        )
        .await
    }

    /// Publishes one message; returns its id in hex.
    pub async fn publish(&mut self, topic: &str, content: Content) -> Result<String, PeerError> {
        let command = Command::Publish {
            topic: topic.to_owned(),
            content,
        };
        Ok(self.ask::<Published>("publish", command).await?.id)
    }

    /// Returns the ids of peers known to be subscribed to a topic.
    pub async fn peers(&mut self, topic: &str) -> Result<Vec<String>, PeerError> {
        Ok(self
            .ask::<Peers>(
                "peers",
                Command::Peers {
                    topic: topic.to_owned(),
                },
            )
            .await?
            .peers)
    }

    /// Returns the ids of peers in the mesh of a topic.
    pub async fn mesh(&mut self, topic: &str) -> Result<Vec<String>, PeerError> {
        Ok(self
            .ask::<Peers>(
                "mesh",
                Command::Mesh {
                    topic: topic.to_owned(),
                },
            )
            .await?
            .peers)
    }

    /// Returns processor time and memory of the process.
    pub async fn stat(&mut self) -> Result<Stat, PeerError> {
        self.ask("stat", Command::Stat).await
    }

    /// Returns the counts of control messages so far.
    pub async fn control(&mut self) -> Result<Control, PeerError> {
        self.ask("control", Command::Control).await
    }

    /// Waits until the mesh of `topic` has at least `count` peers.
    pub async fn wait_mesh(&mut self, topic: &str, count: usize) -> Result<(), PeerError> {
        self.wait_until(
            "mesh",
            Command::Mesh {
                topic: topic.to_owned(),
            },
            |found: &Peers| found.peers.len() >= count,
        )
        .await
    }

    /// Waits until the peer's counts of control messages satisfy `enough`.
    pub async fn wait_control(
        &mut self,
        enough: impl FnMut(&Control) -> bool,
    ) -> Result<(), PeerError> {
        self.wait_until("control", Command::Control, enough).await
    }

    /// Waits for the next message that the peer received.
    pub async fn next_message(&mut self) -> Result<Delivery, PeerError> {
        match timeout(DEADLINE, self.messages.recv()).await {
            Ok(Some(message)) => Ok(message),
            Ok(None) => Err(self.gone("message").await),
            Err(_) => Err(self.late("message")),
        }
    }

    /// Waits up to `patience` for the next message that the peer received.
    pub async fn message_within(
        &mut self,
        patience: Duration,
    ) -> Result<Option<Delivery>, PeerError> {
        match timeout(patience, self.messages.recv()).await {
            Ok(Some(message)) => Ok(Some(message)),
            Ok(None) => Err(self.gone("message").await),
            Err(_) => Ok(None),
        }
    }

    /// Returns the next message that has already arrived, if there is one.
    pub fn try_message(&mut self) -> Option<Delivery> {
        self.messages.try_recv().ok()
    }

    /// Asks the peer to exit and waits until it has.
    pub async fn quit(mut self) -> Result<(), PeerError> {
        self.tell("quit", Command::Quit).await?;
        match timeout(DEADLINE, self.child.wait()).await {
            Ok(Ok(status)) if status.success() => Ok(()),
            Ok(_) => Err(self.gone("quit").await),
            Err(_) => Err(self.late("quit")),
        }
    }

    /// Writes a command without waiting for its reply.
    pub async fn send(
        &mut self,
        name: &'static str,
        command: Command,
    ) -> Result<PendingReply, PeerError> {
        let reference = self.next_reference;
        self.next_reference += 1;
        let (sender, receiver) = oneshot::channel();
        // After the end of its output the peer cannot answer, and the sender is dropped here.
        if let Some(waiting) = self.shared.waiting.lock().as_mut() {
            waiting.insert(reference, sender);
        }
        let mut line = serde_json::to_vec(&Request { reference, command })
            .expect("a request has string keys only");
        line.push(b'\n');
        match timeout(DEADLINE, self.stdin.write_all(&line)).await {
            Ok(Ok(())) => Ok(PendingReply {
                command: name,
                receiver,
            }),
            Ok(Err(_)) => Err(self.gone(name).await),
            Err(_) => Err(self.late(name)),
        }
    }

    /// Waits for the reply to a command that was [sent](Self::send).
    pub async fn reply<T: DeserializeOwned>(
        &mut self,
        pending: PendingReply,
    ) -> Result<T, PeerError> {
        let PendingReply { command, receiver } = pending;
        let value = match timeout(DEADLINE, receiver).await {
            Ok(Ok(Outcome::Ok(value))) => value,
            Ok(Ok(Outcome::Error(reason))) => {
                return Err(PeerError::Refused {
                    peer: self.label.clone(),
                    command,
                    reason,
                });
            }
            Ok(Err(_)) => return Err(self.gone(command).await),
            Err(_) => return Err(self.late(command)),
        };
        serde_json::from_value(value.clone()).map_err(|_| PeerError::Protocol {
            peer: self.label.clone(),
            line: format!("reply to {command}: {value}"),
        })
    }

    async fn ask<T: DeserializeOwned>(
        &mut self,
        name: &'static str,
        command: Command,
    ) -> Result<T, PeerError> {
        let pending = self.send(name, command).await?;
        self.reply(pending).await
    }

    async fn tell(&mut self, name: &'static str, command: Command) -> Result<(), PeerError> {
        self.ask::<serde_json::Value>(name, command).await.map(drop)
    }

    async fn wait_until<T: DeserializeOwned>(
        &mut self,
        name: &'static str,
        command: Command,
        mut enough: impl FnMut(&T) -> bool,
    ) -> Result<(), PeerError> {
        let waited = timeout(DEADLINE, async {
            while !enough(&self.ask(name, command.clone()).await?) {
                tokio::time::sleep(POLL).await;
            }
            Ok(())
        })
        .await;
        waited.unwrap_or_else(|_| Err(self.late(name)))
    }

    fn late(&self, waiting_for: &'static str) -> PeerError {
        PeerError::Late {
            peer: self.label.clone(),
            waiting_for,
            deadline_s: DEADLINE.as_secs(),
            stderr: self.shared.stderr.text(),
        }
    }

    /// Returns the error for closed pipes: either the peer broke the protocol, or the process ended.
    async fn gone(&mut self, waiting_for: &'static str) -> PeerError {
        if let Some(line) = self.shared.broken_line.lock().take() {
            return PeerError::Protocol {
                peer: self.label.clone(),
                line,
            };
        }
        // The pipe can close shortly before the process ends.
        let status = match timeout(DEADLINE, self.child.wait()).await {
            Ok(Ok(status)) => status.to_string(),
            Ok(Err(error)) => error.to_string(),
            Err(_) => "still running".to_owned(),
        };
        self.shared.stderr.ended().await;
        PeerError::Gone {
            peer: self.label.clone(),
            waiting_for,
            status,
            stderr: self.shared.stderr.text(),
        }
    }
}
