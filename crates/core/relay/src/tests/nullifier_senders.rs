use proptest::prelude::*;

use super::*;

const ROOMY: NullifierSenderLimits = NullifierSenderLimits {
    max_nullifiers: 100,
    max_peers_per_nullifier: 100,
};

fn senders(max_nullifiers: usize, max_peers_per_nullifier: usize) -> NullifierSenders {
    NullifierSenders::new(NullifierSenderLimits {
        max_nullifiers,
        max_peers_per_nullifier,
    })
}

/// Records one message of a peer under each nullifier of epoch 1.
fn send(senders: &mut NullifierSenders, peer: u32, nullifiers: &[u64]) {
    for nullifier in nullifiers {
        senders.record(Epoch(1), Fr::from(*nullifier), PeerIx(peer));
    }
}

fn caught(senders: &NullifierSenders, peer: u32, nullifier: u64) -> bool {
    senders.sent_several(Epoch(1), Fr::from(nullifier), PeerIx(peer))
}

#[test]
fn only_the_peer_that_sent_twice_under_the_same_nullifier_is_caught() {
    let mut senders = NullifierSenders::new(ROOMY);
    send(&mut senders, 1, &[7]);
    send(&mut senders, 2, &[7, 8]);
    assert!(!caught(&senders, 1, 7) && !caught(&senders, 2, 7));
    send(&mut senders, 2, &[7]);
    assert!(caught(&senders, 2, 7));
    assert!(!caught(&senders, 1, 7) && !caught(&senders, 2, 8) && !caught(&senders, 3, 7));
}

#[test]
fn the_same_nullifier_in_another_epoch_is_another() {
    let mut senders = NullifierSenders::new(ROOMY);
    senders.record(Epoch(1), Fr::from(7), PeerIx(1));
    senders.record(Epoch(2), Fr::from(7), PeerIx(1));
    assert!(!senders.sent_several(Epoch(1), Fr::from(7), PeerIx(1)));
    assert!(!senders.sent_several(Epoch(2), Fr::from(7), PeerIx(1)));
}

#[test]
fn the_nullifier_longest_known_makes_room() {
    let mut senders = senders(2, 4);
    send(&mut senders, 1, &[1, 1, 2, 2, 1]);
    assert_eq!(senders.len(), 2);
    send(&mut senders, 1, &[3]);
    assert_eq!(senders.len(), 2);
    assert!(!caught(&senders, 1, 1) && caught(&senders, 1, 2));
    // A nullifier that was evicted starts again without senders.
    send(&mut senders, 1, &[1]);
    assert!(!caught(&senders, 1, 1));
}

#[test]
fn of_one_nullifier_the_first_senders_are_remembered() {
    let mut senders = senders(4, 2);
    for peer in [1, 2, 3, 3, 2, 1] {
        send(&mut senders, peer, &[7]);
    }
    assert!(caught(&senders, 1, 7) && caught(&senders, 2, 7) && !caught(&senders, 3, 7));
}

#[test]
fn a_room_of_no_size_remembers_nothing() {
    let mut senders = senders(0, 4);
    send(&mut senders, 1, &[7, 7]);
    assert_eq!(senders.len(), 0);
    assert!(!caught(&senders, 1, 7));
}

#[test]
fn epochs_that_are_over_are_forgotten() {
    let mut senders = NullifierSenders::new(ROOMY);
    for epoch in 1..=3 {
        for _ in 0..2 {
            senders.record(Epoch(epoch), Fr::from(7), PeerIx(1));
        }
    }
    senders.prune(Epoch(2)..=Epoch(2));
    assert_eq!(senders.len(), 1);
    let caught = |epoch| senders.sent_several(Epoch(epoch), Fr::from(7), PeerIx(1));
    assert_eq!([1, 2, 3].map(caught), [false, true, false]);
}

#[test]
fn a_forgotten_peers_index_inherits_nothing() {
    let mut senders = NullifierSenders::new(ROOMY);
    send(&mut senders, 1, &[7]);
    send(&mut senders, 2, &[7, 7]);
    senders.forget(PeerIx(1));
    send(&mut senders, 1, &[7]);
    assert!(!caught(&senders, 1, 7) && caught(&senders, 2, 7));
}

#[derive(Clone, Debug)]
enum Op {
    Record(u64, u64, u32),
    Prune(u64, u64),
    Forget(u32),
}

/// Every recorded message, the oldest first, with the limits applied by counting.
#[derive(Default)]
struct Naive(Vec<((u64, u64), Vec<u32>)>);

impl Naive {
    fn apply(&mut self, op: &Op, limits: NullifierSenderLimits) {
        match *op {
            Op::Record(epoch, nullifier, peer) => {
                let key = (epoch, nullifier);
                let at = self.0.iter().position(|(known, _)| *known == key);
                let at = at.unwrap_or_else(|| {
                    self.0.push((key, Vec::new()));
                    let over = self.0.len().saturating_sub(limits.max_nullifiers);
                    self.0.drain(..over);
                    self.0.len() - 1
                });
                let sent = &mut self.0[at].1;
                let mut peers = sent.clone();
                peers.sort_unstable();
                peers.dedup();
                if peers.contains(&peer) || peers.len() < limits.max_peers_per_nullifier {
                    sent.push(peer);
                }
            }
            Op::Prune(from, to) => self.0.retain(|((e, _), _)| (from..=to).contains(e)),
            Op::Forget(gone) => {
                for (_, sent) in &mut self.0 {
                    sent.retain(|peer| *peer != gone);
                }
            }
        }
    }

    fn sent_several(&self, epoch: u64, nullifier: u64, peer: u32) -> bool {
        let sent = self.0.iter().filter(|(key, _)| *key == (epoch, nullifier));
        sent.flat_map(|(_, sent)| sent)
            .filter(|sender| **sender == peer)
            .count()
            > 1
    }
}

fn ops() -> impl Strategy<Value = Vec<Op>> {
    let op = prop_oneof![
        12 => (0u64..3, 0u64..3, 0u32..4).prop_map(|(e, n, p)| Op::Record(e, n, p)),
        1 => (0u64..3, 0u64..3).prop_map(|(from, to)| Op::Prune(from, to)),
        1 => (0u32..4).prop_map(Op::Forget),
    ];
    proptest::collection::vec(op, 0..80)
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..Default::default() })]

    #[test]
    fn it_remembers_what_a_naive_list_does(
        ops in ops(),
        max_nullifiers in 1usize..6,
        max_peers_per_nullifier in 1usize..5,
    ) {
        let limits = NullifierSenderLimits { max_nullifiers, max_peers_per_nullifier };
        let (mut senders, mut naive) = (NullifierSenders::new(limits), Naive::default());
        for op in &ops {
            naive.apply(op, limits);
            match *op {
                Op::Record(e, n, p) => senders.record(Epoch(e), Fr::from(n), PeerIx(p)),
                Op::Prune(from, to) => senders.prune(Epoch(from)..=Epoch(to)),
                Op::Forget(peer) => senders.forget(PeerIx(peer)),
            }
            prop_assert_eq!(senders.len(), naive.0.len());
            for (e, n, p) in (0..3).flat_map(|e| {
                (0..3).flat_map(move |n| (0..4).map(move |p| (e, n, p)))
            }) {
                prop_assert_eq!(
                    senders.sent_several(Epoch(e), Fr::from(n), PeerIx(p)),
                    naive.sent_several(e, n, p),
                    "epoch {}, nullifier {}, peer {}", e, n, p
                );
            }
        }
    }
}
