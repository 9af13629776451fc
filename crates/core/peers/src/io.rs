//! Inputs and outputs of the connection manager.

use multiaddr::{Multiaddr, PeerId};
use undertone_gossip::Direction;

use crate::facts::{Capabilities, PeerFacts, PeerOffer};
use crate::store::OfferRefusal;

/// Event that the driver reports to the connection manager, or a command for it.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub enum Input {
    /// Discovery, or another peer, told of a peer.
    Offer(PeerOffer),
    /// A peer has its first connection. `address` is the remote end of it: where the peer listens if this
    /// node dialled.
    Connected {
        /// Peer that is connected.
        peer: PeerId,
        /// Remote address of the connection.
        address: Multiaddr,
        /// Side that dialled.
        direction: Direction,
    },
    /// A peer has lost its last connection.
    Disconnected(PeerId),
    /// A dial that [`Output::Dial`] asked for has failed.
    DialFailed(PeerId),
    /// Identify or metadata told facts about a connected peer.
    Learned {
        /// Peer that the facts are about.
        peer: PeerId,
        /// Facts; what is absent stays as it was known.
        facts: PeerFacts,
        /// Addresses at which the peer says it listens.
        listens_at: Vec<Multiaddr>,
    },
    /// A connection is in use, as that of a mesh member or a service peer, or no longer.
    Protected {
        /// Peer of the connection.
        peer: PeerId,
        /// Whether the connection must not be pruned.
        is_protected: bool,
    },
    /// The shards that this node relays have changed.
    Shards(Vec<u16>),
    /// Shards whose mesh has stayed below its lower bound, all that there are now: whoever is connected there has no place in its own
    /// mesh, so more peers are wanted.
    ThinMeshes(Vec<u16>),
    /// The number of peers wanted for each service has changed.
    Services(Vec<(Capabilities, usize)>),
    /// The addresses of this node have changed.
    OwnAddresses(Vec<Multiaddr>),
    /// Time has passed: run the timers that are due.
    Tick,
}

/// Kind of peer of which the connection manager knows too few.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum PeerDemand {
    /// Peers that relay a shard.
    Relay {
        /// Index of the shard.
        shard: u16,
    },
    /// Peers that offer a service.
    Service(Capabilities),
    /// Peers of any kind that can be dialled.
    Outbound,
}

/// Reason why a connection is closed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CloseReason {
    /// The peer belongs to another cluster.
    OtherCluster,
    /// The node has more connections than it wants, and this one is of least use.
    TooMany,
}

/// Action that the driver has to take.
///
/// The enum is exhaustive on purpose: a driver that overlooks a new action is wrong, so it must not compile.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Output {
    /// Dial a peer; answer with [`Input::Connected`] or [`Input::DialFailed`].
    Dial {
        /// Peer to dial.
        peer: PeerId,
        /// Addresses without the identity, the most promising first.
        addresses: Vec<Multiaddr>,
    },
    /// Close all connections of a peer.
    Close {
        /// Peer whose connections to close.
        peer: PeerId,
        /// Reason, for the log.
        reason: CloseReason,
    },
    /// Look for peers of a kind, and offer those that are found.
    Discover(PeerDemand),
    /// Keep what the store knows of a peer, so that it is remembered after a restart.
    Remember(PeerId),
    /// Remove a peer from what is remembered.
    Forget(PeerId),
    /// An offered peer was not taken in, for the log and the metrics.
    Refused {
        /// Peer that was offered.
        peer: PeerId,
        /// Reason of the refusal.
        reason: OfferRefusal,
    },
}
