use futures::StreamExt;
use libp2p::identity::Keypair;
use libp2p::swarm::{StreamProtocol, SwarmEvent};
use libp2p::{Multiaddr, PeerId};

use super::{Inbound, Network, RawError, RawPeer, swarm, within};

/// Raw peer that waits for one connection.
pub struct RawListener {
    id: PeerId,
    addr: Multiaddr,
    protocol: StreamProtocol,
    network: Network,
}

impl RawListener {
    /// Listens on `addr` as `key`.
    pub async fn listen(
        key: Keypair,
        addr: &Multiaddr,
        protocol: StreamProtocol,
        inbound: Inbound,
    ) -> Result<Self, RawError> {
        let id = key.public().to_peer_id();
        let mut swarm = swarm(key)?;
        swarm
            .listen_on(addr.clone())
            .map_err(|source| RawError::Listen {
                addr: addr.clone(),
                source,
            })?;
        let listening = async {
            loop {
                match swarm.select_next_some().await {
                    SwarmEvent::NewListenAddr { address, .. } => return Ok(address),
                    SwarmEvent::ListenerClosed { .. } => return Err(RawError::Closed),
                    _ => {}
                }
            }
        };
        let addr = within("address to listen on", listening).await??;
        let addr = addr.with_p2p(id).unwrap_or_else(|addr| addr);
        let network = Network::start(swarm, &protocol, inbound);
        Ok(Self {
            id,
            addr,
            protocol,
            network,
        })
    }

    /// Returns the address to connect to, with `/p2p`.
    #[must_use]
    pub fn addr(&self) -> &Multiaddr {
        &self.addr
    }

    /// Waits for the connection and opens a stream on it.
    pub async fn accept(mut self) -> Result<RawPeer, RawError> {
        // Only an outbound connection can fail, and a listener has none.
        let remote = self.network.connected().await?;
        let remote = remote.map_err(|_| RawError::Closed)?;
        RawPeer::open(self.id, remote, self.protocol, self.network).await
    }
}
