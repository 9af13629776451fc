//! Messages with an unknown root, and the limits on them.

use bytes::Bytes;
use undertone_gossip::{Time, Topic};

use super::room::{Room, RoomLimits};

/// Limits on messages that wait for roots.
pub(crate) const ROOM: RoomLimits = RoomLimits {
    max: 128,
    max_of_peer: 16,
};

/// Content of a message that waits for roots.
#[derive(Debug)]
pub(crate) struct Rootless {
    pub(super) topic: Topic,
    pub(super) data: Bytes,
    pub(super) until: Time,
}

/// Messages that wait for roots.
pub(crate) type RootlessMessages = Room<Rootless>;
