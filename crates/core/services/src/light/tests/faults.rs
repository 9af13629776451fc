//! Random schedules of faults: whatever happens for an hour, every message that a store holds is delivered
//! exactly once.

use proptest::prelude::*;
use undertone_gossip::Time;

use super::super::LightConfig;
use super::world::{Episode, Trouble, World, services};

const TOPICS: [&str; 3] = [
    "/app/1/chat/proto",
    "/app/1/news/proto",
    "/app/2/chat/proto",
];
const TROUBLE_S: u64 = 3600;
const QUIET_S: u64 = 3600;

fn troubles() -> impl Strategy<Value = Trouble> {
    prop_oneof![
        Just(Trouble::Vanished),
        Just(Trouble::Hangs),
        Just(Trouble::Asleep),
        Just(Trouble::Forgets),
        Just(Trouble::Lies),
        Just(Trouble::Limits),
        Just(Trouble::Late),
        Just(Trouble::Hollow),
        Just(Trouble::Forges),
        Just(Trouble::Suspended),
    ]
}

fn episodes() -> impl Strategy<Value = Vec<Episode>> {
    let episode = (0..6_usize, troubles(), 0..TROUBLE_S, 1..1200_u64);
    let episode = episode.prop_map(|(peer, trouble, from_s, len_s)| Episode {
        peer,
        trouble,
        from_s,
        len_s: len_s.min(TROUBLE_S - from_s),
    });
    proptest::collection::vec(episode, 0..24)
}

/// Runs an hour of trouble and an hour without, with 10 % of everything lost throughout.
fn run(seed: u64, episodes: &[Episode]) -> World {
    let filter = services(true, false);
    let store = services(false, true);
    let both = services(true, true);
    let peers = [filter, filter, filter, both, store, store];
    let mut world = World::new(seed, LightConfig::default(), &peers);
    world.loss_percent = 10;
    for episode in episodes {
        world.trouble(*episode);
    }
    world.subscribe(&TOPICS);
    for number in 0..(TROUBLE_S / 3) {
        let topic = TOPICS[(number % 3) as usize];
        world.publish_at(Time::from_millis(number * 3000 + 1), topic, number);
    }
    world.run_until(Time::from_millis((TROUBLE_S + QUIET_S) * 1000));
    world
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 48, max_shrink_iters: 200, failure_persistence: None, ..ProptestConfig::default() })]

    /// A failure prints seed and episodes, which `run` replays.
    #[test]
    fn every_message_that_a_store_holds_is_delivered_once(seed in any::<u64>(), episodes in episodes()) {
        let world = run(seed, &episodes);
        let (missing, twice) = world.faults();
        prop_assert!(missing.is_empty(), "missing {} of {}: {missing:?}", missing.len(), world.published.len());
        prop_assert!(twice.is_empty(), "delivered twice: {twice:?}");
        prop_assert!(world.held().len() > 100, "the world itself must work");
        prop_assert_eq!(world.unchecked, 0);
    }
}

#[test]
fn the_same_seed_gives_the_same_run() {
    let episode = Episode {
        peer: 0,
        trouble: Trouble::Vanished,
        from_s: 100,
        len_s: 500,
    };
    let first = run(11, &[episode]);
    let second = run(11, &[episode]);
    assert_eq!(first.deliveries, second.deliveries);
    assert_eq!(first.offences, second.offences);
}
