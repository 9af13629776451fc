//! Scalable data sync (SDS): causal order, acknowledgement and repair between the members of a channel.
//!
//! Every member broadcasts its messages with a Lamport timestamp, the ids of a few messages that it has seen before,
//! and a Bloom filter of all that it has. The others deliver a message after the messages it names, learn from the ids
//! and the filter which of their own messages arrived, and ask the group for what is missing (LIP 109, with the
//! extension SDS-Repair).
//!
//! [`Channel`] is the machine of one member; [`SdsMessage`] is the message on the wire and [`BloomFilter`] its filter.
//! The wire format is that of the specification as of 21 August 2026 and of js-waku (`@waku/sds` 0.0.8). The
//! specification leaves open how the Bloom filter is encoded and how SDS-Repair hashes; both are as in js-waku. nim-sds
//! of June 2026 numbers the fields of the message otherwise and does not understand this one.
#![deny(clippy::disallowed_methods, clippy::disallowed_types)]

mod bloom;
mod channel;
mod config;
mod incoming;
mod log;
mod message;
mod missing;
mod outgoing;
mod repair;
mod state;

pub use bloom::{
    BLOOM_BITS, BLOOM_BYTES, BLOOM_CAPACITY, BLOOM_HASHES, BloomError, BloomFilter, BloomView,
};
pub use channel::{Channel, Input, Output, PublishReason, SdsRefusal, SdsSendError, StateError};
pub use config::{IdRule, SdsConfig, SdsLimits};
pub use message::{CausalHistoryEntry, MessageError, MessageKind, SdsMessage};
pub use repair::{RepairTiming, request_delay_ms, responds_to, response_delay_ms};

/// Identifier of a message, a member or a channel: text whose form the application chooses.
pub type Id = std::sync::Arc<str>;
