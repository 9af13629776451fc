//! Listening on every configured address; ports chosen by the system are filled in.

use std::io;

use futures::StreamExt;
use libp2p::Multiaddr;
use libp2p::core::transport::TransportError;
use libp2p::multiaddr::Protocol;
use libp2p::swarm::SwarmEvent;

use super::addresses::is_of_one_link;
use super::error::StartError;
use crate::swarm::NodeSwarm;

/// Listens on every address and waits until the system has reported each one. A wildcard address yields several
/// reports; only the first of each is waited for. Link-local addresses are left out, because they are useless to
/// others.
pub(crate) async fn listen(
    swarm: &mut NodeSwarm,
    addresses: Vec<Multiaddr>,
) -> Result<Vec<Multiaddr>, StartError> {
    let peer_id = *swarm.local_peer_id();
    let mut waiting = Vec::new();
    for address in addresses {
        let listener = swarm
            .listen_on(address.clone())
            .map_err(|error| StartError::Listen {
                address: address.clone(),
                error: match error {
                    TransportError::Other(error) => error,
                    unsupported => io::Error::other(unsupported),
                },
            })?;
        waiting.push((listener, address));
    }
    let order: Vec<_> = waiting.iter().map(|(listener, _)| *listener).collect();
    let mut found = Vec::new();
    while !waiting.is_empty() {
        match swarm.select_next_some().await {
            SwarmEvent::NewListenAddr {
                listener_id,
                address,
            } => {
                waiting.retain(|(listener, _)| *listener != listener_id);
                if is_of_one_link(&address) {
                    continue;
                }
                let place = order.iter().position(|listener| *listener == listener_id);
                found.push((place, address.with(Protocol::P2p(peer_id))));
            }
            SwarmEvent::ListenerClosed {
                listener_id,
                reason: Err(error),
                ..
            } => {
                if let Some((_, address)) = waiting.iter().find(|(l, _)| *l == listener_id) {
                    let address = address.clone();
                    return Err(StartError::Listen { address, error });
                }
            }
            _ => {}
        }
    }
    // Transports report in any order; callers expect the order of the configuration.
    found.sort_by_key(|(place, _)| *place);
    Ok(found.into_iter().map(|(_, address)| address).collect())
}
