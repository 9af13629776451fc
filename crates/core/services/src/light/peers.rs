//! Service peers known to a light client: their connections, and which of them answer.

use std::cmp::Reverse;
use std::collections::{BTreeMap, VecDeque};
use std::sync::Arc;
use std::time::Duration;

use rand_chacha::ChaCha8Rng;
use rand_core::RngCore;
use undertone_gossip::Time;

use super::{ServicePeer, Services};
use crate::PeerNo;
use crate::trust::Witness;

#[cfg(test)]
#[path = "tests/peers.rs"]
mod tests;

/// Service that a peer is used for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum PeerService {
    Filter,
    Lightpush,
    Store,
}

/// Limits and backoff times of a pool.
#[derive(Clone, Copy, Debug)]
pub(crate) struct PeerPoolConfig {
    pub(crate) max_peers: usize,
    pub(crate) max_peer_topics: usize,
    pub(crate) connect_timeout: Duration,
    pub(crate) backoff_first: Duration,
    pub(crate) backoff_max: Duration,
}

/// Failures and use of one service of one peer.
#[derive(Clone, Copy, Debug, Default)]
struct ServiceStanding {
    /// Failures since the last answer.
    failures: u32,
    not_before: Time,
    last_used: Time,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum PeerConnection {
    Down,
    Connecting { deadline: Time },
    Up,
}

#[derive(Debug)]
struct PooledPeer {
    witness: Witness,
    services: Services,
    topics: Option<Vec<Arc<str>>>,
    filters_all: bool,
    connection: PeerConnection,
    standings: [ServiceStanding; 3],
    /// Standings before the peer became unreachable; `None` while it is reachable.
    reachable_standings: Option<[ServiceStanding; 3]>,
}

impl PooledPeer {
    fn offers(&self, service: PeerService, topic: Option<&str>) -> bool {
        let offered = match service {
            PeerService::Filter => self.services.filter,
            PeerService::Lightpush => self.services.lightpush,
            PeerService::Store => self.services.store,
        };
        let serves = |topic: &str| match &self.topics {
            None => true,
            Some(list) => list.iter().any(|t| &**t == topic),
        };
        let serves_all = self.filters_all && service == PeerService::Filter;
        offered && (serves_all || topic.is_none_or(serves))
    }

    fn failures(&self) -> u32 {
        self.standings.iter().map(|s| s.failures).sum()
    }
}

/// Change of a pool that its owner must pass on to the driver.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum PoolEvent {
    Connect(PeerNo),
    Forgotten(PeerNo),
}

/// Bounded set of service peers, each with a standing for each service.
///
/// A failing peer is avoided for a time that doubles with each failure, up to a maximum. No peer is given up for
/// good.
#[derive(Debug)]
pub(crate) struct PeerPool {
    config: PeerPoolConfig,
    peers: BTreeMap<PeerNo, PooledPeer>,
    rng: ChaCha8Rng,
    pub(crate) events: VecDeque<PoolEvent>,
}

impl PeerPool {
    pub(crate) fn new(config: PeerPoolConfig, rng: ChaCha8Rng) -> Self {
        Self {
            config,
            peers: BTreeMap::new(),
            rng,
            events: VecDeque::new(),
        }
    }

    /// Adds a peer or updates a known one. A full pool evicts the disconnected peer with the most failures, or
    /// refuses the new one if none has failed; returns the evicted peer.
    pub(crate) fn found(&mut self, found: ServicePeer) -> Option<PeerNo> {
        let witness = found.witness();
        let topics = found.pubsub_topics.map(|mut list| {
            list.truncate(self.config.max_peer_topics);
            list
        });
        if let Some(peer) = self.peers.get_mut(&found.peer) {
            peer.witness = witness;
            peer.services = found.services;
            peer.topics = topics;
            peer.filters_all = found.filters_all;
            return None;
        }
        let mut forgotten = None;
        if self.peers.len() >= self.config.max_peers {
            let worst = self
                .peers
                .iter()
                .filter(|(_, peer)| peer.connection == PeerConnection::Down && peer.failures() > 0)
                .max_by_key(|(no, peer)| (peer.failures(), **no))
                .map(|(no, _)| *no);
            let Some(worst) = worst else {
                self.events.push_back(PoolEvent::Forgotten(found.peer));
                return None;
            };
            self.forget(worst);
            forgotten = Some(worst);
        }
        let peer = PooledPeer {
            witness,
            services: found.services,
            topics,
            filters_all: found.filters_all,
            connection: PeerConnection::Down,
            standings: [ServiceStanding::default(); 3],
            reachable_standings: None,
        };
        self.peers.insert(found.peer, peer);
        forgotten
    }

    pub(crate) fn forget(&mut self, peer: PeerNo) {
        if self.peers.remove(&peer).is_some() {
            self.events.push_back(PoolEvent::Forgotten(peer));
        }
    }

    /// Marks a peer as connected; its earlier unreachability no longer counts against it.
    pub(crate) fn connected(&mut self, peer: PeerNo) {
        if let Some(peer) = self.peers.get_mut(&peer) {
            peer.connection = PeerConnection::Up;
            if let Some(standings) = peer.reachable_standings.take() {
                peer.standings = standings;
            }
        }
    }

    pub(crate) fn disconnected(&mut self, peer: PeerNo) {
        if let Some(peer) = self.peers.get_mut(&peer) {
            peer.connection = PeerConnection::Down;
        }
    }

    /// Records a failed connection attempt as a failure of every service of the peer.
    pub(crate) fn connect_failed(&mut self, now: Time, peer: PeerNo) {
        self.disconnected(peer);
        if let Some(known) = self.peers.get_mut(&peer) {
            known.reachable_standings.get_or_insert(known.standings);
        }
        for service in [
            PeerService::Filter,
            PeerService::Lightpush,
            PeerService::Store,
        ] {
            self.failed(now, peer, service, None);
        }
    }

    /// Returns a peer as a witness.
    pub(crate) fn witness(&self, peer: PeerNo) -> Option<Witness> {
        self.peers.get(&peer).map(|known| known.witness)
    }

    pub(crate) fn is_up(&self, peer: PeerNo) -> bool {
        self.peers
            .get(&peer)
            .is_some_and(|p| p.connection == PeerConnection::Up)
    }

    /// Asks the driver for a connection unless one exists or is being made.
    pub(crate) fn connect(&mut self, now: Time, peer: PeerNo) {
        let deadline = now.after(self.config.connect_timeout);
        if let Some(known) = self.peers.get_mut(&peer)
            && known.connection == PeerConnection::Down
        {
            known.connection = PeerConnection::Connecting { deadline };
            self.events.push_back(PoolEvent::Connect(peer));
        }
    }

    /// Fails connection attempts past their deadline; returns their peers.
    pub(crate) fn expire(&mut self, now: Time) -> Vec<PeerNo> {
        let late = |peer: &PooledPeer| match peer.connection {
            PeerConnection::Connecting { deadline } => deadline <= now,
            PeerConnection::Down | PeerConnection::Up => false,
        };
        let late: Vec<PeerNo> = self
            .peers
            .iter()
            .filter(|(_, peer)| late(peer))
            .map(|(no, _)| *no)
            .collect();
        for peer in &late {
            self.connect_failed(now, *peer);
        }
        late
    }

    /// Returns the earliest deadline of a connection attempt.
    pub(crate) fn next_timeout(&self) -> Time {
        let deadline = |peer: &PooledPeer| match peer.connection {
            PeerConnection::Connecting { deadline } => deadline,
            PeerConnection::Down | PeerConnection::Up => Time::MAX,
        };
        self.peers.values().map(deadline).min().unwrap_or(Time::MAX)
    }

    pub(crate) fn answered(&mut self, now: Time, peer: PeerNo, service: PeerService) {
        if let Some(peer) = self.peers.get_mut(&peer) {
            peer.standings[service as usize] = ServiceStanding {
                failures: 0,
                not_before: Time::ZERO,
                last_used: now,
            };
        }
    }

    /// Puts a peer into backoff for one service. The backoff is the time that the peer asked for, up to the maximum,
    /// or a time that doubles with each failure and varies by a quarter.
    pub(crate) fn failed(
        &mut self,
        now: Time,
        peer: PeerNo,
        service: PeerService,
        retry_after: Option<Duration>,
    ) {
        let Some(peer) = self.peers.get_mut(&peer) else {
            return;
        };
        let standing = &mut peer.standings[service as usize];
        let doubled = self
            .config
            .backoff_first
            .saturating_mul(1_u32 << standing.failures.min(20))
            .min(self.config.backoff_max);
        let quarter = u64::try_from(doubled.as_nanos() / 4).unwrap_or(u64::MAX);
        let jitter = Duration::from_nanos(self.rng.next_u64() % quarter.max(1));
        let wait = match retry_after {
            Some(asked) => asked.min(self.config.backoff_max).max(doubled),
            None => doubled,
        };
        standing.failures = standing.failures.saturating_add(1);
        standing.not_before = now.after(wait.saturating_add(jitter));
        standing.last_used = now;
    }

    /// Puts a peer that violated a protocol into backoff, as if it had failed several times.
    pub(crate) fn distrust(&mut self, now: Time, peer: PeerNo, service: PeerService) {
        if let Some(known) = self.peers.get_mut(&peer) {
            let standing = &mut known.standings[service as usize];
            standing.failures = standing.failures.max(4);
        }
        self.failed(now, peer, service, None);
    }

    /// Whether a peer is known to offer a service and is not in backoff.
    pub(crate) fn usable(
        &self,
        now: Time,
        peer: PeerNo,
        service: PeerService,
        topic: Option<&str>,
    ) -> bool {
        self.peers.get(&peer).is_some_and(|p| {
            p.offers(service, topic) && p.standings[service as usize].not_before <= now
        })
    }

    /// Returns the best usable peer that is not `excluded`. For filter and lightpush that is the one with the fewest
    /// failures, then the best standing, then a connected one, then the least recently used. Stores take turns,
    /// whatever their standing and failures, because any may be the only one that holds a message.
    pub(crate) fn pick(
        &self,
        now: Time,
        service: PeerService,
        topic: Option<&str>,
        excluded: impl Fn(PeerNo) -> bool,
    ) -> Option<PeerNo> {
        self.peers
            .iter()
            .filter(|(no, _)| !excluded(**no) && self.usable(now, **no, service, topic))
            .min_by_key(|(no, peer)| {
                let standing = &peer.standings[service as usize];
                let is_down = peer.connection != PeerConnection::Up;
                let merits = match service {
                    PeerService::Filter | PeerService::Lightpush => {
                        Some((standing.failures, Reverse(peer.witness.standing), is_down))
                    }
                    PeerService::Store => None,
                };
                (merits, standing.last_used, **no)
            })
            .map(|(no, _)| *no)
    }

    /// Returns when the next peer that is not `excluded` leaves its backoff; [`Time::MAX`] if there is none.
    pub(crate) fn next_usable(
        &self,
        now: Time,
        service: PeerService,
        topic: Option<&str>,
        excluded: impl Fn(PeerNo) -> bool,
    ) -> Time {
        self.peers
            .iter()
            .filter(|(no, peer)| !excluded(**no) && peer.offers(service, topic))
            .map(|(_, peer)| peer.standings[service as usize].not_before)
            .filter(|time| *time > now)
            .min()
            .unwrap_or(Time::MAX)
    }

    /// Returns whether any peer offers a service, even one in backoff.
    pub(crate) fn offers(&self, service: PeerService, topic: Option<&str>) -> bool {
        self.offers_besides(service, topic, |_| false)
    }

    /// Returns whether a peer offers a service for a topic, as far as its topics are known.
    pub(crate) fn serves(&self, peer: PeerNo, service: PeerService, topic: &str) -> bool {
        let peer = self.peers.get(&peer);
        peer.is_some_and(|peer| peer.offers(service, Some(topic)))
    }

    /// Returns whether any peer that is not `excluded` offers a service, even one in backoff.
    pub(crate) fn offers_besides(
        &self,
        service: PeerService,
        topic: Option<&str>,
        excluded: impl Fn(PeerNo) -> bool,
    ) -> bool {
        let mut peers = self.peers.iter();
        peers.any(|(no, peer)| !excluded(*no) && peer.offers(service, topic))
    }
}
