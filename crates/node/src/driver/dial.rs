//! Connecting to peers: those that are configured, and those that somebody asks for.

use libp2p::Multiaddr;
use libp2p::swarm::dial_opts::DialOpts;
use tokio::sync::oneshot;

use super::event_loop::EventLoop;
use super::peers::peer_id_of;
use crate::command::ConnectFailure;

/// A connection attempt that somebody waits for.
pub(crate) struct Dialling {
    pub(crate) address: Multiaddr,
    pub(crate) reply: Option<oneshot::Sender<Result<(), ConnectFailure>>>,
}

impl EventLoop {
    /// Tries configured peers that are not connected.
    pub(crate) fn redial(&mut self) {
        let missing: Vec<_> = self
            .static_peers
            .iter()
            .filter(|address| !self.is_connected_or_dialled(address))
            .cloned()
            .collect();
        for address in missing {
            self.dial(address, None);
        }
    }

    fn is_connected_or_dialled(&self, address: &Multiaddr) -> bool {
        let connected = match peer_id_of(address) {
            Some(peer) => self.swarm.is_connected(&peer),
            None => self.peers.is_connected_at(address),
        };
        connected
            || self
                .dialling
                .values()
                .any(|dialling| dialling.address == *address)
    }

    pub(crate) fn dial(
        &mut self,
        address: Multiaddr,
        reply: Option<oneshot::Sender<Result<(), ConnectFailure>>>,
    ) {
        let options = match peer_id_of(&address) {
            Some(peer) => DialOpts::peer_id(peer)
                .addresses(vec![address.clone()])
                .build(),
            None => DialOpts::unknown_peer_id().address(address.clone()).build(),
        };
        let connection = options.connection_id();
        match self.swarm.dial(options) {
            Ok(()) => {
                self.dialling
                    .insert(connection, Dialling { address, reply });
            }
            Err(libp2p::swarm::DialError::DialPeerConditionFalse(_)) => {
                // Connected already, or about to be.
                if let Some(reply) = reply {
                    let _ = reply.send(Ok(()));
                }
            }
            Err(error) => {
                let reason = error.to_string();
                if let Some(reply) = reply {
                    let _ = reply.send(Err(ConnectFailure::Dial { address, reason }));
                }
            }
        }
    }
}
