use proptest::prelude::*;

use super::*;

fn roots(numbers: &[u64]) -> Vec<Fr> {
    numbers.iter().map(|n| Fr::from(*n)).collect()
}

fn recent(numbers: &[u64]) -> Recent {
    Recent {
        roots: roots(numbers),
        is_full: numbers.len() == 5,
    }
}

fn block(number: u64) -> BlockRef {
    BlockRef {
        number,
        hash: [number as u8; 32].into(),
    }
}

fn orphans(view: &LightView) -> Vec<Fr> {
    view.known.orphans.iter().map(|it| it.root).collect()
}

#[test]
fn roots_add_up_to_the_window() {
    let mut view = LightView::new(6);
    assert!(view.roots().is_empty());
    assert_eq!(view.take(block(1), &recent(&[]), None), News::default());
    assert!(view.roots().is_empty(), "an empty contract lets nobody in");
    assert!(view.take(block(2), &recent(&[1, 2]), None).is_any);
    assert!(view.take(block(3), &recent(&[1, 2, 3, 4, 5]), None).is_any);
    assert!(view.take(block(4), &recent(&[4, 5, 6, 7, 8]), None).is_any);
    assert_eq!(view.known.roots, roots(&[3, 4, 5, 6, 7, 8]));
    assert!(!view.take(block(5), &recent(&[4, 5, 6, 7, 8]), None).is_any);
    let accepted: Vec<_> = view.roots().iter().copied().collect();
    assert_eq!(accepted, roots(&[3, 4, 5, 6, 7, 8]));
}

#[test]
fn every_root_counts_and_missed_ones_as_a_whole_window() {
    let mut view = LightView::new(50);
    view.take(block(1), &recent(&[1, 2]), None);
    let before = view.revision();
    view.take(block(2), &recent(&[1, 2, 3, 4]), None);
    assert!(view.revision() >= before + 2);
    let before = view.revision();
    view.take(block(3), &recent(&[1, 2, 3, 4]), None);
    assert_eq!(view.revision(), before, "nothing new");
    view.take(block(4), &recent(&[10, 11, 12, 13, 14]), None);
    assert!(view.revision() >= before + 50);
    assert_eq!(
        view.known.roots,
        roots(&[1, 2, 3, 4, 10, 11, 12, 13, 14]),
        "those of before are roots of this chain too"
    );
}

#[test]
fn roots_of_replaced_blocks_stay_for_a_while() {
    let mut view = LightView::new(50);
    view.take(block(10), &recent(&[1, 2, 3, 4, 5]), None);
    let news = view.take(block(11), &recent(&[2, 3, 40, 50]), None);
    assert!(news.is_fork);
    assert_eq!(view.known.roots, roots(&[1, 2, 3, 40, 50]));
    assert_eq!(orphans(&view), roots(&[4, 5]));
    assert!(view.roots().contains(&Fr::from(5)));
    view.take(block(11 + ORPHAN_BLOCKS), &recent(&[2, 3, 40, 50]), None);
    assert!(view.roots().contains(&Fr::from(5)));
    assert!(
        view.take(block(12 + ORPHAN_BLOCKS), &recent(&[2, 3, 40, 50]), None)
            .is_any
    );
    assert!(!view.roots().contains(&Fr::from(5)));
    assert_eq!(view.roots().newest(), Some(Fr::from(50)));
}

#[test]
fn a_chain_that_begins_anew_keeps_nothing_for_long() {
    let mut view = LightView::new(50);
    view.take(block(10), &recent(&[1, 2, 3]), None);
    view.take(block(11), &recent(&[7, 8]), None);
    assert_eq!(view.known.roots, roots(&[7, 8]));
    assert_eq!(orphans(&view), roots(&[1, 2, 3]));
    view.take(block(12), &recent(&[]), None);
    assert!(view.known.roots.is_empty());
}

#[test]
fn a_root_that_comes_back_is_no_orphan() {
    let mut view = LightView::new(50);
    view.take(block(10), &recent(&[1, 2, 3]), None);
    view.take(block(11), &recent(&[1, 2]), None);
    assert_eq!(orphans(&view), roots(&[3]));
    view.take(block(12), &recent(&[1, 2, 3]), None);
    assert!(orphans(&view).is_empty());
    assert_eq!(view.known.roots, roots(&[1, 2, 3]));
}

#[test]
fn what_was_kept_is_believed_as_far_as_it_fits_together() {
    let member = Member {
        index: MemberIndex::new(3).unwrap(),
        commitment: Fr::from(7),
        limit: 20,
    };
    let mut tree = undertone_rln::MerkleTree::new();
    tree.set(3, member.leaf()).unwrap();
    let path = tree.path(3).unwrap();
    let known = |root| LightState {
        block: Some(block(1)),
        roots: vec![Fr::from(1), root],
        orphans: Vec::new(),
        own: Some(Own {
            commitment: member.commitment,
            place: Some(OwnPlace {
                member,
                path: path.clone(),
            }),
        }),
    };
    let view = LightView::of(known(tree.root()), 50);
    assert_eq!(view.membership(member.commitment), Some(Some(member)));
    assert_eq!(View::path(&view, member.index), Some(path.clone()));
    assert_eq!(View::path(&view, MemberIndex::new(4).unwrap()), None);
    let view = LightView::of(known(Fr::from(5)), 50);
    assert_eq!(view.membership(member.commitment), None);
    assert_eq!(view.roots().len(), 2);
}

proptest! {
    /// The chain is polled after every few changes, with a few different roots.
    #[test]
    fn no_root_that_was_among_the_five_is_lost(
        steps in proptest::collection::vec((1..6usize, proptest::collection::vec(0..4u64, 6)), 1..30),
    ) {
        let mut view = LightView::new(1_000);
        let mut history: Vec<u64> = Vec::new();
        for (at, (changes, new)) in steps.iter().enumerate() {
            // Numbers repeat, as roots do when a member comes and goes.
            history.extend(new[..*changes].iter().map(|n| n + 10));
            let ring = &history[history.len().saturating_sub(5)..];
            let mut of_chain = recent(ring);
            of_chain.roots.dedup();
            view.take(block(at as u64), &of_chain, None);
            prop_assert!(of_chain.roots.iter().all(|root| view.roots().contains(root)));
            prop_assert_eq!(view.known.roots.last(), of_chain.roots.last());
            prop_assert_eq!(view.roots().newest(), of_chain.roots.last().copied());
        }
    }

    /// All roots differ, and the chain is replaced now and then: the known roots are the chain's,
    /// and roots of abandoned blocks stay only for their time.
    #[test]
    fn after_any_reorganisation_the_newest_roots_are_the_chains(
        steps in proptest::collection::vec((0..4usize, 0..5usize), 1..40),
    ) {
        let mut view = LightView::new(1_000);
        let mut chain: Vec<u64> = Vec::new();
        let (mut next, mut height) = (1, 1);
        for (undo, new) in steps {
            chain.truncate(chain.len().saturating_sub(undo));
            for _ in 0..new {
                chain.push(next);
                next += 1;
            }
            height += 1;
            view.take(block(height), &recent(&chain[chain.len().saturating_sub(5)..]), None);
            // Fewer than five changes are taken back, so that one of the five is always known.
            let known: Vec<_> = chain.iter().map(|n| Fr::from(*n)).collect();
            let all = view.known.roots.iter().all(|root| known.contains(root));
            prop_assert!(all, "{:?} of {chain:?}", view.known.roots);
            let ends_alike = known.ends_with(&view.known.roots[view.known.roots.len().saturating_sub(5)..]);
            prop_assert!(ends_alike, "{:?} of {chain:?}", view.known.roots);
            for orphan in &view.known.orphans {
                prop_assert!(orphan.until_block <= height + ORPHAN_BLOCKS);
            }
        }
    }
}
