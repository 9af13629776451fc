//! Messages in fragments: one message to its sender, several to the network.

use std::collections::BTreeMap;
use std::time::Duration;

use bytes::Bytes;
use rand_chacha::ChaCha8Rng;
use rand_core::SeedableRng;
use undertone_gossip::Time;
use undertone_message::WakuMessage;

use super::super::SendEventKind::{Failed, Propagated, PropagatedOnly, Queued, Sent, Stored};
use super::super::{
    FailReason, Input, MessageSender, Output, SendError, SendId, SenderConfig, Unconfirmed,
};
use super::world::{Episode, SHARD, Trouble, UNIX_AT_ZERO, World, services};

fn seconds(seconds: u64) -> Time {
    Time::from_millis(seconds * 1000)
}

fn message(len: u8) -> WakuMessage {
    let payload: Vec<u8> = (0..len).collect();
    WakuMessage::new(payload, "/app/1/chat/proto")
}

fn fragments(count: u8) -> Vec<WakuMessage> {
    let fragment = |number| WakuMessage::new(vec![number], "/app/1/chat/proto");
    (0..count).map(fragment).collect()
}

/// Two lightpush peers and two stores.
fn world(config: SenderConfig) -> World {
    let (push, store) = (services(true, false), services(false, true));
    World::new(3, config, &[push, push, store, store])
}

fn trouble(world: &mut World, peer: usize, trouble: Trouble) {
    world.trouble(Episode {
        peer,
        trouble,
        from_s: 0,
        len_s: 10_000,
    });
}

fn sender(config: SenderConfig) -> MessageSender {
    MessageSender::new(config, UNIX_AT_ZERO, ChaCha8Rng::seed_from_u64(1))
}

fn outputs(sender: &mut MessageSender) -> Vec<Output> {
    std::iter::from_fn(|| sender.poll()).collect()
}

#[test]
fn a_message_makes_each_step_once_when_all_fragments_have_made_it() {
    let mut world = world(SenderConfig::default());
    world.send_in_fragments_at(seconds(1), &message(90), 3);
    world.run_until(seconds(20));
    assert_eq!(world.kinds(), [Queued, Sent, Propagated, Stored]);
    let id = world.events_seen[0].id;
    let of_id = |event: &_| matches!(event, super::super::SendEvent { id: of, hash: None, .. } if *of == id);
    assert!(world.events_seen.iter().all(of_id));
    assert_eq!((world.given.len(), world.proofs_made), (3, 3));
    assert!(world.records.is_empty() && world.sender.is_empty());
}

#[test]
fn a_rate_limit_below_the_number_of_fragments_spreads_them_over_epochs() {
    let config = SenderConfig {
        max_age: Some(Duration::from_secs(20)),
        ..SenderConfig::default()
    };
    let mut world = world(config);
    world.send_in_fragments_at(seconds(1), &message(120), 12);
    for (second, out) in [(59, 5), (119, 10)] {
        world.run_until(seconds(second));
        assert_eq!((world.given.len(), world.kinds()), (out, vec![Queued]));
        assert_eq!(world.sender.len(), 1);
    }
    world.run_until(seconds(180));
    assert_eq!(world.kinds(), [Queued, Sent, Propagated, Stored]);
    assert_eq!((world.given.len(), world.proofs_made), (12, 12));
    // Each has the time of its own proof, so no relay considers one too old.
    let stamps = world
        .given
        .iter()
        .map(|(_, message)| message.timestamp_ns());
    let last = stamps.max().unwrap() as u64 - UNIX_AT_ZERO;
    assert!(last >= 120_000_000_000, "{last}");
}

#[test]
fn a_crash_between_fragments_spends_no_proof_twice_and_sends_none_again() {
    let mut world = world(SenderConfig::default());
    world.send_in_fragments_at(seconds(1), &message(80), 8);
    world.run_until(seconds(30));
    assert_eq!((world.given.len(), world.records.len()), (5, 8));
    world.crash();
    world.run_until(seconds(31));
    world.crash();
    assert_eq!(world.sender.len(), 1);
    world.run_until(seconds(90));
    assert_eq!(world.kinds(), [Queued, Sent, Propagated, Stored]);
    assert_eq!((world.given.len(), world.proofs_made), (8, 8));
    assert!(world.records.is_empty());
}

#[test]
fn one_fragment_that_fails_ends_the_message_and_spends_no_further_proof() {
    let mut world = world(SenderConfig::default());
    trouble(&mut world, 0, Trouble::Invalid);
    trouble(&mut world, 1, Trouble::Invalid);
    world.send_in_fragments_at(seconds(1), &message(80), 8);
    world.run_until(seconds(200));
    let end = Failed(FailReason::Refused);
    assert_eq!(world.kinds(), [Queued, end]);
    assert!(world.proofs_made <= 5, "{}", world.proofs_made);
    assert!(world.records.is_empty() && world.sender.is_empty());
    assert_eq!(world.sender.pubsub_topics().len(), 0);
}

#[test]
fn a_message_has_the_weakest_end_of_its_fragments() {
    let push = services(true, false);
    let mut world = World::new(3, SenderConfig::default(), &[push, push]);
    world.send_in_fragments_at(seconds(1), &message(20), 2);
    world.run_until(seconds(70));
    let end = PropagatedOnly(Unconfirmed::NoStore);
    assert_eq!(world.kinds(), [Queued, Sent, Propagated, end]);
}

#[test]
fn fragments_count_in_the_limits_of_the_queue_until_their_message_has_its_end() {
    let mut config = SenderConfig {
        has_proofs: false,
        ..SenderConfig::default()
    };
    config.limits.max_messages = 4;
    config.limits.max_message_bytes = 600;
    let mut sender = sender(config.clone());
    let send = |sender: &mut MessageSender, fragments| {
        sender.send_fragments(seconds(1), SHARD.into(), fragments)
    };
    let count = |count| Err(SendError::Fragments { count, max: 64 });
    assert_eq!(send(&mut sender, fragments(0)), count(0));
    assert_eq!(send(&mut sender, fragments(65)), count(65));
    let mut one_too_long = fragments(2);
    one_too_long[1].payload = vec![0; 600].into();
    let refused = send(&mut sender, one_too_long);
    assert!(matches!(refused, Err(SendError::TooLarge { .. })));
    assert!(sender.is_empty() && sender.poll().is_none());
    let first = send(&mut sender, fragments(3)).unwrap();
    let full = Err(SendError::QueueFull { max: 4 });
    assert_eq!(send(&mut sender, fragments(2)), full);
    sender.handle(seconds(1), Input::RelayTopics([SHARD.into()].into()));
    let given = outputs(&mut sender).into_iter();
    let given = given.filter_map(|output| match output {
        Output::Relay { id, .. } => Some(id),
        _ => None,
    });
    let given: Vec<SendId> = given.collect();
    assert_eq!(given.len(), 3);
    // No store is known after a minute, so fragments that are out end there.
    for id in given.into_iter().skip(1) {
        let result = Ok(1);
        sender.handle(seconds(2), Input::Relayed { id, result });
    }
    sender.handle(seconds(100), Input::Tick);
    assert_eq!(sender.len(), 1);
    assert_eq!(send(&mut sender, fragments(2)), full);
    let next = send(&mut sender, fragments(1)).unwrap();
    assert!(next.0 > first.0 + 2, "each fragment has a number");
    config.limits.max_bytes = 1_000;
    let mut narrow = self::sender(config);
    let full = Err(SendError::QueueBytes { max: 1_000 });
    assert_eq!(send(&mut narrow, fragments(3)), full);
    assert!(send(&mut narrow, fragments(2)).is_ok());
}

#[test]
fn the_same_message_of_the_application_is_known_by_any_fragment() {
    let mut sender = sender(SenderConfig::default());
    let mut stamped = fragments(3);
    stamped.iter_mut().for_each(|it| it.timestamp = Some(5));
    let id = sender.send_fragments(seconds(1), SHARD.into(), stamped.clone());
    let again = sender.send_fragments(seconds(1), SHARD.into(), stamped.split_off(2));
    assert_eq!(again, Err(SendError::Duplicate(id.unwrap())));
}

#[test]
fn withdrawing_takes_all_fragments_back() {
    let mut sender = sender(SenderConfig::default());
    let budget = Input::Budget {
        remaining: 9,
        epoch_ends: Time::MAX,
    };
    sender.handle(Time::ZERO, budget);
    sender.handle(Time::ZERO, Input::RelayTopics([SHARD.into()].into()));
    let id = sender.send_fragments(seconds(1), SHARD.into(), fragments(3));
    let id = id.unwrap();
    let numbers: Vec<u64> = sender.withdraw(id).into_iter().map(|id| id.0).collect();
    assert_eq!(numbers, [id.0, id.0 + 1, id.0 + 2]);
    assert_eq!((sender.poll(), sender.len()), (None, 0));
}

#[test]
fn what_is_left_of_a_message_without_all_fragments_is_erased_without_a_word() {
    let mut first = sender(SenderConfig::default());
    let id = first.send_fragments(seconds(1), SHARD.into(), fragments(3));
    let id = id.unwrap();
    let kept: BTreeMap<SendId, Bytes> = outputs(&mut first)
        .into_iter()
        .filter_map(|output| match output {
            Output::Persist { id, record } => Some((id, record)),
            _ => None,
        })
        .collect();
    assert_eq!(kept.len(), 3);
    let mut second = sender(SenderConfig::default());
    for record in kept.values().skip(1) {
        second.restore(Time::ZERO, record).unwrap();
    }
    second.handle(Time::ZERO, Input::Tick);
    let erased = [1, 2].map(|place| Output::Erase(SendId(id.0 + place)));
    assert_eq!(outputs(&mut second), erased);
    assert!(second.is_empty());
    assert!(second.send(seconds(1), SHARD.into(), message(1)).unwrap().0 > id.0 + 2);
}

#[test]
fn the_messages_that_wait_are_listed_once_each_with_the_step_of_all_their_fragments() {
    let mut sender = sender(SenderConfig {
        has_proofs: false,
        ..SenderConfig::default()
    });
    let long = sender.send_fragments(seconds(1), SHARD.into(), fragments(3));
    let (long, short) = (
        long.unwrap(),
        sender.send(seconds(1), SHARD.into(), message(9)),
    );
    let short = short.unwrap();
    let listed = |sender: &MessageSender| {
        let waiting = sender.waiting().into_iter();
        let listed = waiting.map(|one| (one.id, one.is_in_fragments, one.step));
        listed.collect::<Vec<_>>()
    };
    assert_eq!(
        listed(&sender),
        [(long, true, Queued), (short, false, Queued)]
    );
    sender.handle(seconds(1), Input::RelayTopics([SHARD.into()].into()));
    for id in [long, short] {
        let result = Ok(1);
        sender.handle(seconds(1), Input::Relayed { id, result });
    }
    assert_eq!(
        listed(&sender),
        [(long, true, Sent), (short, false, Propagated)]
    );
    assert_eq!(sender.waiting()[1].message.payload, message(9).payload);
}
