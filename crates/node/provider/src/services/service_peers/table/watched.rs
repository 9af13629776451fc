//! Record of one service peer.

use std::sync::Arc;

use libp2p::{Multiaddr, PeerId};
use undertone_services::light::{ServicePeer, Services};
use undertone_services::trust::{Network, Standing};

/// Connection to a peer, as far as its services can be used.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum PeerLink {
    #[default]
    Down,
    /// Connected, but the peer has not said yet what it offers.
    Greeting {
        connection: u64,
    },
    Up,
}

/// Attempt to connect to a peer.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum DialAttempt {
    #[default]
    None,
    /// This module's attempt is under way.
    Asked,
    /// Another attempt of the node is under way, and its end will be heard.
    Elsewhere,
}

/// Peer with what the configuration, its connections and its own words say of its services.
#[derive(Debug)]
pub(super) struct WatchedPeer {
    pub(super) identity: PeerId,
    /// Services for which the configuration names the peer.
    pub(super) configured: Services,
    /// Services that the peer announced.
    pub(super) announced: Services,
    /// Protocols of services that the peer announced.
    pub(super) protocols: Vec<&'static str>,
    /// Whether the peer announced lightpush v2 and not v3.
    pub(super) is_legacy_pusher: bool,
    /// Configured addresses, with `/p2p`, in their order.
    pub(super) addresses: Vec<Multiaddr>,
    /// Whether this node chose the peer: dialled it, not because it had been met, or names it as a static peer.
    pub(super) is_chosen: bool,
    /// Whether the peer's answers agreed with those of a peer that is no stranger.
    pub(super) has_agreed: bool,
    /// Network that the peer was connected from last.
    pub(super) network: Option<Network>,
    /// Address at which the peer was met, without `/p2p`.
    pub(super) met_at: Option<Multiaddr>,
    pub(super) topics: Option<Vec<Arc<str>>>,
    pub(super) has_announced: bool,
    pub(super) has_metadata: bool,
    pub(super) has_named_shards: bool,
    pub(super) link: PeerLink,
    pub(super) dial: DialAttempt,
    /// State that the watchers were told last.
    pub(super) told: Option<ServicePeer>,
}

impl WatchedPeer {
    pub(super) fn new(identity: PeerId) -> Self {
        Self {
            identity,
            configured: Services::default(),
            announced: Services::default(),
            protocols: Vec::new(),
            is_legacy_pusher: false,
            addresses: Vec::new(),
            is_chosen: false,
            has_agreed: false,
            network: None,
            met_at: None,
            topics: None,
            has_announced: false,
            has_metadata: false,
            has_named_shards: false,
            link: PeerLink::Down,
            dial: DialAttempt::None,
            told: None,
        }
    }

    pub(super) fn is_greeted(&self) -> bool {
        self.has_announced && (self.has_named_shards || !self.has_metadata)
    }

    pub(super) fn is_configured(&self) -> bool {
        self.configured != Services::default()
    }

    pub(super) fn standing(&self) -> Standing {
        match (self.is_configured(), self.is_chosen || self.has_agreed) {
            (true, _) => Standing::Named,
            (false, true) => Standing::Known,
            (false, false) => Standing::Stranger,
        }
    }
}
