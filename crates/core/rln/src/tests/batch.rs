use proptest::prelude::*;

use super::*;

const POLICY: BatchPolicy = BatchPolicy {
    max_batch: 8,
    single_below: 4,
    max_delay_ns: 10_000,
    suspect_for_ns: 1_000,
};

/// Costs at which a batch of six takes exactly the maximum delay.
const COSTS: VerifyCosts = VerifyCosts {
    single_ns: 3_000,
    batch_base_ns: 4_000,
    batch_per_proof_ns: 1_000,
};

const HONEST: u32 = 1;
const OTHER: u32 = 3;
const ATTACKER: u32 = 2;

/// First peer number that belongs to a peer without a good proof.
const FIRST_STRANGER: u32 = 100;

fn batcher() -> Batcher<usize, u32> {
    let mut batcher = Batcher::new(POLICY, COSTS);
    [HONEST, OTHER, ATTACKER]
        .into_iter()
        .for_each(|peer| batcher.good_proof(peer));
    batcher
}

fn with_waiting(peers: &[u32]) -> Batcher<usize, u32> {
    let mut batcher = batcher();
    for (ticket, peer) in peers.iter().enumerate() {
        batcher.push(ticket, *peer);
    }
    batcher
}

fn jobs(batcher: &mut Batcher<usize, u32>) -> Vec<Job<usize>> {
    std::iter::from_fn(|| batcher.next_job(0)).collect()
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
fn peers_take_turns() {
    let mut batcher = with_waiting(&[HONEST, HONEST, HONEST, HONEST, HONEST, OTHER, OTHER]);
    // The largest batch within the delay has six proofs.
    assert_eq!(
        batcher.next_job(0),
        Some(Job::Batch(vec![0, 5, 1, 6, 2, 3]))
    );
    assert_eq!(batcher.next_job(0), Some(Job::Single(4)));
}

#[test]
fn a_flood_of_newcomers_costs_the_others_no_more_than_their_share() {
    let mut batcher = batcher();
    let strangers = FIRST_STRANGER..FIRST_STRANGER + 50;
    for (ticket, stranger) in strangers.enumerate() {
        batcher.push(1_000 + ticket, stranger);
    }
    // A time in which only newcomers waited has no effect on later shares.
    for _ in 0..10 {
        batcher.next_job(0);
    }
    let mut served = Vec::new();
    for ticket in 0..12 {
        batcher.push(ticket, HONEST);
        served.extend(batcher.next_job(0).unwrap().tickets().iter().copied());
    }
    let honest: Vec<_> = served.iter().filter(|t| **t < 1_000).copied().collect();
    assert_eq!(honest, (0..honest.len()).collect::<Vec<_>>());
    assert!((9..12).contains(&honest.len()), "{served:?}");
    assert!(honest.len() < served.len(), "newcomers are served as well");
}

#[test]
fn newcomers_are_verified_singly_until_a_proof_of_theirs_holds() {
    let mut batcher = Batcher::new(POLICY, COSTS);
    (0..6).for_each(|ticket| batcher.push(ticket, HONEST));
    assert_eq!(batcher.next_job(0), Some(Job::Single(0)));
    batcher.good_proof(HONEST);
    assert_eq!(batcher.next_job(0), Some(Job::Batch(vec![1, 2, 3, 4, 5])));
}

#[test]
fn a_proof_that_is_taken_back_is_not_verified() {
    let mut batcher = with_waiting(&[HONEST, OTHER, HONEST]);
    assert_eq!(batcher.remove(|ticket| *ticket == 1), Some(1));
    assert_eq!(batcher.remove(|ticket| *ticket == 1), None);
    assert_eq!(batcher.waiting(), 2);
    assert_eq!(jobs(&mut batcher), [Job::Single(0), Job::Single(2)]);
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
fn suspicion_ends_by_itself_or_is_renewed_and_a_good_proof_does_not_end_it() {
    let mut batcher = with_waiting(&[ATTACKER; 5]);
    batcher.bad_proof(ATTACKER, 0);
    batcher.bad_proof(ATTACKER, 500);
    batcher.good_proof(ATTACKER);
    assert_eq!(batcher.next_job(1_499), Some(Job::Single(0)));
    assert_eq!(batcher.next_job(1_500), Some(Job::Single(1)), "a newcomer");
    assert_eq!(batcher.suspects(), 0);
    batcher.good_proof(ATTACKER);
    batcher.push(5, ATTACKER);
    assert_eq!(batcher.next_job(1_500), Some(Job::Batch(vec![2, 3, 4, 5])));
}

#[test]
fn made_up_peers_take_bounded_memory_and_the_longest_suspect_stays() {
    let mut batcher: Batcher<u32, u32> = Batcher::new(POLICY, COSTS);
    let sybils = 0..MAX_SUSPECTS as u32 + 10;
    for (at, sybil) in sybils.clone().enumerate() {
        batcher.bad_proof(sybil, at as u64);
    }
    assert_eq!(batcher.suspects(), MAX_SUSPECTS);
    assert!((0..10).all(|sybil| batcher.class_of(sybil) == NEWCOMERS));
    assert_eq!(batcher.class_of(10), SUSPECTS);
}

#[test]
fn peers_with_good_proofs_take_bounded_memory_and_the_latest_stay() {
    let mut batcher: Batcher<u32, u32> = Batcher::new(POLICY, COSTS);
    let peers = MAX_PROVEN as u32 + 1;
    batcher.push(7, 1);
    for peer in (0..peers).chain([0]) {
        batcher.good_proof(peer);
    }
    assert_eq!(batcher.proven.len(), MAX_PROVEN);
    assert_eq!(
        [0, 1].map(|peer| batcher.class_of(peer)),
        [PROVEN, NEWCOMERS]
    );
    assert_eq!(batcher.next_job(0), Some(Job::Single(7)));
}

#[test]
fn of_a_peer_that_is_not_proven_the_next_proof_waits_for_the_end_of_the_first() {
    let mut batcher = Batcher::new(POLICY, COSTS);
    for (ticket, peer) in [HONEST, HONEST, OTHER].into_iter().enumerate() {
        batcher.push(ticket, peer);
    }
    assert_eq!(batcher.next_job(0), Some(Job::Single(0)));
    batcher.taken(HONEST);
    assert_eq!(batcher.next_job(0), Some(Job::Single(2)), "another peer's");
    batcher.taken(OTHER);
    assert_eq!(batcher.next_job(0), None);
    assert_eq!(batcher.waiting(), 1);
    batcher.settled(HONEST);
    assert_eq!(batcher.next_job(0), Some(Job::Single(1)));
}

#[test]
fn costs_are_a_line() {
    assert_eq!(COSTS.batch_ns(0), 4_000);
    assert_eq!(COSTS.batch_ns(6), 10_000);
    assert_eq!(COSTS.batch_within(9_999), 5);
    assert_eq!(COSTS.batch_within(10), 0);
    assert_eq!(COSTS.batch_ns(usize::MAX), u64::MAX);
}

/// Reference model without regard to efficiency: one list of all waiting proofs, in order of arrival,
/// from which turns, classes and shares are recomputed at each step.
#[derive(Default)]
struct Naive {
    waiting: Vec<(usize, u32)>,
    proven: Vec<u32>,
    suspects: Vec<(u32, u64)>,
    /// Peers of the proofs in hand, one entry for each proof.
    in_hand: Vec<u32>,
    /// Peers of each class, in round-robin order.
    turns: [Vec<u32>; 3],
    spent_ns: [u64; 3],
    served_ns: u64,
}

impl Naive {
    fn class(&self, peer: u32) -> usize {
        if self.suspects.iter().any(|(who, _)| *who == peer) {
            2
        } else if self.proven.contains(&peer) {
            0
        } else {
            1
        }
    }

    /// Updates the turns after proofs were added or removed or a peer changed class.
    fn settle(&mut self) {
        for class in 0..3 {
            let was_empty = self.turns[class].is_empty();
            let mut turns = std::mem::take(&mut self.turns[class]);
            turns.retain(|peer| self.waits(*peer) && self.class(*peer) == class);
            for (_, peer) in &self.waiting {
                if self.class(*peer) == class && !turns.contains(peer) {
                    turns.push(*peer);
                }
            }
            if was_empty && !turns.is_empty() {
                self.spent_ns[class] = self.spent_ns[class].max(self.served_ns);
            }
            self.turns[class] = turns;
        }
    }

    /// Whether a proof of the peer may be taken.
    fn may_go(&self, peer: u32) -> bool {
        self.class(peer) == 0 || !self.in_hand.contains(&peer)
    }

    fn waits(&self, peer: u32) -> bool {
        self.waiting.iter().any(|(_, who)| *who == peer)
    }

    fn next(&mut self, now_ns: u64) -> Vec<usize> {
        let ended = |(_, since_ns): &(u32, u64)| since_ns + POLICY.suspect_for_ns <= now_ns;
        while let Some(place) = (0..self.suspects.len())
            .filter(|place| ended(&self.suspects[*place]))
            .min_by_key(|place| self.suspects[*place].0)
        {
            self.suspects.remove(place);
            self.settle();
        }
        let may_go = |peer: &u32| self.may_go(*peer);
        let waiting = (0..3).filter(|class| self.turns[*class].iter().any(may_go));
        let Some(class) = waiting.min_by_key(|class| self.spent_ns[*class]) else {
            return Vec::new();
        };
        self.served_ns = self.spent_ns[class];
        let of_class = self.waiting.iter().filter(|(_, p)| self.class(*p) == class);
        let of_class = of_class.count();
        let count = if class == 0 && of_class >= 4 {
            of_class.min(6)
        } else {
            1
        };
        let mut taken = Vec::new();
        for _ in 0..count {
            let next = self.turns[class].iter().position(|p| self.may_go(*p));
            let peer = self.turns[class].remove(next.unwrap());
            let place = self.waiting.iter().position(|(_, p)| *p == peer).unwrap();
            taken.push(self.waiting.remove(place).0);
            if self.waits(peer) {
                self.turns[class].push(peer);
            }
        }
        let cost_ns = if count == 1 {
            3_000
        } else {
            4_000 + 1_000 * count as u64
        };
        self.spent_ns[class] += cost_ns * [1, 4, 12][class];
        taken
    }
}

#[derive(Clone, Debug)]
enum Event {
    Push(u32),
    Remove(usize),
    Good(u32),
    Bad(u32),
    Taken(u32),
    Settled(u32),
    Pass(u64),
    Free,
}

fn events() -> impl Strategy<Value = Vec<Event>> {
    let event = prop_oneof![
        8 => (0u32..5).prop_map(Event::Push),
        1 => (0usize..80).prop_map(Event::Remove),
        2 => (0u32..5).prop_map(Event::Good),
        1 => (0u32..5).prop_map(Event::Bad),
        1 => (0u32..5).prop_map(Event::Taken),
        1 => (0u32..5).prop_map(Event::Settled),
        1 => (0u64..700).prop_map(Event::Pass),
        3 => Just(Event::Free),
    ];
    prop::collection::vec(event, 0..120)
}

proptest! {
    #[test]
    fn equals_the_naive_rule(events in events()) {
        let mut batcher = Batcher::new(POLICY, COSTS);
        let (mut naive, mut now_ns) = (Naive::default(), 0);
        for (ticket, event) in events.into_iter().enumerate() {
            match event {
                Event::Push(peer) => {
                    batcher.push(ticket, peer);
                    naive.waiting.push((ticket, peer));
                }
                Event::Remove(which) => {
                    let place = naive.waiting.iter().position(|(ticket, _)| *ticket == which);
                    let expected = place.map(|place| naive.waiting.remove(place).0);
                    prop_assert_eq!(batcher.remove(|ticket| *ticket == which), expected);
                }
                Event::Good(peer) => {
                    batcher.good_proof(peer);
                    if naive.class(peer) != 2 {
                        naive.proven.push(peer);
                    }
                }
                Event::Bad(peer) => {
                    batcher.bad_proof(peer, now_ns);
                    naive.proven.retain(|other| *other != peer);
                    naive.suspects.retain(|(other, _)| *other != peer);
                    naive.suspects.push((peer, now_ns));
                }
                Event::Taken(peer) => {
                    batcher.taken(peer);
                    naive.in_hand.push(peer);
                }
                Event::Settled(peer) => {
                    batcher.settled(peer);
                    let one = naive.in_hand.iter().position(|who| *who == peer);
                    if let Some(at) = one {
 naive.in_hand.remove(at);
 }
                }
                Event::Pass(time_ns) => now_ns += time_ns,
                Event::Free => {
                    let expected = naive.next(now_ns);
                    let job = batcher.next_job(now_ns);
                    let tickets = job.as_ref().map_or(&[][..], Job::tickets);
                    prop_assert_eq!(tickets, &expected);
                }
            }
            naive.settle();
            prop_assert_eq!(batcher.waiting(), naive.waiting.len());
        }
    }
}
