//! Reservations at relays, through which an unreachable node is reached: how many are wanted, and which relays are
//! asked.

use std::collections::BTreeMap;
use std::time::{Duration, Instant};

use libp2p::PeerId;
use libp2p::core::transport::ListenerId;

/// Number of relays at which the node wants a reservation.
const WANTED: usize = 2;

/// Time before a relay that refused or was lost is asked again.
const RETRY: Duration = Duration::from_secs(60);

/// Maximum number of relays whose last request is remembered; each is forgotten after [`RETRY`] anyway.
const ASKED_MAX: usize = 64;

/// Reservations at relays, and relays asked recently.
#[derive(Debug, Default)]
pub(crate) struct Reservations {
    /// One listener for each reservation.
    held: Vec<(ListenerId, PeerId)>,
    asked: BTreeMap<PeerId, Instant>,
}

impl Reservations {
    /// Chooses which of the connected relays to ask now.
    pub(crate) fn choose(
        &mut self,
        now: Instant,
        relays: impl IntoIterator<Item = PeerId>,
    ) -> Vec<PeerId> {
        self.asked
            .retain(|_, asked| now.duration_since(*asked) < RETRY);
        let missing = WANTED.saturating_sub(self.held.len());
        let room = ASKED_MAX.saturating_sub(self.asked.len());
        let fresh = relays
            .into_iter()
            .filter(|relay| !self.asked.contains_key(relay) && !self.has(relay));
        let chosen: Vec<_> = fresh.take(missing.min(room)).collect();
        self.asked.extend(chosen.iter().map(|relay| (*relay, now)));
        chosen
    }

    fn has(&self, relay: &PeerId) -> bool {
        self.held.iter().any(|(_, held)| held == relay)
    }

    /// Records that a relay was asked for a reservation, which `listener` represents until it is closed.
    pub(crate) fn begin(&mut self, listener: ListenerId, relay: PeerId) {
        self.held.push((listener, relay));
    }

    /// Records that a reservation ended or was refused; returns its relay.
    pub(crate) fn end(&mut self, listener: ListenerId) -> Option<PeerId> {
        let place = self.held.iter().position(|(held, _)| *held == listener)?;
        Some(self.held.remove(place).1)
    }

    /// Returns the listeners of all reservations, to be closed when they are no longer needed.
    pub(crate) fn listeners(&self) -> Vec<ListenerId> {
        self.held.iter().map(|(listener, _)| *listener).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn peers(count: usize) -> Vec<PeerId> {
        (0..count).map(|_| PeerId::random()).collect()
    }

    #[test]
    fn two_relays_are_asked_and_another_one_when_a_place_is_lost() {
        let (mut places, relays, start) = (Reservations::default(), peers(4), Instant::now());
        let chosen = places.choose(start, relays.clone());
        assert_eq!(chosen, relays[..2]);
        let listeners = [ListenerId::next(), ListenerId::next()];
        for (listener, relay) in listeners.iter().zip(&chosen) {
            places.begin(*listener, *relay);
        }
        assert_eq!(places.choose(start, relays.clone()), []);
        assert_eq!(places.end(listeners[0]), Some(relays[0]));
        assert_eq!(places.choose(start, relays.clone()), [relays[2]]);
        // The lost one is asked again later.
        places.begin(ListenerId::next(), relays[2]);
        places.end(listeners[1]);
        assert_eq!(places.choose(start + RETRY, relays.clone()), [relays[0]]);
    }

    #[test]
    fn many_relays_that_refuse_are_remembered_within_bounds() {
        let (mut places, start) = (Reservations::default(), Instant::now());
        for _ in 0..100 {
            places.choose(start, peers(2));
        }
        assert_eq!(places.asked.len(), ASKED_MAX);
        assert_eq!(places.choose(start, peers(2)), []);
        assert_eq!(places.choose(start + RETRY, peers(2)).len(), 2);
    }
}
