//! Computation of message ids, and the topics on which messages belong.

use std::fmt::Debug;

use bytes::Bytes;

use crate::types::{MessageId, Topic};

/// Computes [`MessageId`]s. Every implementation must return what [`MessageId::of`] returns. The trait exists
/// for simulations: a thousand nodes that share one message in memory need not hash it a thousand times.
pub trait MessageIds: Debug + Send {
    /// Returns the id of a message that carries `data`.
    fn id_of(&mut self, data: &Bytes) -> MessageId;
}

/// Hashes the data at every call.
#[derive(Debug)]
pub(crate) struct Hashed;

impl MessageIds for Hashed {
    fn id_of(&mut self, data: &Bytes) -> MessageId {
        MessageId::of(data)
    }
}

/// Decides which messages belong on which topics. The router asks before it marks a message id as seen. An id
/// does not cover the topic, so otherwise a peer could send a message on the wrong topic first to keep it
/// from being accepted on the right one.
pub trait Placement: Debug + Send {
    /// Whether a message that carries `data` may be accepted on `topic`. If not, the message is dropped and
    /// leaves no trace in the router's state.
    fn belongs(&mut self, topic: &Topic, data: &Bytes) -> bool;
}

/// Accepts every message on every topic.
#[derive(Debug)]
pub(crate) struct Anywhere;

impl Placement for Anywhere {
    fn belongs(&mut self, _: &Topic, _: &Bytes) -> bool {
        true
    }
}
