//! Inputs and outputs of the connection manager.

use multiaddr::{Multiaddr, PeerId};
use undertone_gossip::Direction;

use crate::facts::{Capabilities, PeerFacts, PeerOffer};
use crate::store::OfferRefusal;

/// Event that the driver reports to the connection manager, or a command for it.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub enum Input {
    /// Discovery, or another peer, named a peer.
    Offer(PeerOffer),
    /// A peer has its first connection. `address` is the connection's remote end: where the peer listens, if this node
    /// dialled.
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
    /// Identify or metadata provided facts about a connected peer.
    Learned {
        /// Peer that the facts are about.
        peer: PeerId,
        /// The facts; absent ones leave the known ones unchanged.
        facts: PeerFacts,
        /// Addresses at which the peer says it listens.
        listens_at: Vec<Multiaddr>,
    },
    /// A connection is now in use, for instance by a mesh member or service peer, or no longer in use.
    Protected {
        /// Peer of the connection.
        peer: PeerId,
        /// Whether the connection must not be pruned.
        is_protected: bool,
    },
    /// The shards that this node relays have changed.
    Shards(Vec<u16>),
    /// All shards whose mesh has stayed below its lower bound. The peers connected there have no free slot in their own
    /// meshes, so more peers are wanted.
    ThinMeshes(Vec<u16>),
    /// The number of peers wanted for some services has changed.
    Services(Vec<(Capabilities, usize)>),
    /// The addresses of this node have changed.
    OwnAddresses(Vec<Multiaddr>),
    /// Time has passed: run the timers that are due.
    Tick,
}

/// Kind of peer of which the connection manager wants more.
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

/// Reason for closing a connection.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CloseReason {
    /// The peer belongs to another cluster.
    OtherCluster,
    /// The node has more connections than it wants, and this one is the least useful.
    TooMany,
}

/// Action for the driver.
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
    /// Search for peers of a kind, and offer those found.
    Discover(PeerDemand),
    /// Persist the store's entry of a peer, so that it is remembered after a restart.
    Remember(PeerId),
    /// Remove a peer from the persisted ones.
    Forget(PeerId),
    /// An offered peer was refused; for the log and the metrics.
    Refused {
        /// Peer that was offered.
        peer: PeerId,
        /// Reason of the refusal.
        reason: OfferRefusal,
    },
}
