//! Tests of contracts without `getRecentRoots`.

use super::*;

impl Rig {
    /// Creates a rig with a contract that has no `getRecentRoots`; our own member is registered.
    fn older() -> Self {
        let mut rig = Self::new(7);
        rig.chain.is_older = true;
        rig.chain.set(member(7, OURS));
        rig.follower.watch(Fr::from(OURS));
        assert_eq!(rig.look(), 5, "block, roots in vain, root, who, path");
        rig
    }

    fn roots(&self) -> Vec<Fr> {
        self.view.lock().roots().iter().copied().collect()
    }
}

#[test]
fn without_recent_roots_the_root_is_followed() {
    let mut rig = Rig::older();
    rig.path_is_right(7);
    for _ in 0..5 {
        rig.chain.number += 1;
        assert_eq!(rig.wake(), 1, "as cheap as with them");
    }
    rig.chain.set(member(8, 5));
    // No block in between is requested: the root was the old one until the last block but one.
    assert_eq!(
        rig.wake(),
        8,
        "root, block, root, old root, 3 between, path"
    );
    rig.path_is_right(7);
    assert_eq!(rig.ours(), Some(Some(member(7, OURS))));
    rig.chain.set(member(9, 5));
    assert_eq!(rig.wake(), 5, "root, block, root, old root, path");
    assert_eq!(rig.roots(), rig.chain.roots[7..]);
}

#[test]
fn without_recent_roots_those_between_two_looks_are_found() {
    let mut rig = Rig::older();
    for index in 8..40 {
        rig.chain.set(member(index, u64::from(index)));
        rig.chain.number += u64::from(index) % 7;
        if index % 4 == 0 {
            rig.wake();
        }
    }
    rig.wake();
    assert_eq!(rig.roots(), rig.chain.roots[7..]);
    rig.path_is_right(7);

    // The endpoint does not have older blocks: the roots that it reports are used.
    let before = rig.roots();
    rig.chain.states = 1;
    rig.chain.set(member(40, 40));
    rig.chain.set(member(41, 41));
    rig.wake();
    assert_eq!(rig.roots()[..before.len()], before);
    assert_eq!(rig.roots().len(), before.len() + 1);
    rig.path_is_right(7);
    assert_eq!(rig.wake(), 1);
}

#[test]
fn without_recent_roots_a_replaced_block_is_noticed_too() {
    let mut rig = Rig::older();
    for index in 8..12 {
        rig.chain.set(member(index, u64::from(index)));
        rig.wake();
    }
    let gone = rig.chain.roots.pop().unwrap();
    rig.chain.heights.pop();
    rig.chain.tree.remove(11).unwrap();
    rig.chain.number += 1;
    rig.chain.set(member(11, 500));
    rig.chain.set(member(12, 501));
    rig.follower.wake();
    let mut news = News::default();
    while let Next::Ask(ask) = rig.follower.next() {
        if let LightOutcome::Synced(it) = rig.follower.answer(rig.chain.answer(&ask)).unwrap() {
            news = it;
        }
    }
    assert!(news.is_fork);
    assert!(rig.roots().contains(&gone), "for a while");
    rig.chain.number += 40;
    rig.wake();
    assert_eq!(rig.roots(), rig.chain.roots[7..]);
}

#[test]
fn a_contract_that_gets_recent_roots_is_asked_for_them_within_an_hour() {
    let mut rig = Rig::older();
    rig.chain.is_older = false;
    rig.chain.set(member(8, 5));
    let (mut looks, mut asked) = (0, None);
    while !matches!(asked, Some(Ask::Recent { .. })) {
        rig.follower.wake();
        let Next::Ask(ask) = rig.follower.next() else {
            panic!("a look has a question");
        };
        if !matches!(ask, Ask::Recent { .. }) {
            rig.chain.is_older = true;
            rig.look();
            rig.chain.is_older = false;
        }
        looks += 1;
        asked = Some(ask);
    }
    assert_eq!(looks, LOOKS_BY_ROOT);
    rig.look();
    assert_eq!(rig.wake(), 1);
    rig.path_is_right(7);

    // The contract becomes an older one again.
    rig.chain.is_older = true;
    rig.chain.set(member(9, 6));
    rig.wake();
    assert_eq!(rig.wake(), 1);
    rig.path_is_right(7);
}

/// The endpoint refuses both functions, so the contract does not just lack `getRecentRoots`.
#[test]
fn an_endpoint_that_refuses_all_is_not_taken_for_an_older_contract() {
    let mut rig = Rig::with_us();
    rig.chain.set(member(8, 5));
    rig.follower.wake();
    assert_eq!(
        rig.follower.answer(Answer::Refused).unwrap(),
        LightOutcome::Going
    );
    assert_eq!(rig.follower.next(), Next::Ask(Ask::RootOf { height: None }));
    rig.follower.failed();
    assert_eq!(rig.follower.next(), Next::Ask(Ask::Recent { at: None }));
    assert_eq!(rig.look(), 4);
}
