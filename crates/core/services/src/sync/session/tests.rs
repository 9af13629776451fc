use std::collections::BTreeSet;
use std::sync::Arc;

use rand_chacha::ChaCha8Rng;
use rand_core::{RngCore as _, SeedableRng as _};
use undertone_message::MessageHash;

use super::*;
use other::Other;

mod large;
mod liars;
mod other;
mod random;

const TOPIC: &str = "/waku/2/rs/1/0";
const CHAT: &str = "/chat/1/room/proto";

/// Start of the synchronised time: a present-day time, because nwaku needs nine bytes for it.
const START_NS: u64 = 1_700_000_000_000_000_000;
const HOUR_NS: u64 = 3_600_000_000_000;

type Ids = BTreeSet<SyncId>;

/// Message with a time and a number; its hash is unrelated to those of others.
fn message(after_ns: u64, number: u64) -> SyncId {
    let mut hash = [0; 32];
    ChaCha8Rng::seed_from_u64(after_ns << 16 | number).fill_bytes(&mut hash);
    id(after_ns, hash)
}

fn id(after_ns: u64, hash: [u8; 32]) -> SyncId {
    SyncId {
        time_ns: START_NS + after_ns,
        hash: MessageHash(hash),
    }
}

fn set_of<'a>(ids: impl IntoIterator<Item = &'a SyncId>) -> SyncSet {
    let mut set = SyncSet::new(&SyncLimits::default());
    for id in ids {
        insert(&mut set, *id, TOPIC, CHAT);
    }
    set
}

fn insert(set: &mut SyncSet, id: SyncId, pubsub_topic: &str, content_topic: &str) {
    let time_ns = id.time_ns as i64;
    assert!(set.insert(time_ns, id.hash, pubsub_topic.into(), content_topic.into()));
}

/// What one side knows after a session.
#[derive(Debug, Default, PartialEq, Eq)]
struct Known {
    to_send: Ids,
    to_receive: Ids,
}

impl Known {
    /// Adds the result of a step; nothing may be reported twice.
    fn add(&mut self, step: &SyncStep) {
        for id in &step.to_send {
            assert!(self.to_send.insert(*id), "{id:?} is to be sent twice");
        }
        for id in &step.to_receive {
            assert!(self.to_receive.insert(*id), "{id:?} is missing twice");
        }
    }
}

/// A session that is over.
#[derive(Debug, Default)]
struct Outcome {
    ours: Known,
    theirs: Known,
    /// Payloads of both sides.
    sent: Vec<Vec<u8>>,
}

impl Outcome {
    fn bytes(&self) -> usize {
        self.sent.iter().map(Vec::len).sum()
    }
}

fn initiate(set: &SyncSet, scope: &SyncScope, limits: SyncLimits) -> (Reconciler, Vec<u8>) {
    let (start_ns, end_ns) = (START_NS as i64, (START_NS + HOUR_NS) as i64);
    Reconciler::initiate(set, scope.clone(), start_ns, end_ns, limits)
}

fn respond(scope: &SyncScope, limits: SyncLimits) -> Reconciler {
    Reconciler::respond(scope.clone(), START_NS as i64, limits)
}

/// Runs a session between two instances of this implementation.
fn reconcile(ours: &SyncSet, theirs: &SyncSet, scopes: [&SyncScope; 2]) -> Outcome {
    reconcile_with(ours, theirs, scopes, [SyncLimits::default(); 2])
}

/// Runs a session between two instances of this implementation with possibly different parameters.
fn reconcile_with(
    ours: &SyncSet,
    theirs: &SyncSet,
    scopes: [&SyncScope; 2],
    limits: [SyncLimits; 2],
) -> Outcome {
    let mut outcome = Outcome::default();
    let (mut a, mut payload) = initiate(ours, scopes[0], limits[0]);
    let mut b = respond(scopes[1], limits[1]);
    loop {
        outcome.sent.push(payload.clone());
        let (session, set, known) = match outcome.sent.len() % 2 {
            1 => (&mut b, theirs, &mut outcome.theirs),
            _ => (&mut a, ours, &mut outcome.ours),
        };
        let step = session.handle(set, &payload).unwrap();
        known.add(&step);
        let Some(reply) = step.reply else {
            return outcome;
        };
        let decoded = RangesPayload::decode(&reply, &SyncLimits::default()).unwrap();
        assert!(decoded.ranges.iter().all(|range| range.lower < range.upper));
        payload = reply;
    }
}

fn reconcile_all(ours: &SyncSet, theirs: &SyncSet) -> Outcome {
    let all = SyncScope::default();
    reconcile(ours, theirs, [&all, &all])
}

fn differences(ours: &Ids, theirs: &Ids) -> Known {
    Known {
        to_send: ours.difference(theirs).copied().collect(),
        to_receive: theirs.difference(ours).copied().collect(),
    }
}

fn check(ours: &Ids, theirs: &Ids) -> Outcome {
    let outcome = reconcile_all(&set_of(ours), &set_of(theirs));
    assert_eq!(outcome.ours, differences(ours, theirs));
    assert_eq!(outcome.theirs, differences(theirs, ours));
    outcome
}

/// Random messages, all within the time of a session.
fn random_ids(rng: &mut ChaCha8Rng, count: usize) -> Vec<SyncId> {
    let make = |_| {
        let mut hash = [0; 32];
        rng.fill_bytes(&mut hash);
        id(rng.next_u64() % HOUR_NS, hash)
    };
    (0..count).map(make).collect()
}

#[test]
fn equal_sets_take_one_payload_and_its_answer() {
    let mut rng = ChaCha8Rng::seed_from_u64(1);
    let ids: Ids = random_ids(&mut rng, 1000).into_iter().collect();
    let outcome = check(&ids, &ids);
    assert_eq!(outcome.sent.len(), 2);
    assert!(outcome.bytes() < 70);
}

#[test]
fn a_new_archive_learns_everything_in_one_answer() {
    let mut rng = ChaCha8Rng::seed_from_u64(2);
    let ids: Ids = random_ids(&mut rng, 1000).into_iter().collect();
    assert_eq!(check(&Ids::new(), &ids).sent.len(), 3);
    check(&ids, &Ids::new());
    check(&Ids::new(), &Ids::new());
}

#[test]
fn one_difference_is_found_in_the_largest_set_by_one_fingerprint() {
    let mut rng = ChaCha8Rng::seed_from_u64(3);
    let all = random_ids(&mut rng, 10_000);
    let ours: Ids = all.iter().copied().collect();
    let theirs: Ids = all[1..].iter().copied().collect();
    let outcome = check(&theirs, &ours);
    assert!(outcome.bytes() < 200, "{}", outcome.bytes());
    check(&ours, &theirs);
}

#[test]
fn messages_of_one_timestamp_are_told_apart_by_name() {
    let ids: Vec<_> = (0..256).map(|number| message(5, number)).collect();
    let ours: Ids = ids[..250].iter().copied().collect();
    let theirs: Ids = ids[3..].iter().copied().collect();
    check(&ours, &theirs);
    let odd: Ids = ids.iter().skip(1).step_by(2).copied().collect();
    let even: Ids = ids.iter().step_by(2).copied().collect();
    check(&odd, &even);
}

#[test]
fn only_messages_of_topics_that_both_sides_want_are_compared() {
    let scope = |topics: &[&str]| SyncScope {
        pubsub_topics: topics.iter().map(|&topic| Arc::from(topic)).collect(),
        content_topics: BTreeSet::new(),
    };
    let set = |number| {
        let mut set = set_of([]);
        insert(&mut set, message(1, number), "/waku/2/rs/1/0", CHAT);
        insert(&mut set, message(2, number), "/waku/2/rs/1/1", CHAT);
        insert(&mut set, message(3, number), "/waku/2/rs/1/2", CHAT);
        set
    };
    let (ours, theirs) = (set(1), set(2));
    let both = scope(&["/waku/2/rs/1/0", "/waku/2/rs/1/1"]);
    let one = scope(&["/waku/2/rs/1/1", "/waku/2/rs/1/2"]);
    for (scopes, times) in [
        ([&both, &one], &[2][..]),
        ([&one, &both], &[2]),
        ([&both, &scope(&[])], &[1, 2]),
        ([&scope(&[]), &both], &[1, 2]),
        ([&scope(&[]), &scope(&[])], &[1, 2, 3]),
        ([&both, &scope(&["/waku/2/rs/1/2"])], &[]),
    ] {
        let outcome = reconcile(&ours, &theirs, scopes);
        let expected: Ids = times.iter().map(|&time| message(time, 1)).collect();
        assert_eq!(outcome.ours.to_send, expected);
        assert_eq!(outcome.theirs.to_receive, expected);
    }
}

#[test]
fn messages_of_before_the_start_are_not_compared_on_their_own() {
    let old = SyncId {
        time_ns: START_NS - 10,
        hash: MessageHash([1; 32]),
    };
    let set = set_of(&[old]);
    let limits = SyncLimits::default();
    let (mut asker, payload) = Reconciler::initiate(
        &set_of(&[]),
        SyncScope::default(),
        START_NS as i64 - 20,
        START_NS as i64,
        limits,
    );
    let step = respond(&SyncScope::default(), limits)
        .handle(&set, &payload)
        .unwrap();
    assert_eq!((step.to_send, step.is_last), (vec![], true));
    let end = asker.handle(&set_of(&[]), &step.reply.unwrap());
    assert!(end.unwrap().is_last);
}

#[test]
fn a_set_that_changes_in_a_session_changes_the_next_session_only() {
    let (ours, theirs) = (set_of(&[id(1, [1; 32])]), set_of(&[id(2, [2; 32])]));
    let limits = SyncLimits::default();
    let (mut a, first) = initiate(&ours, &SyncScope::default(), limits);
    let mut b = respond(&SyncScope::default(), limits);
    let second = b.handle(&theirs, &first).unwrap().reply.unwrap();
    let later = set_of(&[id(1, [1; 32]), id(2, [2; 32])]);
    let step = a.handle(&later, &second).unwrap();
    assert_eq!(step.to_receive, [id(2, [2; 32])]);
    assert_eq!(step.to_send, [id(1, [1; 32])]);
}

#[test]
fn a_fingerprint_that_neither_side_can_explain_is_returned_once_and_then_split() {
    // Ten ranges of a second each, in which both sides have the same messages, and then ten in which each
    // side has one message of its own besides.
    let second = |number: u64| SyncId::at(START_NS + number * 1_000_000_000);
    let sets = [1, 2].map(|side| {
        let mut ids = Ids::new();
        for number in 0..20 {
            let common = (0..6).map(|i| message(number * 1_000_000_000 + i, 0));
            ids.extend(common);
            if number >= 10 {
                ids.insert(message(number * 1_000_000_000 + 10, side));
            }
        }
        set_of(&ids)
    });
    let view = sets[0].view(&SyncScope::default());
    let fingerprinted = |number| {
        let (lower, upper) = (second(number), second(number + 1));
        let content = RangeContent::Fingerprint(view.fingerprint(lower, upper));
        SyncRange {
            lower,
            upper,
            content,
        }
    };
    let payload = RangesPayload {
        ranges: (0..20).map(fingerprinted).collect(),
        ..RangesPayload::default()
    };
    let mut session = respond(&SyncScope::default(), SyncLimits::default());
    let mut bounds = || {
        let reply = session.handle(&sets[1], &payload.encode()).unwrap().reply;
        let reply = RangesPayload::decode(&reply.unwrap(), &SyncLimits::default()).unwrap();
        let says = |range: &&SyncRange| matches!(range.content, RangeContent::Fingerprint(_));
        let bounds = reply.ranges.iter().filter(says).map(|r| (r.lower, r.upper));
        bounds.collect::<Vec<_>>()
    };
    let whole: Vec<_> = (10..20).map(|n| (second(n), second(n + 1))).collect();
    assert_eq!(bounds(), whole);
    let split = bounds();
    assert_eq!(split.len(), 20);
    assert!(!whole.iter().any(|range| split.contains(range)));
}

#[test]
fn an_honest_session_stays_far_below_the_limit_on_rounds() {
    for seed in 0..20 {
        let mut rng = ChaCha8Rng::seed_from_u64(seed);
        let all = random_ids(&mut rng, 3000);
        let third = |skip: usize| all.iter().skip(skip).step_by(3).copied();
        let ours: Ids = third(0).chain(third(1)).collect();
        let theirs: Ids = third(0).chain(third(2)).collect();
        assert!(check(&ours, &theirs).sent.len() < 24, "seed {seed}");
    }
}

/// Runs a session between this implementation and a peer that behaves like nwaku.
fn reconcile_with_other(ours: &Ids, theirs: &Ids, we_initiate: bool) {
    let set = set_of(ours);
    let limits = SyncLimits::default();
    let mut other = Other::new(theirs);
    let mut known = Known::default();
    let all = SyncScope::default();
    let (mut session, mut payload) = match we_initiate {
        true => {
            let (session, first) = initiate(&set, &all, limits);
            (session, other.handle(&first))
        }
        false => (respond(&all, limits), Some(other.first())),
    };
    while let Some(arrived) = payload {
        let step = session.handle(&set, &arrived).unwrap();
        known.add(&step);
        payload = step.reply.and_then(|reply| other.handle(&reply));
        assert!(session.rounds() < 40);
    }
    let expected = differences(ours, theirs);
    // nwaku counts only what it lacks, and sends what the peer does not report having.
    assert_eq!(known.to_send, expected.to_send);
    assert_eq!(other.to_send, expected.to_receive);
}

#[test]
fn a_peer_with_the_habits_of_nwaku_finds_the_same_differences() {
    for seed in 0..6 {
        let mut rng = ChaCha8Rng::seed_from_u64(seed);
        let all = random_ids(&mut rng, 4000);
        for share in [1, 10, 1000] {
            let part = |rng: &mut ChaCha8Rng| -> Ids {
                let keeps = |_: &&SyncId| !rng.next_u32().is_multiple_of(share);
                all.iter().filter(keeps).copied().collect()
            };
            let (ours, theirs) = (part(&mut rng), part(&mut rng));
            reconcile_with_other(&ours, &theirs, seed % 2 == 0);
        }
    }
}
