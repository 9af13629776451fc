//! State of a channel kept across restarts, in an encoding of our own: a version byte, then protobuf.

use std::collections::BTreeSet;
use std::sync::Arc;

use thiserror::Error;
use undertone_wire::{FieldError, FieldReader, FieldValue, put_bytes_field, put_varint_field};

use super::Id;

const VERSION: u8 = 1;

const CHANNEL_ID: u32 = 1;
const PARTICIPANT_ID: u32 = 2;
const LAMPORT: u32 = 3;
const LOG: u32 = 4;
const OUTGOING: u32 = 5;
const PENDING: u32 = 6;

const LOG_ID: u32 = 1;
const LOG_LAMPORT: u32 = 2;
const LOG_SENDER: u32 = 3;
const LOG_HINT: u32 = 4;
const LOG_IS_HEAD: u32 = 5;
const LOG_FRAME: u32 = 6;

const OUTGOING_ID: u32 = 1;
const OUTGOING_FRAME: u32 = 2;
const OUTGOING_RESENDS: u32 = 3;
const OUTGOING_SEEN_BY: u32 = 4;

const PENDING_FRAME: u32 = 1;
const PENDING_HINT: u32 = 2;

/// Error of restoring a channel from its kept state.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum StateError {
    /// There is no state.
    #[error("the kept state is empty")]
    Empty,
    /// The state was written by a version of this program that this one does not understand.
    #[error("the kept state has version {version}; {VERSION} is understood")]
    Version {
        /// Version of the state.
        version: u8,
    },
    /// The state is damaged.
    #[error("the kept state is damaged: {0}")]
    Wire(#[from] FieldError),
    /// An id in the state is not UTF-8.
    #[error("the kept state is damaged: an id is not UTF-8")]
    NotUtf8,
    /// The state belongs to another channel or member.
    #[error("the kept state is of channel {channel_id:?} and member {participant_id:?}")]
    OfOther {
        /// Channel of the state.
        channel_id: Id,
        /// Member of the state.
        participant_id: Id,
    },
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct ChannelState {
    pub(super) channel_id: Id,
    pub(super) participant_id: Id,
    pub(super) lamport: u64,
    /// Log entries in the order of arrival.
    pub(super) log: Vec<KeptEntry>,
    pub(super) outgoing: Vec<KeptOutgoing>,
    pub(super) pending: Vec<KeptPending>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct KeptEntry {
    pub(super) id: Id,
    pub(super) lamport: u64,
    pub(super) sender: Id,
    pub(super) hint: Option<Vec<u8>>,
    pub(super) is_head: bool,
    /// The message, if it is the local member's own and acknowledged.
    pub(super) frame: Option<Arc<[u8]>>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct KeptOutgoing {
    pub(super) id: Id,
    pub(super) frame: Arc<[u8]>,
    pub(super) resends: u32,
    pub(super) seen_by: BTreeSet<Id>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct KeptPending {
    pub(super) frame: Arc<[u8]>,
    pub(super) hint: Option<Vec<u8>>,
}

impl ChannelState {
    pub(super) fn encode(&self) -> Vec<u8> {
        let mut out = vec![VERSION];
        put_bytes_field(&mut out, CHANNEL_ID, self.channel_id.as_bytes());
        put_bytes_field(&mut out, PARTICIPANT_ID, self.participant_id.as_bytes());
        put_varint_field(&mut out, LAMPORT, self.lamport);
        for entry in &self.log {
            put_bytes_field(&mut out, LOG, &entry.encode());
        }
        for message in &self.outgoing {
            put_bytes_field(&mut out, OUTGOING, &message.encode());
        }
        for message in &self.pending {
            put_bytes_field(&mut out, PENDING, &message.encode());
        }
        out
    }

    pub(super) fn decode(input: &[u8]) -> Result<Self, StateError> {
        let (&version, input) = input.split_first().ok_or(StateError::Empty)?;
        if version != VERSION {
            return Err(StateError::Version { version });
        }
        let mut state = Self {
            channel_id: Id::from(""),
            participant_id: Id::from(""),
            lamport: 0,
            log: Vec::new(),
            outgoing: Vec::new(),
            pending: Vec::new(),
        };
        let mut fields = FieldReader::new(input);
        while let Some(field) = fields.field()? {
            match field {
                (CHANNEL_ID, FieldValue::Bytes(bytes)) => state.channel_id = id(bytes)?,
                (PARTICIPANT_ID, FieldValue::Bytes(bytes)) => state.participant_id = id(bytes)?,
                (LAMPORT, FieldValue::Varint(value)) => state.lamport = value,
                (LOG, FieldValue::Bytes(bytes)) => state.log.push(KeptEntry::decode(bytes)?),
                (OUTGOING, FieldValue::Bytes(bytes)) => {
                    state.outgoing.push(KeptOutgoing::decode(bytes)?);
                }
                (PENDING, FieldValue::Bytes(bytes)) => {
                    state.pending.push(KeptPending::decode(bytes)?);
                }
                _ => {}
            }
        }
        Ok(state)
    }
}

impl KeptEntry {
    fn encode(&self) -> Vec<u8> {
        let mut out = Vec::new();
        put_bytes_field(&mut out, LOG_ID, self.id.as_bytes());
        put_varint_field(&mut out, LOG_LAMPORT, self.lamport);
        put_bytes_field(&mut out, LOG_SENDER, self.sender.as_bytes());
        if let Some(hint) = &self.hint {
            put_bytes_field(&mut out, LOG_HINT, hint);
        }
        put_varint_field(&mut out, LOG_IS_HEAD, u64::from(self.is_head));
        if let Some(frame) = &self.frame {
            put_bytes_field(&mut out, LOG_FRAME, frame);
        }
        out
    }

    fn decode(input: &[u8]) -> Result<Self, StateError> {
        let mut entry = Self {
            id: Id::from(""),
            lamport: 0,
            sender: Id::from(""),
            hint: None,
            is_head: false,
            frame: None,
        };
        let mut fields = FieldReader::new(input);
        while let Some(field) = fields.field()? {
            match field {
                (LOG_ID, FieldValue::Bytes(bytes)) => entry.id = id(bytes)?,
                (LOG_LAMPORT, FieldValue::Varint(value)) => entry.lamport = value,
                (LOG_SENDER, FieldValue::Bytes(bytes)) => entry.sender = id(bytes)?,
                (LOG_HINT, FieldValue::Bytes(bytes)) => entry.hint = Some(bytes.to_vec()),
                (LOG_IS_HEAD, FieldValue::Varint(value)) => entry.is_head = value != 0,
                (LOG_FRAME, FieldValue::Bytes(bytes)) => entry.frame = Some(Arc::from(bytes)),
                _ => {}
            }
        }
        Ok(entry)
    }
}

impl KeptOutgoing {
    fn encode(&self) -> Vec<u8> {
        let mut out = Vec::new();
        put_bytes_field(&mut out, OUTGOING_ID, self.id.as_bytes());
        put_bytes_field(&mut out, OUTGOING_FRAME, &self.frame);
        put_varint_field(&mut out, OUTGOING_RESENDS, u64::from(self.resends));
        for sender in &self.seen_by {
            put_bytes_field(&mut out, OUTGOING_SEEN_BY, sender.as_bytes());
        }
        out
    }

    fn decode(input: &[u8]) -> Result<Self, StateError> {
        let mut message = Self {
            id: Id::from(""),
            frame: Arc::from([]),
            resends: 0,
            seen_by: BTreeSet::new(),
        };
        let mut fields = FieldReader::new(input);
        while let Some(field) = fields.field()? {
            match field {
                (OUTGOING_ID, FieldValue::Bytes(bytes)) => message.id = id(bytes)?,
                (OUTGOING_FRAME, FieldValue::Bytes(bytes)) => message.frame = Arc::from(bytes),
                (OUTGOING_RESENDS, FieldValue::Varint(value)) => {
                    message.resends = u32::try_from(value).unwrap_or(u32::MAX);
                }
                (OUTGOING_SEEN_BY, FieldValue::Bytes(bytes)) => {
                    message.seen_by.insert(id(bytes)?);
                }
                _ => {}
            }
        }
        Ok(message)
    }
}

impl KeptPending {
    fn encode(&self) -> Vec<u8> {
        let mut out = Vec::new();
        put_bytes_field(&mut out, PENDING_FRAME, &self.frame);
        if let Some(hint) = &self.hint {
            put_bytes_field(&mut out, PENDING_HINT, hint);
        }
        out
    }

    fn decode(input: &[u8]) -> Result<Self, StateError> {
        let mut message = Self {
            frame: Arc::from([]),
            hint: None,
        };
        let mut fields = FieldReader::new(input);
        while let Some(field) = fields.field()? {
            match field {
                (PENDING_FRAME, FieldValue::Bytes(bytes)) => message.frame = Arc::from(bytes),
                (PENDING_HINT, FieldValue::Bytes(bytes)) => message.hint = Some(bytes.to_vec()),
                _ => {}
            }
        }
        Ok(message)
    }
}

fn id(bytes: &[u8]) -> Result<Id, StateError> {
    let text = std::str::from_utf8(bytes).map_err(|_| StateError::NotUtf8)?;
    Ok(Id::from(text))
}
