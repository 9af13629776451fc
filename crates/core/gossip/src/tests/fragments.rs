//! Fragments: a split payload is reassembled, and nothing else is accepted.

use std::time::Duration;

use bytes::Bytes;
use proptest::prelude::*;

use crate::Time;
use crate::fragments::{
    Assembler, AssemblerLimits, FRAGMENTS_MAX, Fragment, FragmentError, overhead_bytes, split,
};

fn payload(len: usize, seed: u8) -> Bytes {
    (0..len)
        .map(|i| (i as u8).wrapping_mul(31) ^ seed)
        .collect()
}

fn read(fragments: &[Bytes]) -> Vec<Fragment> {
    let read = fragments.iter().map(|bytes| Fragment::read(bytes).unwrap());
    read.collect()
}

proptest! {
    #[test]
    fn a_payload_comes_together_in_any_order(
        len in 64..5_000_usize,
        count in 2..=FRAGMENTS_MAX,
        order in any::<u64>(),
    ) {
        let whole = payload(len, 1);
        let mut fragments = read(&split(&whole, count).unwrap());
        // Rotating and swapping reaches many orders.
        let n = fragments.len();
        fragments.rotate_left(order as usize % n);
        fragments.swap(0, (order >> 32) as usize % n);
        let mut assembler = Assembler::new(AssemblerLimits::default());
        let last = fragments.pop().unwrap();
        for fragment in fragments {
            prop_assert_eq!(assembler.take(Time::ZERO, b"", b"", fragment.clone()), None);
            prop_assert_eq!(assembler.take(Time::ZERO, b"", b"", fragment), None, "a second copy");
        }
        prop_assert_eq!(assembler.take(Time::ZERO, b"", b"", last), Some(whole));
        prop_assert_eq!((assembler.len(), assembler.bytes()), (0, 0));
    }

    #[test]
    fn whatever_is_not_a_fragment_is_refused(bytes in proptest::collection::vec(any::<u8>(), 0..300)) {
        let _ = Fragment::read(&Bytes::from(bytes));
    }

    #[test]
    fn a_changed_byte_is_noticed(len in 64..500_usize, at in any::<prop::sample::Index>()) {
        let fragments = split(&payload(len, 2), 4).unwrap();
        let original = Fragment::read(&fragments[1]).unwrap();
        let mut changed = fragments[1].to_vec();
        let at = at.index(changed.len());
        changed[at] ^= 1;
        // A fragment that is still valid belongs to another payload: its list differs, and so does its hash.
        if let Ok(fragment) = Fragment::read(&Bytes::from(changed)) {
            prop_assert_ne!((fragment.whole, fragment.index), (original.whole, original.index));
        }
    }
}

#[test]
fn a_fragment_costs_its_list_of_hashes() {
    let whole = payload(50_000, 3);
    let fragments = split(&whole, 4).unwrap();
    let lengths: Vec<_> = fragments.iter().map(Bytes::len).collect();
    assert_eq!(lengths, [12_500 + overhead_bytes(4); 4]);
    assert_eq!(overhead_bytes(4), 134);
}

#[test]
fn a_count_that_cannot_be_is_refused() {
    for (len, count) in [(100, 0), (100, 1), (100, 65), (3, 4), (0, 2)] {
        assert_eq!(
            split(&payload(len, 0), count),
            Err(FragmentError::Count { count })
        );
    }
    let mut fragment = split(&payload(100, 0), 2).unwrap()[0].to_vec();
    fragment[4] = 2;
    let beyond = Fragment::read(&Bytes::from(fragment.clone()));
    assert_eq!(beyond, Err(FragmentError::Count { count: 2 }));
    fragment[5] = 200;
    let beyond = Fragment::read(&Bytes::from(fragment));
    assert_eq!(beyond, Err(FragmentError::Count { count: 200 }));
}

#[test]
fn a_foreign_part_cannot_spoil_a_whole() {
    let ours = split(&payload(100, 1), 2).unwrap();
    let theirs = split(&payload(100, 2), 2).unwrap();
    // Hash list of our payload with a part of theirs.
    let mut forged = ours[1][..overhead_bytes(2)].to_vec();
    forged.extend_from_slice(&theirs[1][overhead_bytes(2)..]);
    assert_eq!(
        Fragment::read(&Bytes::from(forged)),
        Err(FragmentError::Hash { index: 1 })
    );
}

#[test]
fn equal_wholes_of_different_places_are_kept_apart() {
    let fragments = read(&split(&payload(100, 1), 2).unwrap());
    let mut assembler = Assembler::new(AssemblerLimits::default());
    assert_eq!(
        assembler.take(Time::ZERO, b"", b"1", fragments[0].clone()),
        None
    );
    assert_eq!(
        assembler.take(Time::ZERO, b"", b"2", fragments[1].clone()),
        None
    );
    assert!(
        assembler
            .take(Time::ZERO, b"", b"1", fragments[1].clone())
            .is_some()
    );
}

#[test]
fn a_whole_comes_once() {
    let fragments = read(&split(&payload(100, 1), 2).unwrap());
    let mut assembler = Assembler::new(AssemblerLimits::default());
    for round in 0..2 {
        let first = assembler.take(Time::ZERO, b"", b"", fragments[0].clone());
        let second = assembler.take(Time::ZERO, b"", b"", fragments[1].clone());
        assert_eq!((first, second.is_some()), (None, round == 0));
    }
    assert!(assembler.is_empty());
}

#[test]
fn a_whole_waits_from_its_last_part_on_and_gives_way_by_it() {
    let limits = AssemblerLimits {
        wholes_max: 2,
        bytes_max: 10_000,
        timeout: Duration::from_secs(30),
    };
    let mut assembler = Assembler::new(limits);
    let slow = read(&split(&payload(400, 1), 4).unwrap());
    let at = |seconds| Time::ZERO.after(Duration::from_secs(seconds));
    for (part, fragment) in (0..).zip(&slow[..3]) {
        let other = read(&split(&payload(100, 2 + part), 2).unwrap());
        assembler.take(at(29 * u64::from(part)), b"", b"", other[0].clone());
        let taken = assembler.take(at(29 * u64::from(part)), b"", b"", fragment.clone());
        assert_eq!(taken, None);
    }
    assert!(assembler.take(at(87), b"", b"", slow[3].clone()).is_some());
    assert_eq!(assembler.len(), 1);
}

#[test]
fn parts_do_not_wait_for_ever_and_do_not_pile_up() {
    let limits = AssemblerLimits {
        wholes_max: 3,
        bytes_max: 1_000,
        timeout: Duration::from_secs(30),
    };
    let mut assembler = Assembler::new(limits);
    for seed in 0..10 {
        let fragments = read(&split(&payload(200, seed), 2).unwrap());
        assembler.take(Time::ZERO, b"", b"", fragments[0].clone());
        assert!(assembler.len() <= 3);
    }
    assert_eq!((assembler.len(), assembler.bytes()), (3, 300));
    let large = read(&split(&payload(1_900, 77), 2).unwrap());
    assembler.take(Time::ZERO, b"", b"", large[0].clone());
    assert_eq!(
        (assembler.len(), assembler.bytes()),
        (1, 950),
        "the newest stays"
    );
    let late = Time::ZERO.after(Duration::from_secs(30));
    assert_eq!(
        assembler.take(late, b"", b"", large[1].clone()),
        None,
        "the first part is gone"
    );
    assert_eq!(assembler.len(), 1);
}

#[test]
fn a_source_that_sends_many_parts_does_not_drop_what_others_began() {
    for (wholes_max, bytes_max) in [(3, 100_000), (100, 1_000)] {
        let limits = AssemblerLimits {
            wholes_max,
            bytes_max,
            timeout: Duration::from_secs(30),
        };
        let mut assembler = Assembler::new(limits);
        let ours = read(&split(&payload(200, 0), 2).unwrap());
        assembler.take(Time::ZERO, b"friend", b"", ours[0].clone());
        for seed in 1..50 {
            let flood = read(&split(&payload(300, seed), 2).unwrap());
            assembler.take(Time::ZERO, b"stranger", b"", flood[0].clone());
            assert!(assembler.len() <= wholes_max && assembler.bytes() <= bytes_max);
        }
        let whole = assembler.take(Time::ZERO, b"friend", b"", ours[1].clone());
        assert_eq!(whole, Some(payload(200, 0)));
    }
}
