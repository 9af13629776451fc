//! The room: a content topic, and the key of its messages if there is one.

use rand_core::CryptoRng;
use undertone_message::{PubsubTopic, WakuMessage};
use undertone_payload::{OpenError, PayloadLimits, PublicKey, SealError, SymmetricKey, VERSION};

use crate::body::{Body, BodyError};

#[cfg(test)]
#[path = "tests/room.rs"]
mod tests;

const NS_PER_S: u64 = 1_000_000_000;

/// Room of one chat.
pub struct ChatRoom {
    /// Content topic of the messages.
    pub content_topic: String,
    /// Shard that carries the messages.
    pub pubsub_topic: PubsubTopic,
    /// Key that the members share; `None` for clear text.
    pub key: Option<SymmetricKey>,
}

/// A readable message of the room.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Read {
    /// Name chosen by the sender; any bytes.
    pub(crate) nick: Vec<u8>,
    /// Text; any bytes.
    pub(crate) text: Vec<u8>,
    /// Time of sending as stated by the sender, Unix nanoseconds; `None` if not stated.
    pub(crate) sent_ns: Option<u64>,
    /// Whether the message came encrypted.
    pub(crate) is_encrypted: bool,
    /// Key that the sender signed with; only encrypted messages have signatures.
    pub(crate) signed_by: Option<PublicKey>,
}

/// Reason why a message of the room cannot be read.
#[derive(Debug, PartialEq, Eq, thiserror::Error)]
pub(crate) enum UnreadableMessage {
    /// The message is encrypted, and this chat has no key.
    #[error("it is encrypted, and this chat has no key (--key, --passphrase-file)")]
    NoKey,
    /// The message cannot be decrypted with the room's key.
    #[error("{0}")]
    Sealed(#[from] OpenError),
    /// The message uses an unknown encryption.
    #[error("encryption of version {version} is not known")]
    Version {
        /// Version stated in the message.
        version: u32,
    },
    /// The content is not a chat message.
    #[error("it is no chat message: {0}")]
    Body(#[from] BodyError),
}

impl ChatRoom {
    /// Whether a message on this topic belongs to the room.
    pub(crate) fn carries(&self, pubsub_topic: &PubsubTopic, message: &WakuMessage) -> bool {
        *pubsub_topic == self.pubsub_topic && *message.content_topic == *self.content_topic
    }

    /// Makes the message for a text.
    pub(crate) fn write(
        &self,
        nick: &str,
        text: &str,
        now_ns: u64,
        rng: &mut impl CryptoRng,
    ) -> Result<WakuMessage, SealError> {
        let body = Body {
            timestamp: now_ns / NS_PER_S,
            nick: nick.as_bytes(),
            payload: text.as_bytes(),
        };
        let body = body.encode();
        let (payload, version) = match &self.key {
            Some(key) => (key.seal(&body, None, rng)?, Some(VERSION)),
            None => (body, None),
        };
        let mut message = WakuMessage::new(payload, self.content_topic.as_str());
        message.version = version;
        message.timestamp = i64::try_from(now_ns).ok();
        Ok(message)
    }

    /// Reads a message of the room. In an encrypted room, clear text is read as well, and marked as such.
    pub(crate) fn read(&self, message: &WakuMessage) -> Result<Read, UnreadableMessage> {
        let (body, signed_by) = match (message.version.unwrap_or(0), &self.key) {
            (0, _) => (message.payload.to_vec(), None),
            (VERSION, None) => return Err(UnreadableMessage::NoKey),
            (VERSION, Some(key)) => {
                let opened = key.open(&message.payload, &PayloadLimits::default())?;
                (opened.payload, opened.signed_by)
            }
            (version, _) => return Err(UnreadableMessage::Version { version }),
        };
        let body = Body::decode(&body)?;
        let stamp_ns = u64::try_from(message.timestamp_ns()).ok();
        Ok(Read {
            nick: body.nick.to_vec(),
            text: body.payload.to_vec(),
            sent_ns: stamp_ns.filter(|ns| *ns > 0).or(sent_ns(body.timestamp)),
            is_encrypted: message.version == Some(VERSION),
            signed_by,
        })
    }
}

/// Converts a body's time to nanoseconds; `None` if it has none.
fn sent_ns(timestamp: u64) -> Option<u64> {
    /// A larger number of seconds is taken as milliseconds.
    const SECONDS_MAX: u64 = 100_000_000_000;
    match timestamp {
        0 => None,
        seconds if seconds < SECONDS_MAX => seconds.checked_mul(NS_PER_S),
        ms => ms.checked_mul(NS_PER_S / 1000),
    }
}
