//! Messages that reach stores long after their sender's timestamp.

use super::super::LightConfig;
use super::promises::{CHAT, assert_all_once, seconds, store_alone};
use super::world::{World, services};

/// Time at which the stores get the late message, seconds: between two comparisons.
const LEARNED_S: u64 = 9_000;

/// Gives one of four stores a message `late_s` after its timestamp, and returns how long the client waits for it.
///
/// Two stores are asked in turn at each comparison, so each store is asked every second time.
fn found_after_s(store: usize, late_s: u64) -> u64 {
    let both = services(true, true);
    let mut world = World::new(7, LightConfig::default(), &[both, both, both, both]);
    world.subscribe(&[CHAT]);
    world.run_until(seconds(LEARNED_S));
    store_alone(&mut world, store, LEARNED_S - late_s);
    let mut waited_s = 0;
    while world.deliveries.is_empty() {
        waited_s += 10;
        assert!(waited_s < 20_000, "store {store}, {late_s} s late");
        world.run_until(seconds(LEARNED_S + waited_s));
    }
    assert_all_once(&world);
    waited_s
}

#[test]
fn what_a_sender_repeated_for_minutes_is_found_in_minutes_in_any_store() {
    for store in 0..4 {
        for late_s in [30, 90, 300, 600] {
            let waited_s = found_after_s(store, late_s);
            // A store's turn comes every six minutes.
            assert!(waited_s <= 720, "{waited_s} s: store {store}, {late_s} s");
        }
    }
}

#[test]
fn what_a_store_learned_from_others_after_hours_is_found_in_an_hour_in_any_store() {
    for store in 0..4 {
        for late_s in [3_600, 7_200] {
            let waited_s = found_after_s(store, late_s);
            assert!(
                waited_s <= 3_600 + 720,
                "{waited_s} s: store {store}, {late_s} s"
            );
        }
    }
}
