//! Connections that only test whether a peer can be reached, and carry no pubsub.

use std::collections::BTreeSet;
use std::sync::Arc;

use libp2p::swarm::ConnectionId;
use parking_lot::Mutex;

/// Connections without pubsub: with it, the peer would take them for a new session. The number of dials for peers
/// bounds their number.
#[derive(Clone, Debug, Default)]
pub(crate) struct ProbeOnly(Arc<Mutex<BTreeSet<ConnectionId>>>);

impl ProbeOnly {
    pub(super) fn insert(&self, connection: ConnectionId) {
        self.0.lock().insert(connection);
    }

    pub(super) fn remove(&self, connection: ConnectionId) {
        self.0.lock().remove(&connection);
    }

    pub(crate) fn contains(&self, connection: ConnectionId) -> bool {
        self.0.lock().contains(&connection)
    }
}
