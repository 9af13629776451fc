use rand_chacha::rand_core::SeedableRng as _;

use super::*;

fn witness(peer: u64, standing: Standing, ip: Option<&str>) -> Witness {
    Witness {
        peer: PeerNo(peer),
        standing,
        network: ip.map(|ip| Network::of(ip.parse().unwrap())),
    }
}

fn order(candidates: &[Witness], seed: u64) -> Vec<u64> {
    let mut rng = ChaCha8Rng::seed_from_u64(seed);
    let chosen = choose(candidates.to_vec(), &mut rng);
    chosen.iter().map(|one| one.peer.0).collect()
}

#[test]
fn a_named_peer_is_asked_alone() {
    let candidates = [
        witness(0, Standing::Stranger, None),
        witness(1, Standing::Known, None),
        witness(2, Standing::Named, None),
    ];
    assert_eq!(order(&candidates, 1), [2]);
}

#[test]
fn peers_that_were_dialled_come_before_strangers_whatever_their_numbers() {
    let candidates = [
        witness(0, Standing::Stranger, None),
        witness(1, Standing::Stranger, None),
        witness(2, Standing::Known, None),
    ];
    for seed in 0..50 {
        assert_eq!(order(&candidates, seed)[0], 2);
    }
}

#[test]
fn among_equals_each_comes_first_sometimes_and_none_is_left_out() {
    let candidates: Vec<_> = (0..4)
        .map(|peer| witness(peer, Standing::Stranger, None))
        .collect();
    let mut first = [0; 4];
    for seed in 0..200 {
        let mut chosen = order(&candidates, seed);
        first[usize::try_from(chosen[0]).unwrap()] += 1;
        chosen.sort_unstable();
        assert_eq!(chosen, [0, 1, 2, 3]);
    }
    assert!(first.iter().all(|times| *times > 20), "{first:?}");
}

#[test]
fn peers_of_one_24_or_48_are_related_and_peers_without_a_network_stand_for_themselves() {
    let at = |peer, ip| witness(peer, Standing::Stranger, ip);
    let one = at(1, Some("20.1.2.3"));
    assert!(!one.is_unrelated(&at(2, Some("20.1.2.200"))));
    assert!(!one.is_unrelated(&at(2, Some("::ffff:20.1.2.9"))));
    assert!(one.is_unrelated(&at(2, Some("20.1.3.3"))));
    assert!(!one.is_unrelated(&at(1, Some("20.1.3.3"))));
    let one = at(1, Some("2600:1:2:3::1"));
    assert!(!one.is_unrelated(&at(2, Some("2600:1:2:ffff::1"))));
    assert!(one.is_unrelated(&at(2, Some("2600:1:3::1"))));
    assert!(at(1, None).is_unrelated(&at(2, None)));
    assert!(!at(1, None).is_unrelated(&at(1, None)));
}

#[test]
fn the_word_of_a_named_peer_is_taken_alone_and_that_of_others_if_two_are_unrelated() {
    let at = |peer, standing, ip| witness(peer, standing, Some(ip));
    let known = at(1, Standing::Known, "20.1.2.3");
    assert!(!is_believed(&[]));
    assert!(!is_believed(&[known]));
    assert!(!is_believed(&[known, known]));
    assert!(!is_believed(&[known, at(2, Standing::Known, "20.1.2.4")]));
    assert!(is_believed(&[known, at(2, Standing::Stranger, "20.1.3.4")]));
    assert!(is_believed(&[known, at(2, Standing::Named, "20.1.2.4")]));
    assert!(is_believed(&[at(2, Standing::Named, "20.1.2.4")]));
}
