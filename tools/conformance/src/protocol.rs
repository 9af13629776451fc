//! Line protocol between a driver and a peer program: one JSON object per line, both ways.
//!
//! Every command carries a `ref` that the driver chose; the peer answers each with exactly one
//! [`Reply`] of the same `ref`. [`Event`]s come at any time. `tools/conformance/README.md` shows the lines.

use std::time::Duration;

use serde::{Deserialize, Serialize};

#[cfg(test)]
#[path = "tests/protocol.rs"]
mod tests;

/// Delay before a peer reports a received message: an immediate report would compete with the next peer,
/// which is about to receive the message. The line contains the latency at reception.
pub const REPORT_DELAY: Duration = Duration::from_millis(20);

/// Line from the driver to the peer.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Request {
    /// Reference chosen by the driver and repeated in the reply.
    #[serde(rename = "ref")]
    pub reference: u64,
    /// Command for the peer.
    #[serde(flatten)]
    pub command: Command,
}

/// Commands that a driver can give a peer.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "cmd", rename_all = "snake_case")]
pub enum Command {
    /// Dial a multiaddress that ends in `/p2p/<peer id>`. Answered with [`Connected`] once the
    /// connection is secured and multiplexed.
    Connect {
        /// Multiaddress of the peer to dial.
        addr: String,
    },
    /// Subscribe to a topic. A second subscription is not an error.
    Subscribe {
        /// Topic of the command.
        topic: String,
    },
    /// Unsubscribe from a topic.
    Unsubscribe {
        /// Topic of the command.
        topic: String,
    },
    /// Publish one message. Answered with [`Published`].
    Publish {
        /// Topic of the command.
        topic: String,
        /// Content of the message to publish.
        #[serde(flatten)]
        content: Content,
    },
    /// Return the peers known to be subscribed to a topic. Answered with [`Peers`].
    Peers {
        /// Topic of the command.
        topic: String,
    },
    /// Return the peers in the mesh of a topic. Answered with [`Peers`].
    Mesh {
        /// Topic of the command.
        topic: String,
    },
    /// Return the resources used by the peer's process. Answered with [`Stat`].
    Stat,
    /// Return the counts of control messages so far. Answered with [`Control`].
    Control,
    /// Exit with status 0 after answering. The end of standard input means the same, without an answer.
    Quit,
}

/// Content of a `publish` command.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(untagged)]
pub enum Content {
    /// Stamped payload (see [`crate::payload`]). A Waku peer wraps it in a valid `WakuMessage`.
    Stamped {
        /// Sequence number, below 2^53 because JavaScript numbers are exact only up to there.
        seq: u64,
        /// Length of the payload in bytes, at least [`crate::payload::STAMP_BYTES`].
        size: usize,
    },
    /// Data of the gossip message, sent unchanged. On a Waku peer it is a whole `WakuMessage`.
    Raw {
        /// Data in hex digits.
        hex: String,
    },
}

/// Line from the peer that answers a command.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Reply {
    /// Reference of the command, `ref` in JSON.
    #[serde(rename = "ref")]
    pub reference: u64,
    /// Result of the command.
    #[serde(flatten)]
    pub outcome: Outcome,
}

/// Result of a command.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Outcome {
    /// Success; the object depends on the command and may be empty.
    Ok(serde_json::Value),
    /// Refusal or failure, as readable text.
    Error(String),
}

/// Event at the peer, reported without a command.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "event", rename_all = "snake_case")]
pub enum Event {
    /// First line of every peer: the peer listens and accepts commands.
    Ready(Ready),
    /// New and valid message that arrived on a subscribed topic.
    Message(Delivery),
}

/// Identity and addresses of a peer that is ready.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Ready {
    /// Peer id of this peer in libp2p.
    pub peer: String,
    /// Multiaddresses on which the peer listens, each ending in `/p2p/<peer id>`.
    pub addrs: Vec<String>,
}

/// Message as its receiver reports it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Delivery {
    /// Topic on which the message arrived.
    pub topic: String,
    /// Message id in hex: SHA-256 of the gossip message's data.
    pub id: String,
    /// Peer id of the neighbour that delivered the message.
    pub from: String,
    /// Sequence number, if the payload is stamped.
    pub seq: Option<u64>,
    /// Time from stamping to delivery in nanoseconds, if the payload is stamped.
    pub latency_ns: Option<u64>,
    /// Length of the payload in bytes.
    pub bytes: usize,
    /// First [`crate::payload::HEAD_BYTES`] bytes of the payload in hex.
    pub head: String,
}

/// Answer to the command [`Command::Connect`].
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Connected {
    /// Peer id of the other side.
    pub peer: String,
}

/// Answer to the command [`Command::Publish`].
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Published {
    /// Id of the published message in hex.
    pub id: String,
}

/// Answer to [`Command::Peers`] and [`Command::Mesh`].
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Peers {
    /// Peer ids in arbitrary order.
    pub peers: Vec<String>,
}

/// Answer to the command [`Command::Stat`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Stat {
    /// User and system time of the process so far, in microseconds.
    pub cpu_us: u64,
    /// Resident memory in KiB.
    pub rss_kib: u64,
}

/// Answer to the command [`Command::Control`].
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Control {
    /// Messages and control entries that the peer sent.
    pub sent: ControlCounts,
    /// Messages and control entries that the peer received.
    pub received: ControlCounts,
}

/// Numbers of messages and control entries on the wire in one direction, over all peers. An entry is one element of
/// a repeated field of `ControlMessage`, regardless of the number of message ids that it lists;
/// Undertone counts the ids in `ihave`, `iwant` and `idontwant` instead.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct ControlCounts {
    /// Number of copies of messages.
    pub messages: u64,
    /// Number of neighbours to or from which a message went; `None` for Undertone, which does not report it.
    pub links: Option<u64>,
    /// Number of GRAFT entries.
    pub graft: u64,
    /// Number of PRUNE entries.
    pub prune: u64,
    /// Number of PRUNE entries with a backoff.
    pub prune_with_backoff: u64,
    /// Backoff in seconds of the last PRUNE that had one; `None` for Undertone, which does not report it.
    pub prune_backoff_s: Option<u64>,
    /// Number of IHAVE entries (ids for Undertone).
    pub ihave: u64,
    /// Number of IWANT entries (ids for Undertone).
    pub iwant: u64,
    /// Number of IDONTWANT entries (ids for Undertone).
    pub idontwant: u64,
}
