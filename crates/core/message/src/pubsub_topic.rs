//! Pubsub topics (RFC 51): static shards, and named topics where a network allows them.

use std::{fmt, str::FromStr, sync::Arc};

use thiserror::Error;

#[cfg(test)]
#[path = "tests/pubsub_topic.rs"]
mod tests;

/// Largest shard index of a cluster (RFC 51).
pub const MAX_SHARD_INDEX: u16 = 1023;

/// Maximum length of a named topic that [`PubsubTopic::parse_any`] accepts, in bytes.
pub const MAX_NAMED_TOPIC_BYTES: usize = 256;

const PREFIX: &str = "/waku/2/rs/";

/// One shard of one cluster.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Shard {
    /// Cluster id of the network to which the shard belongs.
    pub cluster: u16,
    /// Index of the shard in the cluster, 0 to [`MAX_SHARD_INDEX`].
    pub index: u16,
}

/// A pubsub topic, on which messages are relayed.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum PubsubTopic {
    /// Static shard: `/waku/2/rs/<cluster>/<index>`.
    Static(Shard),
    /// Named topic: any other text.
    Named(Arc<str>),
}

/// Error of a text that is not a pubsub topic.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum PubsubTopicError {
    /// The text does not begin with the prefix of static shards.
    #[error("pubsub topic {topic:?} must start with {PREFIX}")]
    NotStatic {
        /// The text that was parsed.
        topic: String,
    },
    /// There are not exactly two numbers after the prefix.
    #[error("pubsub topic {topic:?} must be {PREFIX}<cluster>/<shard>")]
    Structure {
        /// The text that was parsed.
        topic: String,
    },
    /// A number has other characters, a leading zero, or is out of range.
    #[error("{part} {text:?} must be a number in 0..={max} without leading zeros")]
    Number {
        /// Name of the part: `cluster` or `shard`.
        part: &'static str,
        /// The text that was parsed.
        text: String,
        /// The largest number that is allowed.
        max: u16,
    },
    /// A named topic is empty or too long.
    #[error("named pubsub topic of {size_bytes} bytes; must have 1 to {MAX_NAMED_TOPIC_BYTES}")]
    NameLength {
        /// Length of the topic, in bytes.
        size_bytes: usize,
    },
}

impl Shard {
    /// Creates a shard of `cluster`; `None` when `index` is over [`MAX_SHARD_INDEX`].
    pub fn new(cluster: u16, index: u16) -> Option<Self> {
        (index <= MAX_SHARD_INDEX).then_some(Self { cluster, index })
    }
}

impl PubsubTopic {
    /// Parses a static shard and nothing else.
    ///
    /// # Errors
    /// [`PubsubTopicError`] when the text is not a static shard.
    pub fn parse(topic: &str) -> Result<Self, PubsubTopicError> {
        topic.parse().map(Self::Static)
    }

    /// Parses a static shard, or takes any other text as a named topic; for networks
    /// with named topics.
    ///
    /// A text that begins like a static shard but is not one is an error, so that a typing mistake
    /// does not create a named topic.
    ///
    /// # Errors
    /// [`PubsubTopicError`] for such a text, and for a named topic that is empty or too long.
    pub fn parse_any(topic: &str) -> Result<Self, PubsubTopicError> {
        if topic.starts_with(PREFIX) {
            return Self::parse(topic);
        }
        let size_bytes = topic.len();
        if size_bytes == 0 || size_bytes > MAX_NAMED_TOPIC_BYTES {
            return Err(PubsubTopicError::NameLength { size_bytes });
        }
        Ok(Self::Named(topic.into()))
    }

    /// Returns the shard; `None` when the topic is named.
    pub fn shard(&self) -> Option<Shard> {
        match self {
            Self::Static(shard) => Some(*shard),
            Self::Named(_) => None,
        }
    }
}

impl FromStr for Shard {
    type Err = PubsubTopicError;

    fn from_str(topic: &str) -> Result<Self, Self::Err> {
        let numbers = topic
            .strip_prefix(PREFIX)
            .ok_or_else(|| PubsubTopicError::NotStatic {
                topic: topic.to_owned(),
            })?;
        let (cluster, index) = numbers
            .split_once('/')
            .filter(|(_, index)| !index.contains('/'))
            .ok_or_else(|| PubsubTopicError::Structure {
                topic: topic.to_owned(),
            })?;
        Ok(Self {
            cluster: number(cluster, "cluster", u16::MAX)?,
            index: number(index, "shard", MAX_SHARD_INDEX)?,
        })
    }
}

/// Parses a number in its only spelling: topics are compared as text, so each shard must
/// have just one.
fn number(text: &str, part: &'static str, max: u16) -> Result<u16, PubsubTopicError> {
    let canonical =
        text.bytes().all(|byte| byte.is_ascii_digit()) && (text == "0" || !text.starts_with('0'));
    match text.parse() {
        Ok(value) if canonical && value <= max => Ok(value),
        _ => Err(PubsubTopicError::Number {
            part,
            text: text.to_owned(),
            max,
        }),
    }
}

impl From<Shard> for PubsubTopic {
    fn from(shard: Shard) -> Self {
        Self::Static(shard)
    }
}

impl fmt::Display for Shard {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{PREFIX}{}/{}", self.cluster, self.index)
    }
}

impl fmt::Display for PubsubTopic {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Static(shard) => shard.fmt(f),
            Self::Named(name) => f.write_str(name),
        }
    }
}
