//! The id of a message whose frame is still coming in: a long one is hashed while it is waited for.

use std::ops::Range;

use sha2::{Digest, Sha256};

use super::varint::{VarintError, read_varint};
use crate::types::MessageId;

/// `publish` in an RPC and `data` in a message: field 2 with a length, both.
const FIELD_2_BYTES: u8 = 0x12;

/// Hashes the data of the message that a frame begins with, as far as the frame has come. Of a frame that
/// begins with anything else it makes nothing: whoever decodes it will hash.
#[derive(Clone, Debug, Default)]
pub struct EarlyId(State);

#[derive(Clone, Debug, Default)]
enum State {
    /// Too little has come to know where the data is.
    #[default]
    Unknown,
    Hashing {
        data: Range<usize>,
        /// Everything before it has been hashed.
        next: usize,
        sha: Sha256,
    },
    /// There is no data where it was looked for.
    Nothing,
}

impl EarlyId {
    /// Hashes what has come since the last call. `received` is the frame with its length prefix, from
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

    /// Where in the frame the data is, and its id, if it has been hashed to its end.
    pub fn finish(self) -> Option<(Range<usize>, MessageId)> {
        match self.0 {
            State::Hashing { data, next, sha } if next == data.end => {
                Some((data, MessageId(sha.finalize().into())))
            }
            _ => None,
        }
    }
}

/// Where the data is in a frame whose first field is a message, of which it is the first field.
fn data_range(frame: &[u8]) -> Result<Option<Range<usize>>, VarintError> {
    let (rpc_bytes, rpc) = read_varint(frame)?;
    let Some((message_bytes, message)) = field_2(frame, rpc)? else {
        return Ok(None);
    };
    let Some((data_bytes, data)) = field_2(frame, message)? else {
        return Ok(None);
    };
    // Each must end where what it is part of ends, or before.
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

/// The length of a field 2 that begins at `at`, and where its content does; `None` if another does.
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
