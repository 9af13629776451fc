//! Pushes handed to the driver and not yet reported as finished, with the memory that they hold.

use std::{
    collections::{BTreeMap, VecDeque},
    time::Duration,
};

use undertone_gossip::Time;

use crate::PeerNo;

#[cfg(test)]
#[path = "tests/in_flight.rs"]
mod tests;

/// Bounds on pushes in flight.
#[derive(Clone, Copy, Debug)]
pub(super) struct PushBounds {
    /// Pushes in flight to one peer.
    pub(super) max_pushes_per_peer: usize,
    /// Bytes in flight to one peer; a peer with nothing in flight gets any message.
    pub(super) max_bytes_per_peer: usize,
    /// Bytes of all messages in flight. A message counts once, however many peers it is being pushed
    /// to.
    pub(super) max_bytes: usize,
    /// Time for which all pushes to a peer may fail before it is dropped.
    pub(super) max_failing: Duration,
}

/// Outcome of a push.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum PushOutcome {
    /// The peer has the message.
    Delivered,
    /// The peer is connected and did not take the message.
    Failed,
    /// The peer is not connected, which is not held against it.
    Away,
}

/// Number of a message in flight; later messages have larger numbers.
type Number = u64;

/// Pushes in flight.
#[derive(Debug)]
pub(super) struct InFlight {
    bounds: PushBounds,
    lanes: BTreeMap<PeerNo, PushLane>,
    messages: BTreeMap<Number, MessageInFlight>,
    /// Bytes of `messages`.
    bytes: usize,
    next: Number,
}

/// Pushes in flight to one peer, in the order in which they are reported.
#[derive(Debug, Default)]
struct PushLane {
    pushes: VecDeque<Number>,
    bytes: usize,
    failing_since: Option<Time>,
}

/// Message in flight.
#[derive(Debug)]
struct MessageInFlight {
    bytes: usize,
    holders: usize,
}

impl InFlight {
    pub(super) fn new(bounds: PushBounds) -> Self {
        Self {
            bounds,
            lanes: BTreeMap::new(),
            messages: BTreeMap::new(),
            bytes: 0,
            next: 0,
        }
    }

    /// Bytes of all messages in flight.
    pub(super) fn bytes(&self) -> usize {
        self.bytes
    }

    /// Number of peers that have pushes in flight or whose last push failed.
    pub(super) fn peers(&self) -> usize {
        self.lanes.len()
    }

    /// Makes room for a message of `bytes`. Drops the pushes of the slowest readers, which hold the
    /// oldest messages, and returns those peers.
    pub(super) fn make_room(&mut self, bytes: usize) -> Vec<PeerNo> {
        let mut slowest = Vec::new();
        while self.bytes + bytes > self.bounds.max_bytes
            && let Some((&oldest, _)) = self.messages.first_key_value()
        {
            let holds = |lane: &PushLane| lane.pushes.front() == Some(&oldest);
            let holders = self.lanes.iter().filter(|(_, lane)| holds(lane));
            let holders: Vec<_> = holders.map(|(&peer, _)| peer).collect();
            for &peer in &holders {
                self.clear(peer);
            }
            slowest.extend(holders);
            self.release(oldest, usize::MAX);
        }
        slowest
    }

    /// Starts a message of `bytes`, which [`push`](Self::push) then adds to the lanes of peers.
    pub(super) fn begin(&mut self, bytes: usize) {
        self.next += 1;
        self.bytes += bytes;
        self.messages
            .insert(self.next, MessageInFlight { bytes, holders: 0 });
    }

    /// Puts the message started last in flight to a peer; returns whether the peer has room for it.
    pub(super) fn push(&mut self, peer: PeerNo) -> bool {
        let Some(message) = self.messages.get_mut(&self.next) else {
            return false;
        };
        let lane = self.lanes.entry(peer).or_default();
        let bytes = lane.bytes + message.bytes;
        let full = lane.pushes.len() >= self.bounds.max_pushes_per_peer
            || bytes > self.bounds.max_bytes_per_peer;
        if full && !lane.pushes.is_empty() {
            return false;
        }
        lane.pushes.push_back(self.next);
        lane.bytes = bytes;
        message.holders += 1;
        true
    }

    /// Finishes the message started last. It is dropped if no peer had room for it.
    pub(super) fn end(&mut self) {
        self.release(self.next, 0);
    }

    /// Records the outcome of the oldest push to a peer; `None` if none is in flight. Otherwise returns
    /// whether the peer is to be dropped, because its pushes have failed for too long.
    pub(super) fn report(&mut self, now: Time, peer: PeerNo, outcome: PushOutcome) -> Option<bool> {
        let lane = self.lanes.get_mut(&peer)?;
        let number = lane.pushes.pop_front()?;
        lane.bytes -= self.messages.get(&number).map_or(0, |m| m.bytes);
        let failing = match outcome {
            PushOutcome::Delivered | PushOutcome::Away => {
                lane.failing_since = None;
                Duration::ZERO
            }
            PushOutcome::Failed => now.since(*lane.failing_since.get_or_insert(now)),
        };
        if lane.pushes.is_empty() && lane.failing_since.is_none() {
            self.lanes.remove(&peer);
        }
        self.release(number, 1);
        Some(failing >= self.bounds.max_failing)
    }

    /// Forgets a peer with its pushes.
    pub(super) fn clear(&mut self, peer: PeerNo) {
        let lane = self.lanes.remove(&peer).unwrap_or_default();
        for number in lane.pushes {
            self.release(number, 1);
        }
    }

    /// Forgets a peer once nothing is in flight to it.
    pub(super) fn clear_if_idle(&mut self, peer: PeerNo) {
        if self
            .lanes
            .get(&peer)
            .is_some_and(|lane| lane.pushes.is_empty())
        {
            self.lanes.remove(&peer);
        }
    }

    /// Releases a message for `holders` peers. It is freed once no peer holds it.
    fn release(&mut self, number: Number, holders: usize) {
        if let Some(message) = self.messages.get_mut(&number) {
            message.holders -= holders.min(message.holders);
            if message.holders == 0 {
                self.bytes -= message.bytes;
                self.messages.remove(&number);
            }
        }
    }
}
