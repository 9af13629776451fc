#![doc = include_str!("../README.md")]
//!
//! # Where to start
//!
//! [`WakuMessage`] with [`MessageLimits`] and [`DecodeError`], [`shard_of`], [`NetworkPreset`].
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
