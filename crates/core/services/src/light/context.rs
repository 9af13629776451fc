//! Client state that a comparison with history works on, and the messages that it finds.

use std::collections::VecDeque;
use std::sync::Arc;

use undertone_gossip::Time;
use undertone_message::{MessageHash, WakuMessage};

use super::config::LightConfig;
use super::io::Output;
use super::memory::DeliveryMemory;
use super::peers::PeerPool;
use super::wanted::WantedTopics;
use crate::PeerNo;

/// State of the client that a comparison needs.
pub(crate) struct CheckContext<'a> {
    pub(crate) now: Time,
    /// Wall time, Unix nanoseconds.
    pub(crate) now_ns: i64,
    pub(crate) config: &'a LightConfig,
    pub(crate) pool: &'a mut PeerPool,
    pub(crate) wanted: &'a mut WantedTopics,
    pub(crate) memory: &'a DeliveryMemory,
    pub(crate) out: &'a mut VecDeque<Output>,
}

/// Message from a store, not yet compared with what the application has.
#[derive(Debug)]
pub(crate) struct FoundMessage {
    pub(crate) store: PeerNo,
    pub(crate) hash: MessageHash,
    pub(crate) pubsub_topic: Arc<str>,
    pub(crate) message: WakuMessage,
}
