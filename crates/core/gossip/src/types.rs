//! Basic types: peer index, message id, topic, send handle.

use std::fmt;

use bytes::Bytes;
use sha2::{Digest, Sha256};

/// Small dense integer that stands for a peer. The driver assigns indices and maps them to real identities;
/// an index stays bound to its identity until the router emits [`crate::Output::Forgotten`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct PeerIx(pub u32);

impl PeerIx {
    pub(crate) fn slot(self) -> usize {
        self.0 as usize
    }
}

/// Side that opened the connection.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Direction {
    /// The peer dialled this node.
    Inbound,
    /// This node dialled the peer. Only these connections count towards the outbound quota, because an
    /// attacker cannot make a node dial.
    Outbound,
}

/// Number of a request, chosen by the driver and repeated in the answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct RequestId(pub u64);

/// Identity of a message: the SHA-256 of its data, as Waku defines it.
///
/// On the wire ids are opaque bytes. An id of another length cannot identify one of our messages, so the
/// decoder skips it.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct MessageId(pub [u8; 32]);

impl MessageId {
    /// Length of an id on the wire, bytes.
    pub const LEN: usize = 32;

    /// Returns the id of a message that carries `data`.
    pub fn of(data: &[u8]) -> Self {
        Self(Sha256::digest(data).into())
    }
}

impl fmt::Debug for MessageId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for byte in &self.0[..4] {
            write!(f, "{byte:02x}")?;
        }
        f.write_str("..")
    }
}

/// A pubsub topic: UTF-8 text, cheap to clone.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Topic(Bytes);

impl Topic {
    /// Creates a topic with this name.
    pub fn new(name: &str) -> Self {
        Self(Bytes::copy_from_slice(name.as_bytes()))
    }

    /// Returns the topic named by `bytes`, or `None` when they are not UTF-8.
    pub fn from_utf8(bytes: Bytes) -> Option<Self> {
        std::str::from_utf8(&bytes).ok()?;
        Some(Self(bytes))
    }

    /// Returns the name of the topic.
    pub fn as_str(&self) -> &str {
        std::str::from_utf8(&self.0).expect("both constructors admit UTF-8 only")
    }

    pub(crate) fn as_bytes(&self) -> &[u8] {
        &self.0
    }

    /// Returns the topic with its name in separate memory, so that keeping it does not keep a whole frame.
    pub(crate) fn detached(&self) -> Self {
        Self(Bytes::copy_from_slice(&self.0))
    }
}

impl fmt::Debug for Topic {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

impl fmt::Display for Topic {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

impl From<&str> for Topic {
    fn from(name: &str) -> Self {
        Self::new(name)
    }
}

/// Handle of a frame passed to the driver, by which it can be cancelled while it waits.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct SendHandle(pub u64);
