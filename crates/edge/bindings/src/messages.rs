//! Messages as programs in other languages send and receive them.

use std::fmt::Write as _;

use serde::{Deserialize, Serialize};
use undertone_message::{MessageHash, WakuMessage, message_hash};
use undertone_node::handle::Delivery;

use crate::base64_text;
use crate::error::NodeError;

/// Bytes of a message hash.
const HASH_BYTES: usize = 32;

/// Message to be published.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize, uniffi::Record)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct OutgoingMessage {
    /// Subject of the message, such as `/my-app/1/chat/proto`.
    pub content_topic: String,
    /// Bytes of the application.
    #[serde(deserialize_with = "base64_text::deserialize")]
    pub payload: Vec<u8>,
    /// Topic to publish on; without it, the one that carries the content topic by automatic sharding.
    #[uniffi(default = None)]
    pub pubsub_topic: Option<String>,
    /// Time of the message's creation, Unix time in nanoseconds; without it, now.
    #[uniffi(default = None)]
    #[serde(default, rename = "timestamp")]
    pub timestamp_ns: Option<i64>,
    /// Further bytes of the application that take part in the hash, at most 64.
    #[uniffi(default = None)]
    #[serde(default, deserialize_with = "base64_text::deserialize_optional")]
    pub meta: Option<Vec<u8>>,
    /// Encryption scheme of the payload (RFC 26); without it, none that the network knows of.
    #[uniffi(default = None)]
    pub version: Option<u32>,
    /// Whether stores are asked not to keep the message.
    #[uniffi(default = false)]
    #[serde(default)]
    pub ephemeral: bool,
}

/// Message that was published.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, uniffi::Record)]
#[serde(rename_all = "camelCase")]
pub struct MessageReceipt {
    /// Deterministic hash of topic and message (RFC 14), `0x` and 64 hexadecimal digits.
    pub hash: String,
    /// Topic that the message was published on.
    pub pubsub_topic: String,
    /// Timestamp that the message was published with, Unix time in nanoseconds.
    #[serde(rename = "timestamp")]
    pub timestamp_ns: i64,
    /// Number of peers that the message was sent to, by this node or by the peer that it was pushed to.
    pub peers: u64,
}

/// Message that arrived or was found in a store.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, uniffi::Record)]
#[serde(rename_all = "camelCase")]
pub struct IncomingMessage {
    /// Deterministic hash of topic and message (RFC 14), `0x` and 64 hexadecimal digits.
    pub hash: String,
    /// Topic that the message was published on.
    pub pubsub_topic: String,
    /// Subject of the message.
    pub content_topic: String,
    /// Bytes of the application.
    #[serde(serialize_with = "base64_text::serialize")]
    pub payload: Vec<u8>,
    /// Time of the message's creation, Unix time in nanoseconds, if it has one.
    #[serde(rename = "timestamp")]
    pub timestamp_ns: Option<i64>,
    /// Further bytes of the application.
    #[serde(serialize_with = "base64_text::serialize_optional")]
    pub meta: Option<Vec<u8>>,
    /// Encryption scheme of the payload (RFC 26), if the message names one.
    pub version: Option<u32>,
    /// Whether stores are asked not to keep the message.
    pub ephemeral: bool,
    /// Proof that the sender kept to its rate limit (RFC 17), as it was sent.
    #[serde(rename = "proof", serialize_with = "base64_text::serialize_optional")]
    pub rate_limit_proof: Option<Vec<u8>>,
    /// Peer id of the first peer that sent the message; absent for a message of this node or of a store.
    pub sender_peer: Option<String>,
}

impl OutgoingMessage {
    /// Returns the topic that was asked for, and the message.
    pub(crate) fn split(self) -> (Option<String>, WakuMessage) {
        let message = WakuMessage {
            version: self.version,
            timestamp: self.timestamp_ns,
            meta: self.meta.map(Into::into),
            ephemeral: self.ephemeral.then_some(true),
            ..WakuMessage::new(self.payload, self.content_topic)
        };
        (self.pubsub_topic, message)
    }
}

impl MessageReceipt {
    pub(crate) fn new(pubsub_topic: String, message: &WakuMessage, peers: u64) -> Self {
        Self {
            hash: hash_text(&message_hash(&pubsub_topic, message)),
            pubsub_topic,
            timestamp_ns: message.timestamp_ns(),
            peers,
        }
    }
}

impl IncomingMessage {
    pub(crate) fn new(pubsub_topic: String, message: &WakuMessage) -> Self {
        Self {
            hash: hash_text(&message_hash(&pubsub_topic, message)),
            pubsub_topic,
            content_topic: message.content_topic.to_string(),
            payload: message.payload.to_vec(),
            timestamp_ns: message.timestamp,
            meta: message.meta.as_ref().map(|meta| meta.to_vec()),
            version: message.version,
            ephemeral: message.is_ephemeral(),
            rate_limit_proof: message
                .rate_limit_proof
                .as_ref()
                .map(|proof| proof.to_vec()),
            sender_peer: None,
        }
    }
}

impl From<&Delivery> for IncomingMessage {
    fn from(delivery: &Delivery) -> Self {
        Self {
            sender_peer: delivery.from.map(|peer| peer.to_string()),
            ..Self::new(delivery.pubsub_topic.to_string(), &delivery.message)
        }
    }
}

/// Writes a hash as `0x` and hexadecimal digits.
pub(crate) fn hash_text(hash: &MessageHash) -> String {
    let mut text = "0x".to_owned();
    for byte in hash.0 {
        // Writing to a string cannot fail.
        let _ = write!(text, "{byte:02x}");
    }
    text
}

/// Reads a hash as [`hash_text`] writes it; the prefix may be absent.
pub(crate) fn read_hash(argument: &str, text: &str) -> Result<MessageHash, NodeError> {
    let bad = || {
        let expected = format!("{text:?} is no hash: 0x and 64 hexadecimal digits");
        NodeError::argument(argument, expected)
    };
    let digits = text.strip_prefix("0x").unwrap_or(text);
    if digits.len() != 2 * HASH_BYTES || !digits.bytes().all(|digit| digit.is_ascii_hexdigit()) {
        return Err(bad());
    }
    let mut hash = [0; HASH_BYTES];
    for (at, byte) in hash.iter_mut().enumerate() {
        let pair = &digits[2 * at..2 * at + 2];
        *byte = u8::from_str_radix(pair, 16).map_err(|_| bad())?;
    }
    Ok(MessageHash(hash))
}
