//! Watches service peers: the configured ones, and connected peers that announced a service.
//!
//! Every client of a service finds its peers here, in the order of [`undertone_services::trust`].
//!
//! The light client and the accountable sender both address such peers by number. Each takes a [`ServicePeers`], reads
//! the events of [`ServicePeers::watch`], passes them to its machine unchanged, and calls [`ServicePeers::connect`]
//! when the machine requests a connection.

use std::sync::Arc;
use std::time::Duration;

use libp2p::{Multiaddr, PeerId};
use parking_lot::Mutex;
use rand_chacha::ChaCha8Rng;
use tokio::sync::mpsc;
use tokio::time::timeout;
use undertone_services::light::ServicePeer;
use undertone_services::trust::Standing;
use undertone_services::{PeerNo, light, sending};

use super::LightpushVersion;
use undertone_network::driver::PeerNews;
use undertone_network::handle::NodeHandle;

mod table;
#[cfg(test)]
#[path = "tests/service_peers.rs"]
mod tests;

use table::ServicePeerTable;
pub(super) use table::{Candidate, ConfiguredPeers};

/// Time after connecting for a peer to announce its services through identify and metadata.
const GREETING: Duration = Duration::from_secs(3);

/// Time limit for an attempt to reconnect to a peer.
const REACHING: Duration = Duration::from_secs(15);

/// Event of a service peer, the same for each machine that uses service peers.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum ServicePeerEvent {
    /// A peer offers services, or different ones than before.
    Found(ServicePeer),
    /// A peer is forgotten; its number is never used again.
    Lost(PeerNo),
    /// A peer is connected, and its announcements are complete or overdue.
    Connected(PeerNo),
    /// A peer is disconnected.
    Disconnected(PeerNo),
    /// A requested connection could not be made.
    ConnectFailed(PeerNo),
}

impl From<ServicePeerEvent> for light::Input {
    fn from(event: ServicePeerEvent) -> Self {
        match event {
            ServicePeerEvent::Found(peer) => Self::PeerFound(peer),
            ServicePeerEvent::Lost(peer) => Self::PeerLost(peer),
            ServicePeerEvent::Connected(peer) => Self::Connected(peer),
            ServicePeerEvent::Disconnected(peer) => Self::Disconnected(peer),
            ServicePeerEvent::ConnectFailed(peer) => Self::ConnectFailed(peer),
        }
    }
}

impl From<ServicePeerEvent> for sending::Input {
    fn from(event: ServicePeerEvent) -> Self {
        match event {
            ServicePeerEvent::Found(peer) => Self::PeerFound(peer),
            ServicePeerEvent::Lost(peer) => Self::PeerLost(peer),
            ServicePeerEvent::Connected(peer) => Self::Connected(peer),
            ServicePeerEvent::Disconnected(peer) => Self::Disconnected(peer),
            ServicePeerEvent::ConnectFailed(peer) => Self::ConnectFailed(peer),
        }
    }
}

struct WatchState {
    table: ServicePeerTable,
    /// Queues of the watchers. They stay short: an event is a change of a connection, and machines take events without
    /// waiting for anything.
    watchers: Vec<mpsc::UnboundedSender<ServicePeerEvent>>,
    has_ended: bool,
    /// Generator for the order of peers with equal standing.
    rng: ChaCha8Rng,
}

impl WatchState {
    fn tell(&mut self, events: Vec<ServicePeerEvent>) {
        for event in events {
            self.watchers
                .retain(|watcher| watcher.send(event.clone()).is_ok());
        }
    }
}

/// Table of service peers that reports changes; clones share it.
#[derive(Clone)]
pub(super) struct ServicePeers {
    state: Arc<Mutex<WatchState>>,
    configured: Arc<ConfiguredPeers>,
    node: NodeHandle,
}

impl ServicePeers {
    /// Starts to watch until the node stops; then the watchers' queues end.
    pub(super) fn start(
        configured: ConfiguredPeers,
        cluster: u16,
        node: NodeHandle,
        mut news: mpsc::UnboundedReceiver<PeerNews>,
        rng: ChaCha8Rng,
    ) -> Self {
        let state = Arc::new(Mutex::new(WatchState {
            table: ServicePeerTable::new(&configured, cluster),
            watchers: Vec::new(),
            has_ended: false,
            rng,
        }));
        let configured = Arc::new(configured);
        let peers = Self {
            state,
            configured,
            node,
        };
        let watching = peers.clone();
        tokio::spawn(async move {
            while let Some(news) = news.recv().await {
                watching.take(news);
            }
            let mut state = watching.state.lock();
            state.watchers.clear();
            state.has_ended = true;
        });
        peers
    }

    fn take(&self, news: PeerNews) {
        let connected = match &news {
            PeerNews::Connected { peer, .. } => Some(*peer),
            _ => None,
        };
        let mut state = self.state.lock();
        let events = state.table.news(news);
        state.tell(events);
        let greeting = connected.and_then(|peer| Some((peer, state.table.greeting(peer)?)));
        drop(state);
        let Some((peer, connection)) = greeting else {
            return;
        };
        let watching = self.clone();
        tokio::spawn(async move {
            tokio::time::sleep(GREETING).await;
            let mut state = watching.state.lock();
            let events = state.table.greeted_enough(peer, connection);
            state.tell(events);
        });
    }

    /// Returns a queue of events that begins with the currently known peers. It ends when the node stops.
    pub(super) fn watch(&self) -> mpsc::UnboundedReceiver<ServicePeerEvent> {
        let (sender, receiver) = mpsc::unbounded_channel();
        let mut state = self.state.lock();
        for event in state.table.present() {
            // The receiver is right here.
            let _ = sender.send(event);
        }
        if !state.has_ended {
            state.watchers.push(sender);
        }
        receiver
    }

    /// Connects to a peer. The watchers get [`ServicePeerEvent::Connected`] or [`ServicePeerEvent::ConnectFailed`].
    /// They get neither if another attempt to reach the peer is in progress and does not end; machines have their own
    /// time limit.
    pub(super) fn connect(&self, peer: PeerNo) {
        let mut state = self.state.lock();
        let plan = match state.table.dial(peer) {
            Ok(plan) => plan,
            Err(events) => return state.tell(events),
        };
        let is_configured = state.table.is_configured(peer);
        drop(state);
        let dialling = self.clone();
        tokio::spawn(async move {
            let succeeded = dialling.try_all(plan.addresses, is_configured).await;
            let mut state = dialling.state.lock();
            let events = state.table.dialled(peer, succeeded);
            state.tell(events);
        });
    }

    /// Tries to reconnect to the disconnected peers that announced a protocol, one after the other, until one is
    /// connected.
    pub(super) async fn reach_again(&self, protocol: &str) {
        let mut events = self.watch();
        let gone = self.state.lock().table.gone(protocol);
        for peer in gone {
            self.connect(peer);
            let reached = async {
                while let Some(event) = events.recv().await {
                    match event {
                        ServicePeerEvent::Connected(one) if one == peer => return true,
                        ServicePeerEvent::ConnectFailed(one) if one == peer => return false,
                        _ => {}
                    }
                }
                false
            };
            if timeout(REACHING, reached).await == Ok(true) {
                return;
            }
        }
    }

    /// Dials the addresses of a peer until one succeeds. For a configured peer, they are those given by the operator.
    async fn try_all(&self, addresses: Vec<Multiaddr>, is_configured: bool) -> bool {
        for address in addresses {
            let connected = match is_configured {
                true => self.node.connect(address).await,
                false => self.node.connect_found(address).await,
            };
            match connected {
                Ok(()) => return true,
                Err(error) => tracing::debug!(%error, "cannot connect to a service peer"),
            }
        }
        false
    }

    /// Returns the peers that can be asked for a service, best first: only the `named` ones if there are any, otherwise
    /// the connected ones that announced its protocol. `None` once the node has stopped.
    pub(super) fn candidates(&self, protocol: &str, named: &[Multiaddr]) -> Option<Vec<Candidate>> {
        let mut state = self.state.lock();
        let WatchState {
            table,
            rng,
            has_ended,
            ..
        } = &mut *state;
        (!*has_ended).then(|| table.candidates(protocol, named, rng))
    }

    /// Returns the connected peers that announced a protocol, each with its standing; `None` once the node has stopped.
    pub(super) fn offering(&self, protocol: &str) -> Option<Vec<(PeerId, Standing)>> {
        let state = self.state.lock();
        let witnesses = state.table.witnesses(protocol).into_iter();
        let offers = witnesses
            .filter_map(|one| Some((state.table.identity(one.peer)?, one.standing)))
            .collect();
        (!state.has_ended).then_some(offers)
    }

    /// Records that answers of peers agree, so that strangers among them may become known peers.
    pub(super) fn agreed(&self, agreeing: &[PeerNo]) {
        let mut state = self.state.lock();
        let events = state.table.agreed(agreeing);
        state.tell(events);
    }

    /// Returns the peers that the configuration names.
    pub(super) fn configured(&self) -> &ConfiguredPeers {
        &self.configured
    }

    /// Whether the configuration names a peer.
    pub(super) fn is_configured(&self, peer: PeerNo) -> bool {
        self.state.lock().table.is_configured(peer)
    }

    /// Returns the number of a peer, if it is watched.
    pub(super) fn number(&self, identity: PeerId) -> Option<PeerNo> {
        self.state.lock().table.number(identity)
    }

    /// Returns the identity of a peer, if it is watched.
    pub(super) fn identity(&self, peer: PeerNo) -> Option<PeerId> {
        self.state.lock().table.identity(peer)
    }

    /// Returns the lightpush version to use with a peer: v3 unless the peer announced only v2.
    pub(super) fn lightpush_version(&self, peer: PeerNo) -> LightpushVersion {
        self.state.lock().table.lightpush_version(peer)
    }

    /// Returns the peers that offer a service, each with whether it is connected.
    pub(super) fn offers(&self) -> Vec<(ServicePeer, bool)> {
        self.state.lock().table.offers()
    }
}
