//! Identity and topics of a message, for readers that need no content.

use std::sync::Arc;

use undertone_message::MessageHash;

/// Identity and topics of a message in an archive.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct ArchivedHeader {
    /// Timestamp of the message, Unix nanoseconds; 0 for a message without one.
    pub timestamp_ns: i64,
    /// Hash of the message.
    pub hash: MessageHash,
    /// Topic that the message was published on.
    pub pubsub_topic: Arc<str>,
    /// Content topic of the message.
    pub content_topic: Arc<str>,
}
