use libp2p::multiaddr::Protocol;
use undertone_services::trust::{Standing, Witness};

use super::*;

fn point(number: u64) -> Candidate {
    Candidate {
        address: Multiaddr::empty().with(Protocol::Memory(number)),
        witness: Witness {
            peer: PeerNo(number),
            standing: Standing::Known,
            network: None,
        },
    }
}

fn used(turn: &mut Turn, numbers: &[u64]) -> Multiaddr {
    let points = numbers.iter().map(|number| point(*number)).collect();
    turn.next(points).unwrap()
}

#[test]
fn points_are_used_one_after_the_other_in_whatever_order_they_are_listed() {
    let mut turn = Turn::default();
    assert_eq!(turn.next(Vec::new()), None);
    assert_eq!(used(&mut turn, &[7, 3, 5]), point(3).address);
    assert_eq!(used(&mut turn, &[3, 5, 7]), point(5).address);
    assert_eq!(used(&mut turn, &[5, 7, 3]), point(7).address);
    assert_eq!(used(&mut turn, &[7, 5, 3]), point(3).address);
    // One is gone, and another has come.
    assert_eq!(used(&mut turn, &[7, 3, 4]), point(4).address);
    assert_eq!(used(&mut turn, &[3, 7]), point(7).address);
}
