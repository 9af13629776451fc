//! How messages are named, and on which topics they belong.

use std::fmt::Debug;

use bytes::Bytes;

use crate::types::{MessageId, Topic};

/// Computes [`MessageId`]s. Every implementation must return what [`MessageId::of`] returns: a
/// simulation, in which a thousand nodes share the memory of one message, need not hash it a
/// thousand times.
pub trait MessageIds: Debug + Send {
    /// The id of a message that carries `data`.
    fn id_of(&mut self, data: &Bytes) -> MessageId;
}

/// Hashes every time.
#[derive(Debug)]
pub(crate) struct Hashed;

impl MessageIds for Hashed {
    fn id_of(&mut self, data: &Bytes) -> MessageId {
        MessageId::of(data)
    }
}

/// Says which messages belong on which topics. It is asked before the id of a message is marked as
/// seen: an id does not name the topic, so whoever sends a message on another topic first would
/// otherwise keep it from being heard where it belongs.
pub trait Placement: Debug + Send {
    /// Whether a message that carries `data` may be heard on `topic`. One that may not is dropped and
    /// changes nothing.
    fn belongs(&mut self, topic: &Topic, data: &Bytes) -> bool;
}

/// Every message belongs wherever it comes.
#[derive(Debug)]
pub(crate) struct Anywhere;

impl Placement for Anywhere {
    fn belongs(&mut self, _: &Topic, _: &Bytes) -> bool {
        true
    }
}
