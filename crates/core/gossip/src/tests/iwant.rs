//! The fetcher compared with a naive model, which keeps lists of all events and searches them.

use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

use proptest::prelude::*;

use super::fetcher::{Fetcher, FetcherLimits};
use super::record::{AskWindow, Asked, AskedPeer, Holder, InFlightLimits};
use super::reliability::Reliability;
use crate::time::Time;
use crate::types::{MessageId, PeerIx};

const FOLLOWUP: Duration = Duration::from_millis(30);
const LIMITS: FetcherLimits = FetcherLimits {
    requests_max: 12,
    waiting_max: 5,
    holders_max: 3,
};
const IN_FLIGHT_MAX: usize = 1;
const RETRY_MAX: usize = 3;
const IDS: u8 = 7;
const PEERS: u32 = 6;

#[derive(Clone, Debug)]
enum Op {
    /// A peer is asked for ids.
    Ask {
        ids: BTreeSet<u8>,
        peer: u32,
        reliability: Reliability,
        patience_ms: u64,
        is_binding: bool,
    },
    /// A peer announced an id, which is asked for after a delay.
    AskLater {
        id: u8,
        peer: u32,
        delay_ms: u64,
        wait_ms: u64,
    },
    Received {
        id: u8,
        sender: Option<u32>,
    },
    Forget(u32),
    Unanswered,
    TakeDue,
    Hold {
        for_ms: u64,
    },
    Release,
    Wait {
        ms: u64,
    },
}

fn op() -> impl Strategy<Value = Op> {
    let reliability = prop_oneof![
        Just(Reliability::Trusted),
        Just(Reliability::Untried),
        Just(Reliability::Dubious)
    ];
    let ids = proptest::collection::btree_set(0..IDS, 1..4);
    let ask = (ids, 0..PEERS, reliability, 1..40_u64, any::<bool>());
    prop_oneof![
        4 => ask.prop_map(|(ids, peer, reliability, patience_ms, is_binding)| Op::Ask {
            ids, peer, reliability, patience_ms, is_binding
        }),
        6 => (0..IDS, 0..PEERS, 0..20_u64, 0..20_u64).prop_map(|(id, peer, delay_ms, wait_ms)| {
            Op::AskLater { id, peer, delay_ms, wait_ms }
        }),
        2 => (0..IDS, proptest::option::of(0..PEERS))
            .prop_map(|(id, sender)| Op::Received { id, sender }),
        1 => (0..PEERS).prop_map(Op::Forget),
        1 => Just(Op::Unanswered),
        3 => Just(Op::TakeDue),
        2 => (1..20_u64).prop_map(|for_ms| Op::Hold { for_ms }),
        1 => Just(Op::Release),
        3 => (1..15_u64).prop_map(|ms| Op::Wait { ms }),
    ]
}

/// One request, as it was made.
#[derive(Clone, Debug)]
struct SaidRequest {
    id: u8,
    peer: u32,
    reliability: Reliability,
    given_up: Time,
    expires: Time,
    is_binding: bool,
    is_overdue: bool,
}

/// One id that waits, with its holders in the order of their first announcements.
#[derive(Clone, Debug)]
struct SaidWaiting {
    holders: Vec<(u32, Time)>,
    due: Time,
    deadline: Time,
    is_on_hold: bool,
}

#[derive(Debug, Default)]
struct Model {
    requests: Vec<SaidRequest>,
    waiting: BTreeMap<u8, SaidWaiting>,
}

impl Model {
    fn is_asked(&self, id: u8, peer: u32) -> bool {
        self.requests.iter().any(|r| (r.id, r.peer) == (id, peer))
    }

    fn failed(&self, id: u8, now: Time) -> usize {
        let of_id = self.requests.iter().filter(|r| r.id == id);
        of_id
            .filter(|r| r.given_up <= now && r.reliability != Reliability::Trusted)
            .count()
    }

    fn places(&self, id: u8, reliability: Reliability, now: Time) -> usize {
        let max = (IN_FLIGHT_MAX + self.failed(id, now)).min(RETRY_MAX);
        let taken = self
            .requests
            .iter()
            .filter(|r| r.id == id && r.given_up > now && r.reliability <= reliability)
            .count();
        max.saturating_sub(taken)
    }

    fn dubious_until(&self, id: u8, now: Time) -> Option<Time> {
        let of_id = self.requests.iter().filter(|r| r.id == id);
        let dubious = of_id.filter(|r| r.reliability == Reliability::Dubious && r.given_up > now);
        dubious.map(|r| r.given_up).min()
    }

    fn ask_later(&mut self, id: u8, peer: u32, now: Time, (due, deadline): (Time, Time)) {
        let is_full = self.waiting.len() >= LIMITS.waiting_max;
        match self.waiting.get_mut(&id) {
            Some(waiting) => {
                let holders = &mut waiting.holders;
                if let Some(known) = holders.iter_mut().find(|(known, _)| *known == peer) {
                    known.1 = now;
                } else if holders.len() < LIMITS.holders_max {
                    holders.push((peer, now));
                } else if let Some(worse) = holders.iter_mut().find(|(known, _)| *known > peer) {
                    *worse = (peer, now);
                }
                if !waiting.is_on_hold {
                    waiting.due = waiting.due.min(due);
                }
            }
            None if is_full => {}
            None => {
                let waiting = SaidWaiting {
                    holders: vec![(peer, now)],
                    due,
                    deadline,
                    is_on_hold: false,
                };
                self.waiting.insert(id, waiting);
            }
        }
    }

    fn unanswered(&mut self, now: Time) -> [BTreeMap<u32, u32>; 2] {
        let [mut overdue, mut broken] = [BTreeMap::new(), BTreeMap::new()];
        for request in &mut self.requests {
            let is_overdue = now >= request.given_up || now >= request.expires;
            if is_overdue && !request.is_overdue && request.is_binding {
                *overdue.entry(request.peer).or_default() += 1;
            }
            request.is_overdue |= is_overdue;
            if now >= request.expires && request.is_binding {
                *broken.entry(request.peer).or_default() += 1;
            }
        }
        self.requests.retain(|request| now < request.expires);
        [overdue, broken]
    }

    /// Removes the id that is due first, the smallest of those.
    fn take_due(&mut self, now: Time) -> Option<(u8, Vec<(u32, Time)>)> {
        let waiting = self.waiting.iter().map(|(id, waiting)| (waiting.due, *id));
        let (_, id) = waiting.filter(|(due, _)| *due <= now).min()?;
        let waiting = self.waiting.remove(&id)?;
        Some((id, waiting.holders))
    }

    fn hold(&mut self, now: Time, until: Time) {
        let due = self.waiting.values_mut().filter(|w| w.due <= now);
        for waiting in due.filter(|waiting| waiting.deadline > now) {
            waiting.due = until.min(waiting.deadline);
            waiting.is_on_hold = true;
        }
    }

    fn release(&mut self, now: Time) {
        let on_hold = self.waiting.values_mut().filter(|w| w.is_on_hold);
        for waiting in on_hold {
            (waiting.due, waiting.is_on_hold) = (now, false);
        }
    }
}

fn full(id: u8) -> MessageId {
    MessageId([id; MessageId::LEN])
}

fn by_number(counts: BTreeMap<PeerIx, u32>) -> BTreeMap<u32, u32> {
    let counts = counts.into_iter();
    counts.map(|(peer, count)| (peer.0, count)).collect()
}

fn run(ops: &[Op]) -> Result<(), TestCaseError> {
    let mut now = Time::ZERO;
    let (mut fetcher, mut model) = (Fetcher::new(FOLLOWUP, LIMITS), Model::default());
    for op in ops {
        match op.clone() {
            Op::Ask {
                ids,
                peer,
                reliability,
                patience_ms,
                is_binding,
            } => {
                prop_assert_eq!(
                    fetcher.room(),
                    LIMITS.requests_max.saturating_sub(model.requests.len())
                );
                let is_new = |id: &u8| !model.is_asked(*id, peer);
                let ids: Vec<_> = ids
                    .into_iter()
                    .filter(is_new)
                    .take(fetcher.room())
                    .collect();
                let patience = Duration::from_millis(patience_ms);
                let wanted = ids.iter().map(|id| Asked {
                    id: full(*id),
                    is_binding,
                });
                let asked = AskedPeer {
                    peer: PeerIx(peer),
                    reliability,
                    patience,
                };
                fetcher.on_asked(&wanted.collect::<Vec<_>>(), asked, now);
                let requests = ids.into_iter().map(|id| SaidRequest {
                    id,
                    peer,
                    reliability,
                    given_up: now.after(patience),
                    expires: now.after(FOLLOWUP),
                    is_binding,
                    is_overdue: false,
                });
                model.requests.extend(requests);
            }
            Op::AskLater {
                id,
                peer,
                delay_ms,
                wait_ms,
            } => {
                let due = now.after(Duration::from_millis(delay_ms));
                let deadline = due.after(Duration::from_millis(wait_ms));
                let holder = Holder {
                    peer: PeerIx(peer),
                    heard_at: now,
                };
                // Among these peers a smaller number is the better holder.
                fetcher.ask_later(full(id), holder, AskWindow { due, deadline }, |a, b| a > b);
                model.ask_later(id, peer, now, (due, deadline));
            }
            Op::Received { id, sender } => {
                let was_asked = sender.is_some_and(|sender| model.is_asked(id, sender));
                let told = fetcher.on_received(&full(id), sender.map(PeerIx));
                prop_assert_eq!(told, was_asked);
                model.requests.retain(|request| request.id != id);
                model.waiting.remove(&id);
            }
            Op::Forget(peer) => {
                fetcher.forget(PeerIx(peer));
                model.requests.retain(|request| request.peer != peer);
            }
            Op::Unanswered => {
                let unanswered = fetcher.unanswered(now);
                let counts = [by_number(unanswered.overdue), by_number(unanswered.broken)];
                prop_assert_eq!(counts, model.unanswered(now));
            }
            Op::TakeDue => {
                let taken = fetcher.take_due(now).map(|(id, holders)| {
                    let holders = holders.iter().map(|h| (h.peer.0, h.heard_at));
                    (id.0[0], holders.collect())
                });
                prop_assert_eq!(taken, model.take_due(now));
            }
            Op::Hold { for_ms } => {
                let until = now.after(Duration::from_millis(for_ms));
                fetcher.hold(now, until);
                model.hold(now, until);
            }
            Op::Release => {
                fetcher.release(now);
                model.release(now);
            }
            Op::Wait { ms } => now = now.after(Duration::from_millis(ms)),
        }
        compare(&fetcher, &model, now)?;
    }
    Ok(())
}

fn compare(fetcher: &Fetcher, model: &Model, now: Time) -> Result<(), TestCaseError> {
    prop_assert_eq!(fetcher.requests(), model.requests.len());
    prop_assert_eq!(fetcher.waiting(), model.waiting.len());
    let next = model.waiting.values().map(|waiting| waiting.due).min();
    prop_assert_eq!(fetcher.next_due(), next.unwrap_or(Time::MAX));
    let on_hold = model.waiting.values().any(|waiting| waiting.is_on_hold);
    prop_assert_eq!(fetcher.is_any_on_hold(), on_hold);
    let limits = InFlightLimits {
        now,
        max: IN_FLIGHT_MAX,
        retry_max: RETRY_MAX,
    };
    for id in 0..IDS {
        let known = full(id);
        prop_assert_eq!(fetcher.failed(&known, now), model.failed(id, now));
        prop_assert_eq!(
            fetcher.dubious_until(&known, now),
            model.dubious_until(id, now)
        );
        for reliability in [
            Reliability::Trusted,
            Reliability::Untried,
            Reliability::Dubious,
        ] {
            let places = fetcher.places(&known, reliability, limits);
            prop_assert_eq!(places, model.places(id, reliability, now));
        }
        for peer in 0..PEERS {
            prop_assert_eq!(
                fetcher.is_asked(&known, PeerIx(peer)),
                model.is_asked(id, peer)
            );
        }
    }
    Ok(())
}

proptest! {
    #[test]
    fn the_fetcher_does_what_a_search_through_all_that_was_said_does(
        ops in proptest::collection::vec(op(), 1..120)
    ) {
        run(&ops)?;
    }
}
