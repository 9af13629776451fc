//! Options of a member of a reliable channel.

use std::path::PathBuf;

use undertone_message::PubsubTopic;
use undertone_sds::SdsConfig;

/// Channel to join, and its options.
#[derive(Clone, Debug)]
#[must_use]
pub struct ChannelOptions {
    pub(super) sds: SdsConfig,
    pub(super) pubsub_topic: PubsubTopic,
    pub(super) content_topic: String,
    pub(super) state: Option<PathBuf>,
}

impl ChannelOptions {
    /// Returns the options of a member whose state does not survive a restart.
    ///
    /// `sds` names the channel and the participant. All members use the same content topic and pubsub topic.
    pub fn new(
        sds: SdsConfig,
        pubsub_topic: PubsubTopic,
        content_topic: impl Into<String>,
    ) -> Self {
        Self {
            sds,
            pubsub_topic,
            content_topic: content_topic.into(),
            state: None,
        }
    }

    /// Sets the file that keeps the member's state over a restart. Only one member may use the file at a time.
    pub fn state(self, file: impl Into<PathBuf>) -> Self {
        let state = Some(file.into());
        Self { state, ..self }
    }
}
