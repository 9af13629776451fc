//! Record of one service peer.

use std::sync::Arc;

use libp2p::{Multiaddr, PeerId};
use undertone_services::light::{ServicePeer, Services};
use undertone_services::trust::{Network, Standing};

/// Connection to a peer, regarding the use of its services.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum PeerLink {
    #[default]
    Down,
    /// Connected, but the peer has not announced its services yet.
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
    /// An attempt by this module is in progress.
    Asked,
    /// Another attempt of the node is in progress, and its outcome will be reported.
    Elsewhere,
}

/// A peer, with what the configuration, its connections and its own announcements say about its services.
#[derive(Debug)]
pub(super) struct WatchedPeer {
    pub(super) identity: PeerId,
    /// Services for which the configuration names the peer.
    pub(super) configured: Services,
    /// Services that the peer announced.
    pub(super) announced: Services,
    /// Service protocols that the peer announced.
    pub(super) protocols: Vec<&'static str>,
    /// Whether the peer announced lightpush v2 and not v3.
    pub(super) is_legacy_pusher: bool,
    /// Configured addresses with `/p2p`, in configured order.
    pub(super) addresses: Vec<Multiaddr>,
    /// Whether this node chose the peer: it names it as a static peer, or dialled it for another reason than having met
    /// it.
    pub(super) is_chosen: bool,
    /// Whether the peer's answers agreed with those of a peer that is not a stranger.
    pub(super) has_agreed: bool,
    /// Network from which the peer was last connected.
    pub(super) network: Option<Network>,
    /// Address at which this node met the peer, without `/p2p`.
    pub(super) met_at: Option<Multiaddr>,
    pub(super) topics: Option<Vec<Arc<str>>>,
    pub(super) has_announced: bool,
    pub(super) has_metadata: bool,
    pub(super) has_named_shards: bool,
    pub(super) link: PeerLink,
    pub(super) dial: DialAttempt,
    /// State last reported to the watchers.
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
