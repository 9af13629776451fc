use std::collections::BTreeSet;

use proptest::prelude::*;
use undertone_message::MessageHash;

use super::{DeliveryMemory, Remembered};

fn hash(number: u8) -> MessageHash {
    MessageHash([number; 32])
}

#[test]
fn the_oldest_is_forgotten_first_and_then_counts_as_too_old() {
    let mut memory = DeliveryMemory::new(2);
    assert_eq!(memory.pushed(hash(1), 10, 100), Remembered::New);
    assert_eq!(memory.pushed(hash(2), 20, 100), Remembered::New);
    assert_eq!(memory.pushed(hash(3), 30, 100), Remembered::New);
    assert_eq!(memory.forgotten_until(), Some(10));
    assert_eq!(memory.pushed(hash(1), 10, 100), Remembered::TooOld);
    assert_eq!(memory.pushed(hash(2), 20, 100), Remembered::Known);
}

#[test]
fn a_flood_of_recent_messages_does_not_make_new_ones_look_old() {
    let mut memory = DeliveryMemory::new(2);
    memory.pushed(hash(1), 1000, 900);
    memory.pushed(hash(2), 1000, 900);
    assert_eq!(memory.pushed(hash(3), 1001, 900), Remembered::Full);
    assert_eq!(memory.forgotten_until(), None);
    // Later, when the flood is old, there is space again.
    assert_eq!(memory.pushed(hash(3), 1001, 1001), Remembered::New);
}

#[test]
fn a_recovered_message_older_than_all_is_delivered_and_forgotten_at_once() {
    let mut memory = DeliveryMemory::new(1);
    memory.pushed(hash(9), 1000, 900);
    assert_eq!(memory.recovered(hash(1), 10, 900), Remembered::New);
    assert_eq!(memory.forgotten_until(), Some(10));
    assert_eq!(memory.pushed(hash(1), 10, 900), Remembered::TooOld);
    assert_eq!(memory.timestamp(&hash(9)), Some(1000));
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..Default::default() })]

    /// Each hash has one timestamp, as a hash covers it.
    #[test]
    fn no_pushed_message_is_new_twice_and_the_bound_holds(
        capacity in 1..8_usize,
        pushes in proptest::collection::vec((any::<u8>(), 0..60_i64), 0..200),
    ) {
        let mut memory = DeliveryMemory::new(capacity);
        let mut delivered = BTreeSet::new();
        for (number, keep_from) in pushes {
            let timestamp = i64::from(number) / 4;
            if memory.pushed(hash(number), timestamp, keep_from) == Remembered::New {
                prop_assert!(delivered.insert(number), "{number} twice");
            }
            prop_assert!(memory.timestamps.len() <= capacity);
            prop_assert_eq!(memory.timestamps.len(), memory.oldest_first.len());
        }
    }
}
