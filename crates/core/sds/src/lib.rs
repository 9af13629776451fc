#![doc = include_str!("../README.md")]
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
