//! News about peers for the services of the same node.

use libp2p::{Multiaddr, PeerId};
use undertone_services::trust::Network;

/// Change of what the event loop knows about a peer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum PeerNews {
    /// The first connection to a peer is open.
    Connected {
        /// Peer at the other end.
        peer: PeerId,
        /// Whether this node dialled the peer, or its configuration names it.
        is_chosen: bool,
        /// Network in the Internet at the other end; `None` on loopback and in private networks.
        network: Option<Network>,
    },
    /// A peer announced its protocols through identify.
    Announced {
        /// Peer that announced the protocols.
        peer: PeerId,
        /// Protocol ids of the peer.
        protocols: Vec<String>,
        /// Address of the peer, without `/p2p`, if one is known.
        address: Option<Multiaddr>,
    },
    /// A peer announced through metadata which shards of this node's cluster it serves.
    Shards {
        /// Peer that named the shards.
        peer: PeerId,
        /// Indices of the shards; empty if the peer does not say.
        shards: Vec<u16>,
    },
    /// The last connection to a peer has ended.
    Disconnected(PeerId),
    /// An attempt to connect to a peer has failed.
    DialFailed(PeerId),
}
