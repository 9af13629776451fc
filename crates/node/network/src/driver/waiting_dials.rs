//! Callers that want a connection to a peer that is already being dialled.

use std::collections::BTreeMap;

use libp2p::{Multiaddr, PeerId};
use tokio::sync::oneshot;

use crate::command::ConnectFailure;

/// Channel on which a caller waits for the end of a dial.
pub(crate) type ConnectReply = oneshot::Sender<Result<(), ConnectFailure>>;

/// Callers that wait for the end of a dial begun by others, by peer.
#[derive(Debug, Default)]
pub(crate) struct WaitingDials(BTreeMap<PeerId, Vec<(Multiaddr, ConnectReply)>>);

impl WaitingDials {
    /// Adds a caller that named this address of a peer.
    pub(crate) fn wait(&mut self, peer: PeerId, address: Multiaddr, reply: ConnectReply) {
        let callers = self.0.entry(peer).or_default();
        // A caller that has given up needs no answer, and must not use up memory.
        callers.retain(|(_, reply)| !reply.is_closed());
        callers.push((address, reply));
    }

    /// Tells all callers that the peer is connected.
    pub(crate) fn connected(&mut self, peer: &PeerId) {
        for (_, reply) in self.0.remove(peer).into_iter().flatten() {
            let _ = reply.send(Ok(()));
        }
    }

    /// Tells all callers why the peer was not reached.
    pub(crate) fn failed(&mut self, peer: &PeerId, reason: &str) {
        for (address, reply) in self.0.remove(peer).into_iter().flatten() {
            let reason = reason.to_owned();
            let _ = reply.send(Err(ConnectFailure::Dial { address, reason }));
        }
    }
}
