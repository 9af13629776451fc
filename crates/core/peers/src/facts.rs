//! Facts about a peer, learned from discovery, identify and metadata.

use multiaddr::{Multiaddr, PeerId};

/// Capabilities of a node, as encoded in the key `waku2` of a node record (RFC 31).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct Capabilities(pub u8);

impl Capabilities {
    /// No capability at all.
    pub const NONE: Self = Self(0);
    /// The node relays messages.
    pub const RELAY: Self = Self(1);
    /// The node serves history.
    pub const STORE: Self = Self(1 << 1);
    /// The node pushes messages to light clients.
    pub const FILTER: Self = Self(1 << 2);
    /// The node publishes messages of light clients.
    pub const LIGHTPUSH: Self = Self(1 << 3);
    /// The node synchronises its store with others.
    pub const SYNC: Self = Self(1 << 4);

    /// Whether all capabilities of `other` are among these.
    pub const fn contains(self, other: Self) -> bool {
        self.0 & other.0 == other.0
    }

    /// Returns the capabilities of either set.
    #[must_use]
    pub const fn union(self, other: Self) -> Self {
        Self(self.0 | other.0)
    }
}

/// Facts about a peer; unknown ones are absent.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct PeerFacts {
    /// Cluster that the peer belongs to.
    pub cluster: Option<u16>,
    /// Shards that the peer relays.
    pub shards: Option<Vec<u16>>,
    /// Services that the peer offers.
    pub capabilities: Option<Capabilities>,
}

impl PeerFacts {
    /// Whether the peer is known to relay `shard`.
    pub fn relays(&self, shard: u16) -> bool {
        self.may_relay(shard) && self.shards.is_some()
    }

    /// Whether the peer relays `shard`, or may do so for all that is known.
    pub fn may_relay(&self, shard: u16) -> bool {
        let shards = self.shards.as_ref();
        self.may_offer(Capabilities::RELAY) && shards.is_none_or(|list| list.contains(&shard))
    }

    /// Whether the peer is known to offer `capability`.
    pub fn offers(&self, capability: Capabilities) -> bool {
        self.capabilities
            .is_some_and(|known| known.contains(capability))
    }

    /// Whether the peer offers `capability`, or may do so for all that is known.
    pub fn may_offer(&self, capability: Capabilities) -> bool {
        self.capabilities
            .is_none_or(|known| known.contains(capability))
    }

    /// Replaces facts by those that are present in `newer`.
    pub fn update(&mut self, newer: Self) {
        self.cluster = newer.cluster.or(self.cluster);
        self.capabilities = newer.capabilities.or(self.capabilities);
        if newer.shards.is_some() {
            self.shards = newer.shards;
        }
    }
}

/// How a node learned of a peer, the most trusted way first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum PeerSource {
    /// The operator configured the peer.
    Static,
    /// The peer was remembered from an earlier run.
    Remembered,
    /// A signed list of nodes in DNS names the peer (EIP-1459).
    Dns,
    /// The peer's own record was found by discv5.
    Discv5,
    /// A rendezvous point named the peer.
    Rendezvous,
    /// A peer-exchange response contains the peer's record.
    PeerExchange,
    /// A PRUNE of a mesh names the peer.
    Prune,
    /// The peer dialled this node.
    Inbound,
}

/// Peer that a node learns of.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PeerOffer {
    /// Identity of the peer.
    pub peer: PeerId,
    /// Claimed listen addresses of the peer.
    pub addresses: Vec<Multiaddr>,
    /// Facts that came with the addresses.
    pub facts: PeerFacts,
    /// How this node learned of the peer.
    pub source: PeerSource,
    /// Peer that named it; the offers of one peer are limited in total. `None` if there is no such peer.
    pub told_by: Option<PeerId>,
    /// Sequence number of the signed record that the offer was read from; `None` without a record.
    pub sequence: Option<u64>,
    /// Whether this node reached the peer in an earlier run; only evaluated for the source
    /// [`PeerSource::Remembered`].
    pub was_reached: bool,
}

impl PeerOffer {
    /// Creates an offer of a peer with nothing but its identity.
    pub fn new(peer: PeerId, source: PeerSource) -> Self {
        Self {
            peer,
            addresses: Vec::new(),
            facts: PeerFacts::default(),
            source,
            told_by: None,
            sequence: None,
            was_reached: false,
        }
    }
}
