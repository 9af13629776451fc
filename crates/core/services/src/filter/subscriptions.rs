//! Criteria of all subscribed peers, with an index from criterion to peers.

use std::{
    collections::{BTreeMap, BTreeSet},
    sync::Arc,
    time::Duration,
};

use undertone_gossip::Time;

use crate::PeerNo;

#[cfg(test)]
#[path = "tests/subscriptions.rs"]
mod tests;

/// Bytes charged for each criterion in the index, besides its texts: a generous estimate of its entry.
const CRITERION_BYTES: usize = 208;

/// Bytes charged for each criterion of each peer: its entries in the peer's set and in the index.
const ENTRY_BYTES: usize = 96;

/// Pubsub topic and content topic of messages that a peer wants.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct FilterCriterion {
    /// Topic that the message is published on.
    pub pubsub_topic: Arc<str>,
    /// Content topic of the message.
    pub content_topic: Arc<str>,
}

impl FilterCriterion {
    /// Bytes charged for the criterion in the index.
    fn bytes(&self) -> usize {
        CRITERION_BYTES + self.pubsub_topic.len() + self.content_topic.len()
    }
}

/// Bounds on subscriptions.
#[derive(Clone, Copy, Debug)]
pub(super) struct SubscriptionBounds {
    pub(super) max_peers: usize,
    pub(super) max_criteria_per_peer: usize,
    /// Bytes charged for all criteria. Half of them are divided equally among all peers.
    pub(super) max_bytes: usize,
    /// Divisor for the free bytes of the other half: a peer may hold the quotient if that is more than its
    /// equal part.
    pub(super) share: usize,
    pub(super) ttl: Duration,
}

impl SubscriptionBounds {
    /// Bytes that a peer may hold when all of them together hold `bytes`.
    fn bytes_of_peer(&self, bytes: usize) -> usize {
        let half = self.max_bytes / 2;
        let part = half / self.max_peers.max(1);
        let share = half.saturating_sub(bytes) / self.share.max(1);
        part.max(share)
    }
}

/// Reason why criteria were not added. None of the request's criteria was added.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Full {
    /// The server has its maximum number of peers.
    Peers,
    /// The peer would exceed its maximum number of criteria.
    Criteria,
    /// The peer would exceed its memory.
    Bytes,
}

/// Criteria of all subscribed peers.
#[derive(Debug)]
pub(super) struct Subscriptions {
    bounds: SubscriptionBounds,
    peers: BTreeMap<PeerNo, Subscriber>,
    /// Peers of each criterion, ascending.
    index: BTreeMap<FilterCriterion, Vec<PeerNo>>,
    /// Bytes charged for `index` and all entries.
    bytes: usize,
}

/// Subscribed peer; it has at least one criterion.
#[derive(Debug)]
struct Subscriber {
    criteria: BTreeSet<FilterCriterion>,
    /// Bytes that the criteria would be charged if no other peer had them.
    bytes: usize,
    seen_at: Time,
    away_since: Option<Time>,
}

impl Subscriptions {
    pub(super) fn new(bounds: SubscriptionBounds) -> Self {
        Self {
            bounds,
            peers: BTreeMap::new(),
            index: BTreeMap::new(),
            bytes: 0,
        }
    }

    pub(super) fn bytes(&self) -> usize {
        self.bytes
    }

    pub(super) fn peers(&self) -> usize {
        self.peers.len()
    }

    pub(super) fn criteria(&self) -> usize {
        self.index.len()
    }

    /// Whether the peer has a subscription that has not expired.
    pub(super) fn contains(&self, now: Time, peer: PeerNo) -> bool {
        let alive = |s: &Subscriber| now.since(s.seen_at) <= self.bounds.ttl;
        self.peers.get(&peer).is_some_and(alive)
    }

    /// Iterates over the peers with an unexpired subscription that matches a message.
    pub(super) fn wanting(
        &self,
        now: Time,
        wanted: &FilterCriterion,
    ) -> impl Iterator<Item = PeerNo> {
        let peers = self.index.get(wanted).map_or(&[][..], Vec::as_slice);
        peers
            .iter()
            .copied()
            .filter(move |&peer| self.contains(now, peer))
    }

    /// Iterates over the peers with their criteria.
    pub(super) fn iter(&self) -> impl Iterator<Item = (PeerNo, &BTreeSet<FilterCriterion>)> {
        self.peers.iter().map(|(&peer, s)| (peer, &s.criteria))
    }

    /// Keeps the peer's subscription alive.
    pub(super) fn refresh(&mut self, now: Time, peer: PeerNo) {
        if let Some(subscriber) = self.peers.get_mut(&peer) {
            subscriber.seen_at = now;
        }
    }

    /// Marks the peer as connected.
    pub(super) fn mark_here(&mut self, peer: PeerNo) {
        if let Some(subscriber) = self.peers.get_mut(&peer) {
            subscriber.away_since = None;
        }
    }

    /// Marks the peer as disconnected.
    pub(super) fn mark_away(&mut self, now: Time, peer: PeerNo) {
        if let Some(subscriber) = self.peers.get_mut(&peer) {
            subscriber.away_since.get_or_insert(now);
        }
    }

    pub(super) fn is_away(&self, peer: PeerNo) -> bool {
        self.peers
            .get(&peer)
            .is_some_and(|s| s.away_since.is_some())
    }

    /// Adds criteria to those of the peer: all or none.
    pub(super) fn add(
        &mut self,
        now: Time,
        peer: PeerNo,
        criteria: BTreeSet<FilterCriterion>,
    ) -> Result<(), Full> {
        let held = self.peers.get(&peer);
        if held.is_none() && self.peers.len() >= self.bounds.max_peers {
            return Err(Full::Peers);
        }
        let is_new =
            |criterion: &FilterCriterion| held.is_none_or(|s| !s.criteria.contains(criterion));
        let criteria: Vec<_> = criteria.into_iter().filter(is_new).collect();
        if held.map_or(0, |s| s.criteria.len()) + criteria.len() > self.bounds.max_criteria_per_peer
        {
            return Err(Full::Criteria);
        }
        let entry_bytes = criteria.len() * ENTRY_BYTES;
        let unshared: usize = criteria.iter().map(FilterCriterion::bytes).sum();
        let not_indexed = criteria
            .iter()
            .filter(|criterion| !self.index.contains_key(criterion));
        let added: usize = not_indexed.map(FilterCriterion::bytes).sum();
        let bytes = self.bytes + added + entry_bytes;
        let own_bytes = held.map_or(0, |s| s.bytes) + unshared + entry_bytes;
        if !criteria.is_empty() && own_bytes > self.bounds.bytes_of_peer(bytes) {
            return Err(Full::Bytes);
        }
        if held.is_none() && criteria.is_empty() {
            return Ok(());
        }
        self.bytes = bytes;
        let subscriber = self.peers.entry(peer).or_insert_with(|| Subscriber {
            criteria: BTreeSet::new(),
            bytes: 0,
            seen_at: now,
            away_since: None,
        });
        subscriber.seen_at = now;
        subscriber.bytes = own_bytes;
        for criterion in criteria {
            // A criterion's texts are charged once, so all peers must share them.
            let known = self.index.get_key_value(&criterion);
            let criterion = known.map_or(criterion, |(known, _)| known.clone());
            let peers = self.index.entry(criterion.clone()).or_default();
            if let Err(place) = peers.binary_search(&peer) {
                peers.insert(place, peer);
            }
            subscriber.criteria.insert(criterion);
        }
        Ok(())
    }

    /// Removes criteria of the peer; returns how many of them it had.
    pub(super) fn remove(
        &mut self,
        now: Time,
        peer: PeerNo,
        criteria: &BTreeSet<FilterCriterion>,
    ) -> usize {
        let Some(subscriber) = self.peers.get_mut(&peer) else {
            return 0;
        };
        subscriber.seen_at = now;
        let mut removed = Vec::new();
        for criterion in criteria {
            if let Some(criterion) = subscriber.criteria.take(criterion) {
                subscriber.bytes -= criterion.bytes() + ENTRY_BYTES;
                removed.push(criterion);
            }
        }
        if subscriber.criteria.is_empty() {
            self.peers.remove(&peer);
        }
        for criterion in &removed {
            self.take_from_index(peer, criterion);
        }
        removed.len()
    }

    /// Removes every criterion of the peer.
    pub(super) fn remove_peer(&mut self, peer: PeerNo) {
        if let Some(subscriber) = self.peers.remove(&peer) {
            for criterion in &subscriber.criteria {
                self.take_from_index(peer, criterion);
            }
        }
    }

    /// Removes expired peers and returns them.
    pub(super) fn expire(&mut self, now: Time) -> Vec<PeerNo> {
        let expired = |s: &Subscriber| now.since(s.seen_at) > self.bounds.ttl;
        let peers = self.peers.iter().filter(|(_, s)| expired(s));
        let peers: Vec<_> = peers.map(|(&peer, _)| peer).collect();
        for &peer in &peers {
            self.remove_peer(peer);
        }
        peers
    }

    /// Removes the peer that has been away the longest, and returns it; `None` if none is away.
    pub(super) fn evict_away(&mut self) -> Option<PeerNo> {
        let away = self
            .peers
            .iter()
            .filter_map(|(&peer, s)| Some((s.away_since?, peer)));
        let (_, peer) = away.min()?;
        self.remove_peer(peer);
        Some(peer)
    }

    fn take_from_index(&mut self, peer: PeerNo, criterion: &FilterCriterion) {
        let Some(peers) = self.index.get_mut(criterion) else {
            return;
        };
        if let Ok(place) = peers.binary_search(&peer) {
            peers.remove(place);
            self.bytes -= ENTRY_BYTES;
        }
        if peers.is_empty() {
            self.index.remove(criterion);
            self.bytes -= criterion.bytes();
        }
    }
}
