use futures::FutureExt as _;

use super::*;

const MAX: usize = 100;

fn is_told(share: &HeldShare) -> bool {
    share.gives_way().now_or_never().is_some()
}

#[test]
fn shares_are_given_back_when_dropped() {
    let held = HeldBytes::new(MAX);
    let peer = PeerId::random();
    let (one, mut two) = (held.hold(peer, 40), held.hold(peer, 60));
    assert!(two.keep());
    assert_eq!(held.total(), 100);
    assert!(!is_told(&one) && !is_told(&two));
    drop(one);
    assert_eq!(held.total(), 60);
    drop(two);
    assert_eq!(held.total(), 0);
    assert!(held.holders.lock().peers.is_empty());
}

#[test]
fn the_peer_that_holds_the_most_loses_its_oldest_and_others_keep_what_they_have() {
    let held = HeldBytes::new(MAX);
    let (greedy, modest) = (PeerId::random(), PeerId::random());
    let little = held.hold(modest, 10);
    let hoard: Vec<_> = (0..9).map(|_| held.hold(greedy, 10)).collect();
    assert!(!hoard.iter().any(is_told));
    let more = held.hold(modest, 15);
    assert_eq!(hoard.iter().filter(|share| is_told(share)).count(), 2);
    assert!(!is_told(&little) && !is_told(&more));
    assert_eq!(held.total(), 95);
    drop(hoard);
    assert_eq!(held.total(), 25);
}

#[test]
fn a_newcomer_that_wants_too_much_gives_way_itself() {
    let held = HeldBytes::new(MAX);
    let first = held.hold(PeerId::random(), 10);
    let second = held.hold(PeerId::random(), MAX);
    assert!(is_told(&second) && !is_told(&first));
    assert_eq!(held.total(), 10);
    drop(second);
    assert_eq!(held.total(), 10);
}

#[test]
fn what_is_kept_does_not_give_way_and_what_was_told_to_cannot_be_kept() {
    let held = HeldBytes::new(MAX);
    let peer = PeerId::random();
    let mut kept = held.hold(peer, 90);
    assert!(kept.keep());
    let mut late = held.hold(PeerId::random(), 20);
    assert!(is_told(&late) && !is_told(&kept));
    assert!(!late.keep());
    drop(late);
    assert_eq!(held.total(), 90);
}
