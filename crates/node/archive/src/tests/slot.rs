use proptest::prelude::*;

use super::*;

const HOUR_NS: i64 = 3_600_000_000_000;

fn range(first_ns: i64, last_ns: i64) -> SlotRange {
    SlotRange { first_ns, last_ns }
}

#[test]
fn a_new_slot_is_a_cell_of_the_grid() {
    assert_eq!(SlotRange::new_for(25, 10, &[]), range(20, 29));
    assert_eq!(SlotRange::new_for(-1, 10, &[]), range(-10, -1));
}

#[test]
fn a_new_slot_leaves_room_for_its_neighbours() {
    let existing = [range(0, 22), range(27, 40)];
    assert_eq!(SlotRange::new_for(25, 10, &existing), range(23, 26));
}

#[test]
fn the_first_and_last_timestamps_have_slots() {
    for timestamp in [i64::MIN, i64::MAX] {
        assert!(SlotRange::new_for(timestamp, HOUR_NS, &[]).contains(timestamp));
    }
}

proptest! {
    #[test]
    fn slots_never_overlap(steps in prop::collection::vec((any::<i64>(), 1..1000_i64, any::<bool>()), 1..60)) {
        let mut slots: Vec<SlotRange> = Vec::new();
        for (timestamp, width, near) in steps {
            let timestamp = if near { timestamp % 5000 } else { timestamp };
            if SlotRange::find(&slots, timestamp).is_none() {
                let new = SlotRange::new_for(timestamp, width, &slots);
                prop_assert!(new.contains(timestamp));
                slots.push(new);
                slots.sort();
            }
            prop_assert!(SlotRange::find(&slots, timestamp).is_some());
            prop_assert!(slots.windows(2).all(|pair| pair[0].last_ns < pair[1].first_ns));
        }
    }
}
