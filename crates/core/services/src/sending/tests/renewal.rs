//! Messages that get a new timestamp, and those that do not.

use std::collections::BTreeSet;
use std::ops::Range;
use std::time::Duration;

use undertone_gossip::Time;
use undertone_message::{MessageHash, message_hash};

use super::super::SendEventKind::{Failed, Propagated, Queued, Sent, Stored};
use super::super::{FailReason, Input, SendId, SenderConfig};
use super::promises::{message, seconds, world};
use super::world::{Episode, SHARD, Trouble, UNIX_AT_ZERO, World, services};
use crate::PeerNo;
use crate::light::ServicePeer;
use crate::trust::Standing;

/// Gives some peers a fault from the start on.
fn troubled(world: &mut World, peers: Range<usize>, trouble: Trouble, len_s: u64) {
    for peer in peers {
        world.trouble(Episode {
            peer,
            trouble,
            from_s: 0,
            len_s,
        });
    }
}

/// Hashes under which a message was sent, one for each of its timestamps.
fn hashes(world: &World, id: SendId) -> BTreeSet<MessageHash> {
    let given = world.given.iter().filter(|(given, _)| *given == id);
    given.map(|(_, given)| message_hash(SHARD, given)).collect()
}

#[test]
fn where_old_timestamps_are_refused_a_message_that_reached_nobody_gets_a_new_one() {
    let config = SenderConfig {
        max_age: Some(Duration::from_secs(20)),
        ..SenderConfig::default()
    };
    let mut world = world(config);
    troubled(&mut world, 0..2, Trouble::Alone, 300);
    world.send_at(seconds(1), message("a"));
    let mut stamped = message("b");
    stamped.timestamp = Some((UNIX_AT_ZERO + 1_000_000_000) as i64);
    world.send_at(seconds(1), stamped);
    world.run_until(seconds(1200));
    let ends: Vec<_> = world.ends().into_values().collect();
    assert!(ends.contains(&Some(Stored)), "{ends:?}");
    // The application's own timestamp is not touched.
    assert!(ends.contains(&Some(Failed(FailReason::TooOld))), "{ends:?}");
}

#[test]
fn where_old_timestamps_are_refused_a_message_that_may_be_out_is_looked_for_in_stores() {
    let config = SenderConfig {
        max_age: Some(Duration::from_secs(20)),
        ..SenderConfig::default()
    };
    let mut world = world(config);
    troubled(&mut world, 0..2, Trouble::Fails, 10_000);
    for number in 0..40 {
        world.send_at(seconds(number * 60 + 1), message(&number.to_string()));
    }
    world.run_until(seconds(3000));
    let mut renewed = 0;
    for (id, end) in world.ends() {
        let hashes = hashes(&world, id);
        renewed += hashes.len() - 1;
        // A few proofs are spent on it, and none while a store has the message.
        assert!(hashes.len() <= 1 + world.config.max_resends as usize);
        match hashes.intersection(&world.published).count() {
            0 => assert_eq!(end, Some(Failed(FailReason::TooOld))),
            out => assert_eq!((end, out), (Some(Stored), 1)),
        }
    }
    assert!(renewed > 0);
}

/// A peer that only claims to publish is found out when no store accepts the message any more.
#[test]
fn a_message_that_is_out_by_a_false_word_only_gets_a_new_timestamp_when_every_store_lacks_it() {
    for has_proofs in [false, true] {
        let config = SenderConfig::for_network(has_proofs, Duration::from_secs(20));
        let mut world = world(config);
        // The honest peer is away until the first timestamp is too old; so is one of the stores, which may have the message.
        troubled(&mut world, 1..2, Trouble::Vanished, 100);
        troubled(&mut world, 2..3, Trouble::Vanished, 60);
        troubled(&mut world, 0..1, Trouble::Swallows, 10_000);
        world.send_at(seconds(1), message("a"));
        world.run_until(seconds(59));
        assert_eq!(world.kinds(), [Queued, Sent, Propagated], "{has_proofs}");
        world.run_until(seconds(900));
        let end = world.ends().into_values().next();
        assert_eq!(end, Some(Some(Stored)), "{has_proofs}");
        let id = world.ends().into_keys().next().unwrap();
        let hashes = hashes(&world, id);
        assert!(hashes.len() > 1);
        assert_eq!(hashes.intersection(&world.published).count(), 1);
    }
}

/// One store alone may be wrong, and one of other topics has nothing of this one.
#[test]
fn the_word_of_a_lightpush_peer_is_not_taken_for_false_because_a_single_store_denies() {
    let (push, store) = (services(true, false), services(false, true));
    for has_proofs in [false, true] {
        let config = SenderConfig::for_network(has_proofs, Duration::from_secs(20));
        let mut world = World::new(3, config, &[push, store, store]);
        // The second store is one of another shard.
        world.sender.handle(
            Time::ZERO,
            Input::PeerFound(ServicePeer {
                peer: PeerNo(2),
                services: store,
                pubsub_topics: Some(vec!["/waku/2/rs/1/7".into()]),
                filters_all: false,
                standing: Standing::Known,
                network: None,
            }),
        );
        troubled(&mut world, 1..3, Trouble::Denies, 10_000);
        world.send_at(seconds(1), message("a"));
        world.run_until(seconds(900));
        let end = world.ends().into_values().next();
        assert_eq!(end, Some(Some(Failed(FailReason::NotStored))));
        assert_eq!(world.published.len(), 1, "no copy with another timestamp");
    }
}

/// Stores may be wrong about what the own relay gave to its peers.
#[test]
fn what_the_relay_gave_to_peers_does_not_get_a_new_timestamp() {
    let config = SenderConfig::for_network(true, Duration::from_secs(20));
    let mut world = world(config);
    world.relay_at(Time::ZERO, true);
    troubled(&mut world, 2..4, Trouble::Denies, 10_000);
    world.send_at(seconds(1), message("a"));
    world.run_until(seconds(900));
    let end = world.ends().into_values().next();
    assert_eq!(end, Some(Some(Failed(FailReason::NotStored))));
    assert_eq!(world.proofs_made, 1);
}

#[test]
fn without_proofs_a_message_that_neither_peers_nor_stores_have_is_sent_with_a_new_timestamp() {
    let config = SenderConfig {
        has_proofs: false,
        max_age: Some(Duration::from_secs(15)),
        ..SenderConfig::default()
    };
    let mut world = world(config);
    troubled(&mut world, 0..2, Trouble::Fails, 400);
    for number in 0..40 {
        world.send_at(seconds(number * 9 + 1), message(&number.to_string()));
    }
    world.run_until(seconds(3000));
    let mut renewed = 0;
    for (id, end) in world.ends() {
        assert_eq!(end, Some(Stored));
        let hashes = hashes(&world, id);
        renewed += usize::from(hashes.len() > 1);
        let published = hashes.intersection(&world.published);
        assert_eq!(published.count(), 1, "no copy with another timestamp");
    }
    assert!(renewed > 0);
}

/// A request that waits in a connection while the device sleeps arrives when it wakes. A store may be asked before that.
#[test]
fn what_a_device_sent_before_it_slept_is_not_sent_again_with_a_new_timestamp() {
    let mut world = world(SenderConfig::for_network(false, Duration::from_secs(20)));
    troubled(&mut world, 0..2, Trouble::Late, 100);
    troubled(&mut world, 2..4, Trouble::Denies, 20);
    world.send_at(seconds(1), message("a"));
    world.run_until(seconds(2));
    assert_eq!(world.kinds(), [Queued, Sent]);
    world.now = seconds(18);
    world.run_until(seconds(900));
    assert_eq!(world.published.len(), 1, "no copy with another timestamp");
    let end = world.ends().into_values().next();
    assert_eq!(end, Some(Some(Stored)));
}
