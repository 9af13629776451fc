//! The line protocol between a driver and a peer program: one JSON object per line, both ways.
//!
//! Every command carries a `ref` that the driver chose; the peer answers each with exactly one
//! [`Reply`] of the same `ref`. [`Event`]s come at any time. `interop/README.md` shows the lines.

use std::time::Duration;

use serde::{Deserialize, Serialize};

#[cfg(test)]
mod tests;

/// How long a peer waits before it tells what it received: telling it at once would be in the way of
/// the next peer, which is about to receive it. When it was received is in the line.
pub const REPORT_DELAY: Duration = Duration::from_millis(20);

/// A line from the driver to the peer.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Request {
    /// Chosen by the driver, repeated in the reply.
    #[serde(rename = "ref")]
    pub reference: u64,
    /// What to do.
    #[serde(flatten)]
    pub command: Command,
}

/// What a driver can ask of a peer.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "cmd", rename_all = "snake_case")]
pub enum Command {
    /// Dial a multiaddress that ends in `/p2p/<peer id>`. Answered with [`Connected`] once the
    /// connection is secured and multiplexed.
    Connect {
        /// The multiaddress.
        addr: String,
    },
    /// Subscribe to a topic. Subscribing twice is no error.
    Subscribe {
        /// The topic.
        topic: String,
    },
    /// Unsubscribe from a topic.
    Unsubscribe {
        /// The topic.
        topic: String,
    },
    /// Publish one message. Answered with [`Published`].
    Publish {
        /// The topic.
        topic: String,
        /// What to publish.
        #[serde(flatten)]
        content: Content,
    },
    /// The peers known to be subscribed to a topic. Answered with [`Peers`].
    Peers {
        /// The topic.
        topic: String,
    },
    /// The peers in the mesh of a topic. Answered with [`Peers`].
    Mesh {
        /// The topic.
        topic: String,
    },
    /// Resources used by the peer's process. Answered with [`Stat`].
    Stat,
    /// Control messages so far. Answered with [`Control`].
    Control,
    /// Answer, then exit with status 0. The end of standard input means the same, without an answer.
    Quit,
}

/// What a `publish` command publishes.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(untagged)]
pub enum Content {
    /// A stamped payload (see [`crate::payload`]). A Waku peer wraps it in a valid `WakuMessage`.
    Stamped {
        /// Sequence number, below 2^53 for the sake of JavaScript.
        seq: u64,
        /// Length of the payload in bytes, at least [`crate::payload::STAMP_BYTES`].
        size: usize,
    },
    /// The gossip message's data, as it is. On a Waku peer that is a whole `WakuMessage`.
    Raw {
        /// Hex digits.
        hex: String,
    },
}

/// A line from the peer that answers a command.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Reply {
    /// The command's `ref`.
    #[serde(rename = "ref")]
    pub reference: u64,
    /// What came of it.
    #[serde(flatten)]
    pub outcome: Outcome,
}

/// What came of a command.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Outcome {
    /// Done; the object depends on the command and may be empty.
    Ok(serde_json::Value),
    /// Refused or failed, in words for a person.
    Error(String),
}

/// Something that happened at the peer.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "event", rename_all = "snake_case")]
pub enum Event {
    /// The first line of every peer: it listens and takes commands.
    Ready(Ready),
    /// A message arrived on a subscribed topic, seen for the first time and valid.
    Message(Delivery),
}

/// Where a peer can be reached.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Ready {
    /// Its libp2p peer id.
    pub peer: String,
    /// The multiaddresses it listens on, each ending in `/p2p/<peer id>`.
    pub addrs: Vec<String>,
}

/// A message as the receiver saw it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Delivery {
    /// Topic it came on.
    pub topic: String,
    /// Message id in hex: SHA-256 of the gossip message's data.
    pub id: String,
    /// Peer id of the neighbour that delivered it.
    pub from: String,
    /// Sequence number, if the payload is stamped.
    pub seq: Option<u64>,
    /// Time from stamping to delivery in nanoseconds, if the payload is stamped.
    pub latency_ns: Option<u64>,
    /// Length of the payload in bytes.
    pub bytes: usize,
    /// The first [`crate::payload::HEAD_BYTES`] of the payload in hex.
    pub head: String,
}

/// Answer to [`Command::Connect`].
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Connected {
    /// Peer id of the other side.
    pub peer: String,
}

/// Answer to [`Command::Publish`].
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Published {
    /// Message id in hex.
    pub id: String,
}

/// Answer to [`Command::Peers`] and [`Command::Mesh`].
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Peers {
    /// Peer ids, in no order.
    pub peers: Vec<String>,
}

/// Answer to [`Command::Stat`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Stat {
    /// User and system time of the process so far, in microseconds.
    pub cpu_us: u64,
    /// Resident memory in KiB.
    pub rss_kib: u64,
}

/// Answer to [`Command::Control`].
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Control {
    /// What the peer sent.
    pub sent: ControlCounts,
    /// What the peer received.
    pub received: ControlCounts,
}

/// How many control entries crossed the wire in one direction, over all peers. An entry is one
/// element of a repeated field of `ControlMessage`, whatever number of message ids it lists; Undertone
/// counts the ids in `ihave`, `iwant` and `idontwant` instead.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct ControlCounts {
    /// GRAFT entries.
    pub graft: u64,
    /// PRUNE entries.
    pub prune: u64,
    /// PRUNE entries that carry a backoff.
    pub prune_with_backoff: u64,
    /// Backoff in seconds of the last PRUNE that carried one; Undertone does not say.
    pub prune_backoff_s: Option<u64>,
    /// IHAVE entries.
    pub ihave: u64,
    /// IWANT entries.
    pub iwant: u64,
    /// IDONTWANT entries.
    pub idontwant: u64,
}
