//! Peers that the operator named and that this node stays connected to: which of them are dialled, and when.

use std::collections::BTreeMap;
use std::time::{Duration, Instant};

use libp2p::{Multiaddr, PeerId};

use super::addresses::peer_id_of;

#[cfg(test)]
#[path = "tests/kept.rs"]
mod tests;

/// Longest pause between two attempts to reach a peer.
const PAUSE_MAX: Duration = Duration::from_secs(10);

/// The last attempt to reach an address, if it failed.
#[derive(Debug)]
struct Failing {
    pause: Duration,
    next: Instant,
}

/// Named peers that this node stays connected to: static peers, which can be replaced, and service peers.
///
/// They are dialled until they answer; the pause between attempts doubles up to ten seconds.
#[derive(Debug)]
pub(crate) struct KeptPeers {
    statics: Vec<Multiaddr>,
    services: Vec<Multiaddr>,
    /// Peers last reached at addresses that contain no peer id.
    learned: BTreeMap<Multiaddr, PeerId>,
    failing: BTreeMap<Multiaddr, Failing>,
    first_pause: Duration,
}

impl KeptPeers {
    /// Makes the list; `first_pause` is the time after a failure before the next attempt.
    pub(crate) fn new(
        statics: Vec<Multiaddr>,
        services: Vec<Multiaddr>,
        first_pause: Duration,
    ) -> Self {
        Self {
            statics,
            services,
            learned: BTreeMap::new(),
            failing: BTreeMap::new(),
            first_pause,
        }
    }

    /// Returns all addresses.
    pub(crate) fn addresses(&self) -> impl Iterator<Item = &Multiaddr> {
        self.statics.iter().chain(&self.services)
    }

    /// Returns the known identities of the peers.
    pub(crate) fn identities(&self) -> impl Iterator<Item = PeerId> {
        let named = self.addresses().filter_map(peer_id_of);
        named.chain(self.learned.values().copied())
    }

    /// Returns all listed addresses of a peer if `address` is one of them; otherwise only `address`.
    pub(crate) fn addresses_of(&self, peer: PeerId, address: &Multiaddr) -> Vec<Multiaddr> {
        let mut all = Vec::new();
        for known in self.addresses() {
            // A static peer may also be a service peer.
            if peer_id_of(known) == Some(peer) && !all.contains(known) {
                all.push(known.clone());
            }
        }
        match all.contains(address) {
            true => all,
            false => vec![address.clone()],
        }
    }

    /// Returns the peer last reached at an address that contains no peer id.
    pub(crate) fn led_to(&self, address: &Multiaddr) -> Option<PeerId> {
        self.learned.get(address).copied()
    }

    /// Whether an address is due for a dial at `now`, unless its peer is connected.
    pub(crate) fn is_due(&self, address: &Multiaddr, now: Instant) -> bool {
        let failing = self.failing.get(address);
        failing.is_none_or(|failing| failing.next <= now)
    }

    /// Notes that the peer of an address is connected; returns whether it could not be reached before.
    pub(crate) fn connected(&mut self, address: &Multiaddr) -> bool {
        self.failing.remove(address).is_some()
    }

    /// Records which peer was reached at an address, which may contain no peer id; returns whether the address is a
    /// listed one.
    pub(crate) fn reached(&mut self, address: &Multiaddr, peer: PeerId) -> bool {
        let is_kept = self.addresses().any(|known| known == address);
        if is_kept && peer_id_of(address).is_none() {
            self.learned.insert(address.clone(), peer);
        }
        is_kept
    }

    /// Records a failed attempt; returns whether it is the first failure of a listed address.
    pub(crate) fn failed(&mut self, address: &Multiaddr, now: Instant) -> bool {
        if !self.addresses().any(|known| known == address) {
            return false;
        }
        let before = self.failing.get(address).map(|failing| failing.pause);
        let pause = before.map_or(self.first_pause, |pause| (pause * 2).min(PAUSE_MAX));
        let next = now + pause;
        self.failing
            .insert(address.clone(), Failing { pause, next });
        before.is_none()
    }

    /// Replaces the static peers; returns the peers that are no longer kept.
    pub(crate) fn replace_statics(&mut self, statics: Vec<Multiaddr>) -> Vec<PeerId> {
        let former: Vec<_> = self.identities().collect();
        self.statics = statics;
        let (statics, services) = (&self.statics, &self.services);
        let is_kept = |address: &Multiaddr| statics.contains(address) || services.contains(address);
        self.learned.retain(|address, _| is_kept(address));
        self.failing.retain(|address, _| is_kept(address));
        let kept: Vec<_> = self.identities().collect();
        former
            .into_iter()
            .filter(|peer| !kept.contains(peer))
            .collect()
    }
}
