//! Dialling order of a peer's addresses: QUIC first, and the others if that fails.
//!
//! The transport limits the time for QUIC, because blocked UDP gives no error.

use std::collections::BTreeMap;

use libp2p::swarm::dial_opts::DialOpts;
use libp2p::swarm::{ConnectionId, DialError, NetworkBehaviour};
use libp2p::{Multiaddr, PeerId, Swarm};

use crate::swarm::is_quic;

/// A peer that is dialled over QUIC, and its other addresses.
#[derive(Debug)]
pub(crate) struct Fallback {
    pub(crate) peer: PeerId,
    pub(crate) addresses: Vec<Multiaddr>,
}

/// Addresses to dial if the QUIC ones fail, by the connection that is being tried.
#[derive(Debug, Default)]
pub(crate) struct Fallbacks(BTreeMap<ConnectionId, Fallback>);

impl Fallbacks {
    /// Dials the QUIC addresses of a peer, if any; the other addresses follow only if these fail.
    ///
    /// # Errors
    /// [`DialError`] if the swarm refuses to dial.
    pub(crate) fn dial<B: NetworkBehaviour>(
        &mut self,
        swarm: &mut Swarm<B>,
        peer: PeerId,
        addresses: Vec<Multiaddr>,
    ) -> Result<ConnectionId, DialError> {
        let (quic, others): (Vec<_>, Vec<_>) = addresses.into_iter().partition(is_quic);
        let (first, then) = match quic.is_empty() {
            true => (others, quic),
            false => (quic, others),
        };
        let options = DialOpts::peer_id(peer).addresses(first).build();
        let connection = options.connection_id();
        swarm.dial(options)?;
        if !then.is_empty() {
            let addresses = then;
            self.0.insert(connection, Fallback { peer, addresses });
        }
        Ok(connection)
    }

    /// Forgets the other addresses of a peer that was reached.
    pub(crate) fn connected(&mut self, connection: ConnectionId) {
        self.0.remove(&connection);
    }
    /// Returns and forgets the peer of a failed connection, if it has other addresses.
    pub(crate) fn take(&mut self, failed: ConnectionId) -> Option<Fallback> {
        self.0.remove(&failed)
    }
}
