//! How messages are named.

use std::fmt::Debug;

use bytes::Bytes;

use crate::types::MessageId;

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
