//! WakuMessage, its hash, topics, sharding and network presets.
//!
//! Everything here is a pure function of its arguments: no clock, socket, thread or random source.
//! Bytes that come from a remote are decoded without copying and never panic; a [`DecodeError`]
//! names the field at fault and says through [`DecodeError::forwarder_may_be_honest`] whether the
//! peer that forwarded it deserves a penalty.
#![deny(clippy::disallowed_methods, clippy::disallowed_types)]

pub mod content_topic;
pub mod hash;
pub mod message;
pub mod metadata;
pub mod network;
pub mod pubsub_topic;
pub mod sharding;
mod wire;

pub use content_topic::{ContentTopic, ContentTopicError};
pub use hash::{MessageHash, message_hash};
pub use message::{DecodeError, MessageLimits, WakuMessage};
pub use metadata::{MetadataError, WakuMetadata};
pub use network::{ChainParams, NetworkPreset, RlnGeneration, RlnParams, UnknownNetwork};
pub use pubsub_topic::{PubsubTopic, PubsubTopicError, Shard};
pub use sharding::shard_of;
pub use wire::WireError;
