//! Single faults, one test each.

use std::time::Duration;

use undertone_gossip::Time;
use undertone_message::{WakuMessage, message_hash};

use super::super::{DeliveryOrigin, Input, LightConfig, Offence};
use super::world::{Episode, SHARD, Trouble, UNIX_AT_ZERO, World, services};
use crate::PeerNo;

pub(super) const CHAT: &str = "/app/1/chat/proto";

pub(super) fn seconds(seconds: u64) -> Time {
    Time::from_millis(seconds * 1000)
}

fn chat_world(config: LightConfig) -> World {
    let both = services(true, true);
    let mut world = World::new(7, config, &[both, both, both, both]);
    world.subscribe(&[CHAT]);
    world
}

/// Publishes a message every two seconds from one time to another.
fn talk(world: &mut World, from_s: u64, to_s: u64) {
    for second in (from_s..to_s).step_by(2) {
        world.publish_at(seconds(second), CHAT, second);
    }
}

pub(super) fn assert_all_once(world: &World) {
    let (missing, twice) = world.faults();
    assert_eq!(
        missing,
        [],
        "missing of {} published",
        world.published.len()
    );
    assert_eq!(twice, []);
}

#[test]
fn subscriptions_live_on_two_peers_and_messages_come_once() {
    let mut world = chat_world(LightConfig::default());
    talk(&mut world, 10, 600);
    world.run_until(seconds(900));
    assert_all_once(&world);
    assert_eq!(world.health[SHARD], 2);
    assert!(
        world
            .deliveries
            .iter()
            .all(|d| matches!(d.origin, DeliveryOrigin::Filter(_)))
    );
    assert_eq!(world.offences, []);
    let data_pages: usize = world
        .servers
        .iter()
        .map(|server| server.pages_with_data)
        .sum();
    assert_eq!(data_pages, 0, "what was pushed is not fetched again");
}

#[test]
fn a_message_sent_right_after_subscribing_is_not_lost() {
    let mut world = chat_world(LightConfig::default());
    world.publish_at(Time::from_millis(1), CHAT, 1);
    world.run_until(seconds(30));
    assert_all_once(&world);
    assert!(matches!(
        world.deliveries[0].origin,
        DeliveryOrigin::Store(_)
    ));
}

#[test]
fn a_peer_that_forgot_the_subscription_is_asked_again_after_the_next_ping() {
    let mut world = chat_world(LightConfig::default());
    for peer in 0..4 {
        let trouble = Trouble::Forgets;
        world.trouble(Episode {
            peer,
            trouble,
            from_s: 100,
            len_s: 0,
        });
    }
    world.run_until(seconds(200));
    talk(&mut world, 200, 260);
    world.run_until(seconds(259));
    assert_all_once(&world);
    assert!(
        world
            .deliveries
            .iter()
            .all(|d| matches!(d.origin, DeliveryOrigin::Filter(_)))
    );
}

#[test]
fn a_peer_that_vanishes_is_replaced_within_seconds() {
    let mut world = chat_world(LightConfig::default());
    world.run_until(seconds(50));
    let trouble = Trouble::Vanished;
    world.trouble(Episode {
        peer: 0,
        trouble,
        from_s: 60,
        len_s: 10_000,
    });
    world.run_until(seconds(61));
    assert_eq!(world.health[SHARD], 2);
    talk(&mut world, 62, 100);
    world.run_until(seconds(300));
    assert_all_once(&world);
}

#[test]
fn a_peer_whose_connection_only_looks_alive_is_replaced_after_two_pings() {
    let mut world = chat_world(LightConfig::default());
    world.run_until(seconds(50));
    let trouble = Trouble::Hangs;
    world.trouble(Episode {
        peer: 0,
        trouble,
        from_s: 51,
        len_s: 10_000,
    });
    world.run_until(seconds(51 + 60 + 10 + 5 + 10 + 2));
    assert_eq!(world.health[SHARD], 2);
}

#[test]
fn a_peer_that_sleeps_while_another_pushes_is_replaced() {
    let mut world = chat_world(LightConfig::default());
    world.trouble(Episode {
        peer: 0,
        trouble: Trouble::Asleep,
        from_s: 5,
        len_s: 10_000,
    });
    talk(&mut world, 10, 30);
    world.run_until(seconds(40));
    assert_eq!(world.offences, [(PeerNo(0), Offence::Asleep)]);
    assert_eq!(world.health[SHARD], 2);
}

#[test]
fn peers_that_all_sleep_are_found_out_by_stores() {
    let mut world = chat_world(LightConfig::default());
    for peer in 0..2 {
        world.trouble(Episode {
            peer,
            trouble: Trouble::Asleep,
            from_s: 5,
            len_s: 10_000,
        });
    }
    talk(&mut world, 20, 600);
    world.run_until(seconds(1200));
    assert_all_once(&world);
    assert!(world.offences.contains(&(PeerNo(0), Offence::Asleep)));
    assert!(world.offences.contains(&(PeerNo(1), Offence::Asleep)));
    assert!(matches!(
        world.deliveries.last().unwrap().origin,
        DeliveryOrigin::Filter(_)
    ));
}

#[test]
fn a_peer_that_pushes_what_nobody_asked_for_is_avoided_and_not_believed() {
    let mut world = chat_world(LightConfig::default());
    world.trouble(Episode {
        peer: 0,
        trouble: Trouble::Lies,
        from_s: 5,
        len_s: 1,
    });
    world.run_until(seconds(8));
    assert_eq!(world.offences[0], (PeerNo(0), Offence::UnaskedPush));
    assert_eq!(world.deliveries, []);
    assert_eq!(world.health[SHARD], 2);
}

#[test]
fn a_peer_that_limits_requests_is_left_alone_as_long_as_it_asked() {
    let config = LightConfig::default();
    let mut world = World::new(7, config, &[services(true, false)]);
    world.trouble(Episode {
        peer: 0,
        trouble: Trouble::Limits,
        from_s: 0,
        len_s: 20,
    });
    world.run_until(Time::from_millis(1));
    world.subscribe(&[CHAT]);
    world.run_until(seconds(29));
    assert_eq!(world.servers[0].requests, 1);
    assert_eq!(world.health.get(SHARD), None);
    world.run_until(seconds(50));
    assert_eq!(world.health[SHARD], 1);
}

#[test]
fn nobody_is_given_up_for_good() {
    let mut world = World::new(7, LightConfig::default(), &[services(true, true)]);
    let trouble = Trouble::Vanished;
    world.trouble(Episode {
        peer: 0,
        trouble,
        from_s: 0,
        len_s: 48 * 3600,
    });
    world.run_until(seconds(1));
    world.subscribe(&[CHAT]);
    world.run_until(seconds(48 * 3600 + 760));
    assert_eq!(world.health[SHARD], 1);
}

#[test]
fn what_was_missed_while_the_machine_slept_is_fetched_when_it_wakes() {
    let mut world = chat_world(LightConfig::default());
    let trouble = Trouble::Suspended;
    world.trouble(Episode {
        peer: 0,
        trouble,
        from_s: 100,
        len_s: 3600,
    });
    talk(&mut world, 10, 3700);
    world.run_until(seconds(3720));
    assert_all_once(&world);
    assert_eq!(world.offences, [], "nobody is blamed for our sleep");
}

#[test]
fn a_sleep_that_only_the_wall_clock_shows_is_a_gap_too() {
    let mut world = chat_world(LightConfig::default());
    world.run_until(seconds(100));
    // Stores hold a message half an hour ahead of this machine's clock, which stood still during sleep.
    let mut message = WakuMessage::new(vec![1], CHAT);
    let at_ns = (UNIX_AT_ZERO + seconds(1900).as_nanos()) as i64;
    message.timestamp = Some(at_ns);
    let hash = message_hash(SHARD, &message);
    world.servers[3].archive.insert((at_ns, hash), message);
    world.run_until(seconds(104));
    let unix_ns_at_zero = UNIX_AT_ZERO + 1_900_000_000_000;
    world.tell(Input::ClockSet { unix_ns_at_zero });
    world.run_until(seconds(330));
    assert_all_once(&world);
}

#[test]
fn a_store_that_lists_what_does_not_exist_is_avoided() {
    let mut world = chat_world(LightConfig::default());
    world.trouble(Episode {
        peer: 1,
        trouble: Trouble::Hollow,
        from_s: 0,
        len_s: 10_000,
    });
    talk(&mut world, 10, 1000);
    world.run_until(seconds(1500));
    assert_all_once(&world);
    assert!(
        world
            .offences
            .contains(&(PeerNo(1), Offence::HollowListing))
    );
    assert!(world.servers[1].requests < 200);
}

#[test]
fn what_only_one_store_of_many_holds_is_found() {
    let filter = services(true, false);
    let store = services(false, true);
    let peers = [filter, store, store, store, store, store];
    let mut world = World::new(7, LightConfig::default(), &peers);
    world.subscribe(&[CHAT]);
    world.run_until(seconds(1000));
    let mut message = WakuMessage::new(vec![1], CHAT);
    let at_ns = (UNIX_AT_ZERO + seconds(990).as_nanos()) as i64;
    message.timestamp = Some(at_ns);
    let hash = message_hash(SHARD, &message);
    world.servers[5].archive.insert((at_ns, hash), message);
    world.run_until(seconds(1000 + 3 * 180));
    assert_all_once(&world);
}

#[test]
fn an_unsubscribed_topic_is_taken_from_the_peers_and_not_delivered() {
    let mut world = chat_world(LightConfig::default());
    world.run_until(seconds(10));
    world.tell(Input::Unsubscribe {
        pubsub_topic: SHARD.into(),
        content_topics: vec![CHAT.into()],
    });
    world.publish_at(Time::from_millis(10_010), CHAT, 1);
    world.run_until(seconds(20));
    talk(&mut world, 20, 40);
    world.run_until(seconds(400));
    assert_eq!(world.deliveries, []);
    assert_eq!(
        world.offences,
        [],
        "a push that crossed the request is no lie"
    );
}

#[test]
fn a_small_memory_gives_no_message_twice() {
    let mut config = LightConfig::default();
    config.limits.max_remembered = 64;
    config.limits.min_memory = Duration::from_secs(60);
    let mut world = chat_world(config);
    talk(&mut world, 10, 3000);
    world.run_until(seconds(1500));
    world.trouble(Episode {
        peer: 0,
        trouble: Trouble::Suspended,
        from_s: 1510,
        len_s: 900,
    });
    world.run_until(seconds(3500));
    let (_, twice) = world.faults();
    assert_eq!(twice, []);
}

/// Puts a message with a timestamp into one store, as if it had arrived by relay.
pub(super) fn store_alone(world: &mut World, store: usize, sent_s: u64) -> WakuMessage {
    let mut message = WakuMessage::new(sent_s.to_be_bytes().to_vec(), CHAT);
    let at_ns = (UNIX_AT_ZERO + seconds(sent_s).as_nanos()) as i64;
    message.timestamp = Some(at_ns);
    let hash = message_hash(SHARD, &message);
    world.servers[store]
        .archive
        .insert((at_ns, hash), message.clone());
    message
}

#[test]
fn a_store_that_sends_other_messages_than_asked_for_is_not_believed() {
    let peers = [
        services(true, false),
        services(false, true),
        services(false, true),
    ];
    let mut world = World::new(7, LightConfig::default(), &peers);
    let trouble = Trouble::Forges;
    world.trouble(Episode {
        peer: 1,
        trouble,
        from_s: 0,
        len_s: 10_000,
    });
    world.subscribe(&[CHAT]);
    world.run_until(seconds(100));
    store_alone(&mut world, 1, 90);
    store_alone(&mut world, 2, 90);
    world.run_until(seconds(500));
    assert_all_once(&world);
    assert_eq!(world.deliveries.len(), 1);
    assert!(world.offences.contains(&(PeerNo(1), Offence::WrongPage)));
}

#[test]
fn a_message_pushed_while_it_is_fetched_comes_once() {
    let mut world = World::new(7, LightConfig::default(), &[services(true, true)]);
    world.subscribe(&[CHAT]);
    world.run_until(seconds(100));
    let message = store_alone(&mut world, 0, 90);
    while world.servers[0].pages_with_data == 0 {
        let soon = world.now.after(Duration::from_millis(10));
        world.run_until(soon);
    }
    world.tell(Input::Pushed {
        peer: PeerNo(0),
        pubsub_topic: SHARD.into(),
        message,
    });
    world.run_until(seconds(500));
    assert_all_once(&world);
    assert_eq!(world.deliveries.len(), 1);
}

#[test]
fn what_a_store_learns_after_it_was_asked_is_found_by_the_overlap() {
    let mut world = World::new(7, LightConfig::default(), &[services(true, true)]);
    world.subscribe(&[CHAT]);
    // The stores were asked at 15 s, after the subscription, and at 195 s.
    world.run_until(seconds(200));
    store_alone(&mut world, 0, 150);
    world.run_until(seconds(400));
    assert_all_once(&world);
}
