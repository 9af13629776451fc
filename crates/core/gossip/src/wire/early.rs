//! Computes the id of a message while its frame is being received.

use std::ops::Range;

use sha2::{Digest, Sha256};
use undertone_wire::{VarintError, read_varint};

use crate::types::MessageId;

/// Tag of `publish` in an RPC and of `data` in a message: both are length-delimited fields with number 2.
const FIELD_2_BYTES: u8 = 0x12;

/// Hashes the data of the message at the start of a frame while the frame is being received. A frame that
/// starts with anything else yields no id; its messages are hashed when it is decoded.
#[derive(Clone, Debug, Default)]
pub struct EarlyId(State);

#[derive(Clone, Debug, Default)]
enum State {
    /// Too few bytes were received to locate the data.
    #[default]
    Unknown,
    Hashing {
        data: Range<usize>,
        /// Offset in the frame up to which the data has been hashed.
        next: usize,
        sha: Sha256,
    },
    /// The frame does not start with a message whose first field is its data.
    Nothing,
}

impl EarlyId {
    /// Hashes the bytes received since the last call. `received` is the frame with its length prefix, from
    /// its first byte, and never shorter than before.
    pub fn advance(&mut self, received: &[u8]) {
        if matches!(self.0, State::Unknown) {
            self.0 = match data_range(received) {
                Ok(Some(data)) => State::Hashing {
                    next: data.start,
                    data,
                    sha: Sha256::new(),
                },
                Ok(None) | Err(VarintError::Overflow) => State::Nothing,
                Err(VarintError::Incomplete) => State::Unknown,
            };
        }
        if let State::Hashing { data, next, sha } = &mut self.0 {
            let end = received.len().min(data.end);
            if let Some(new) = received.get(*next..end) {
                sha.update(new);
                *next = end;
            }
        }
    }

    /// Returns the range of the data in the frame and the id, if the data has been hashed to its end.
    pub fn finish(self) -> Option<(Range<usize>, MessageId)> {
        match self.0 {
            State::Hashing { data, next, sha } if next == data.end => {
                Some((data, MessageId(sha.finalize().into())))
            }
            _ => None,
        }
    }
}

/// Locates the data in a frame whose first field is a message with the data as its first field.
fn data_range(frame: &[u8]) -> Result<Option<Range<usize>>, VarintError> {
    let (rpc_bytes, rpc) = read_varint(frame)?;
    let Some((message_bytes, message)) = field_2(frame, rpc)? else {
        return Ok(None);
    };
    let Some((data_bytes, data)) = field_2(frame, message)? else {
        return Ok(None);
    };
    // Each field must end within the one that contains it.
    let ends = |start: usize, len: u64| usize::try_from(len).ok()?.checked_add(start);
    let (Some(rpc_end), Some(message_end), Some(data_end)) = (
        ends(rpc, rpc_bytes),
        ends(message, message_bytes),
        ends(data, data_bytes),
    ) else {
        return Ok(None);
    };
    let nested = data_end <= message_end && message_end <= rpc_end;
    Ok(nested.then_some(data..data_end))
}

/// Length and start of the content of a field 2 at offset `at`; `None` if another field is there.
fn field_2(frame: &[u8], at: usize) -> Result<Option<(u64, usize)>, VarintError> {
    match frame.get(at) {
        None => Err(VarintError::Incomplete),
        Some(&FIELD_2_BYTES) => {
            let (len, bytes) = read_varint(&frame[at + 1..])?;
            Ok(Some((len, at + 1 + bytes)))
        }
        Some(_) => Ok(None),
    }
}
