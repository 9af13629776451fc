use proptest::prelude::*;

use super::*;

const POLICY: BatchPolicy = BatchPolicy {
    max_batch: 8,
    single_below: 4,
    max_delay_ns: 10_000,
    suspect_for_ns: 1_000,
};

/// A batch of six just fits the delay.
const COSTS: VerifyCosts = VerifyCosts {
    single_ns: 3_000,
    batch_base_ns: 4_000,
    batch_per_proof_ns: 1_000,
};

const HONEST: u32 = 1;
const ATTACKER: u32 = 2;

fn with_waiting(peers: &[u32]) -> Batcher<usize, u32> {
    let mut batcher = Batcher::new(POLICY, COSTS);
    for (ticket, peer) in peers.iter().enumerate() {
        batcher.push(ticket, *peer);
    }
    batcher
}

#[test]
fn an_idle_worker_takes_what_comes_at_once() {
    let mut batcher = with_waiting(&[HONEST]);
    assert_eq!(batcher.next_job(0), Some(Job::Single(0)));
    assert_eq!(batcher.next_job(0), None);
}

#[test]
fn a_few_are_verified_one_by_one() {
    let mut batcher = with_waiting(&[HONEST; 3]);
    let jobs: Vec<_> = std::iter::from_fn(|| batcher.next_job(0)).collect();
    assert_eq!(jobs, [Job::Single(0), Job::Single(1), Job::Single(2)]);
}

#[test]
fn four_are_verified_together() {
    let mut batcher = with_waiting(&[HONEST; 4]);
    assert_eq!(batcher.next_job(0), Some(Job::Batch(vec![0, 1, 2, 3])));
    assert_eq!(batcher.waiting(), 0);
}

#[test]
fn a_batch_ends_where_the_delay_does() {
    let mut batcher = with_waiting(&[HONEST; 20]);
    assert_eq!(batcher.next_job(0), Some(Job::Batch((0..6).collect())));
    assert_eq!(batcher.next_job(0), Some(Job::Batch((6..12).collect())));
}

#[test]
fn a_batch_ends_at_the_maximum() {
    let mut batcher = with_waiting(&[HONEST; 20]);
    batcher.costs.batch_per_proof_ns = 0;
    assert_eq!(batcher.next_job(0), Some(Job::Batch((0..8).collect())));
}

#[test]
fn where_everything_is_slow_batches_are_small_but_remain() {
    let mut batcher = with_waiting(&[HONEST; 20]);
    batcher.costs.batch_base_ns = 1_000_000;
    assert_eq!(batcher.next_job(0), Some(Job::Batch((0..4).collect())));
}

#[test]
fn a_maximum_of_one_means_no_batches() {
    let mut batcher = with_waiting(&[HONEST; 20]);
    batcher.policy.max_batch = 1;
    assert_eq!(batcher.next_job(0), Some(Job::Single(0)));
}

#[test]
fn a_suspect_is_verified_singly_and_spoils_no_batch() {
    let mut batcher = with_waiting(&[HONEST, ATTACKER, HONEST, HONEST, HONEST, ATTACKER]);
    batcher.bad_proof(ATTACKER, 0);
    assert_eq!(batcher.next_job(0), Some(Job::Batch(vec![0, 2, 3, 4])));
    assert_eq!(batcher.next_job(0), Some(Job::Single(1)));
    assert_eq!(batcher.next_job(0), Some(Job::Single(5)));
}

#[test]
fn suspicion_ends_by_itself_or_is_renewed() {
    let mut batcher = with_waiting(&[ATTACKER; 4]);
    batcher.bad_proof(ATTACKER, 0);
    batcher.bad_proof(ATTACKER, 500);
    assert_eq!(batcher.next_job(1_499), Some(Job::Single(0)));
    batcher.push(4, ATTACKER);
    assert_eq!(batcher.next_job(1_500), Some(Job::Batch(vec![1, 2, 3, 4])));
    assert_eq!(batcher.suspects(), 0);
}

#[test]
fn made_up_peers_take_bounded_memory_and_the_longest_suspect_stays() {
    let mut batcher = Batcher::new(POLICY, COSTS);
    let sybils = 0..MAX_SUSPECTS as u32 + 10;
    for (at, sybil) in sybils.clone().enumerate() {
        batcher.bad_proof(sybil, at as u64);
        batcher.push(sybil, sybil);
    }
    assert_eq!(batcher.suspects(), MAX_SUSPECTS);
    // The first ten were let go, and are batched again.
    assert_eq!(batcher.next_job(0), Some(Job::Batch((0..6).collect())));
}

#[test]
fn costs_are_a_line() {
    assert_eq!(COSTS.batch_ns(0), 4_000);
    assert_eq!(COSTS.batch_ns(6), 10_000);
    assert_eq!(COSTS.batch_within(9_999), 5);
    assert_eq!(COSTS.batch_within(10), 0);
    assert_eq!(COSTS.batch_ns(usize::MAX), u64::MAX);
}

/// The rule, written for one job and without regard to cost.
fn naive(waiting: &mut Vec<(usize, u32)>, suspects: &[(u32, u64)], now_ns: u64) -> Vec<usize> {
    let suspect = |peer: u32| {
        let last = suspects.iter().rev().find(|(who, _)| *who == peer);
        last.is_some_and(|(_, since_ns)| now_ns < since_ns + POLICY.suspect_for_ns)
    };
    let Some((_, first)) = waiting.first() else {
        return Vec::new();
    };
    let trusted = waiting.iter().filter(|(_, peer)| !suspect(*peer));
    let trusted: Vec<_> = trusted.map(|(ticket, _)| *ticket).collect();
    let taken = if suspect(*first) || trusted.len() < 4 {
        vec![waiting[0].0]
    } else {
        trusted[..trusted.len().min(6)].to_vec()
    };
    waiting.retain(|(ticket, _)| !taken.contains(ticket));
    taken
}

#[derive(Clone, Debug)]
enum Event {
    Push(u32),
    Bad(u32),
    Pass(u64),
    Free,
}

fn events() -> impl Strategy<Value = Vec<Event>> {
    let event = prop_oneof![
        6 => (0u32..4).prop_map(Event::Push),
        1 => (0u32..4).prop_map(Event::Bad),
        1 => (0u64..700).prop_map(Event::Pass),
        2 => Just(Event::Free),
    ];
    prop::collection::vec(event, 0..80)
}

proptest! {
    #[test]
    fn equals_the_naive_rule(events in events()) {
        let mut batcher = Batcher::new(POLICY, COSTS);
        let (mut waiting, mut suspects, mut now_ns) = (Vec::new(), Vec::new(), 0);
        for (ticket, event) in events.into_iter().enumerate() {
            match event {
                Event::Push(peer) => {
                    batcher.push(ticket, peer);
                    waiting.push((ticket, peer));
                }
                Event::Bad(peer) => {
                    batcher.bad_proof(peer, now_ns);
                    suspects.push((peer, now_ns));
                }
                Event::Pass(time_ns) => now_ns += time_ns,
                Event::Free => {
                    let expected = naive(&mut waiting, &suspects, now_ns);
                    let job = batcher.next_job(now_ns);
                    let tickets = job.as_ref().map_or(&[][..], Job::tickets);
                    prop_assert_eq!(tickets, &expected);
                }
            }
            prop_assert_eq!(batcher.waiting(), waiting.len());
        }
    }
}
