//! Routes of a message out of the node, and when a proof or a timestamp is made for one.

use std::time::Duration;

use rand_chacha::ChaCha8Rng;
use rand_core::SeedableRng;
use undertone_gossip::Time;
use undertone_message::WakuMessage;

use super::super::SendEventKind::{Failed, Propagated, Queued, Sent, Stored};
use super::super::{FailReason, Input, MessageSender, Output, ProveFailure, SendId, SenderConfig};
use super::world::{Episode, SHARD, Trouble, UNIX_AT_ZERO, World, services};

fn seconds(seconds: u64) -> Time {
    Time::from_millis(seconds * 1000)
}

fn message(text: &str) -> WakuMessage {
    WakuMessage::new(text.as_bytes().to_vec(), "/app/1/chat/proto")
}

/// Two lightpush peers and two stores.
fn world(config: SenderConfig) -> World {
    let (push, store) = (services(true, false), services(false, true));
    World::new(3, config, &[push, push, store, store])
}

fn sender(config: SenderConfig) -> MessageSender {
    MessageSender::new(config, UNIX_AT_ZERO, ChaCha8Rng::seed_from_u64(1))
}

#[test]
fn no_proof_is_spent_while_there_is_no_way() {
    let config = SenderConfig {
        max_age: Some(Duration::from_secs(20)),
        ..SenderConfig::default()
    };
    let mut world = World::new(3, config, &[services(false, true)]);
    world.servers[0].standing = crate::trust::Standing::Named;
    world.introduce();
    world.send_at(seconds(1), message("a"));
    world.relay_at(seconds(3000), true);
    world.run_until(seconds(2999));
    assert_eq!((world.kinds(), world.proofs_made), (vec![Queued], 0));
    world.run_until(seconds(3020));
    assert_eq!(world.kinds(), [Queued, Sent, Propagated, Stored]);
    assert_eq!(world.proofs_made, 1);
}

#[test]
fn a_message_does_not_wait_for_its_next_round_when_the_relay_reaches_somebody_again() {
    let mut world = world(SenderConfig::default());
    for peer in 0..2 {
        let trouble = Trouble::Alone;
        world.trouble(Episode {
            peer,
            trouble,
            from_s: 0,
            len_s: 1000,
        });
    }
    world.send_at(seconds(1), message("a"));
    world.relay_at(seconds(200), true);
    world.run_until(seconds(201));
    assert_eq!(world.kinds(), [Queued, Sent, Propagated]);
}

#[test]
fn what_the_limit_of_a_short_epoch_refuses_gets_a_timestamp_of_the_next() {
    let config = SenderConfig {
        max_age: Some(Duration::from_secs(20)),
        ..SenderConfig::default()
    };
    let mut sender = sender(config);
    let topics = Input::RelayTopics([SHARD.into()].into());
    sender.handle(Time::ZERO, topics);
    let budget = |second| Input::Budget {
        remaining: 1,
        epoch_ends: seconds(second),
    };
    sender.handle(Time::ZERO, budget(2));
    let id = sender.send(seconds(1), SHARD.into(), message("a")).unwrap();
    let asked = |sender: &mut MessageSender| {
        let outputs = std::iter::from_fn(|| sender.poll());
        let asked = outputs.filter_map(|output| match output {
            Output::Prove {
                attempt, message, ..
            } => Some((attempt, message.timestamp_ns() as u64 - UNIX_AT_ZERO)),
            _ => None,
        });
        asked.collect::<Vec<_>>()
    };
    assert_eq!(asked(&mut sender), [(1, 1_000_000_000)]);
    let result = Err(ProveFailure::LimitUsedUp);
    let used_up = Input::Proved {
        id,
        attempt: 1,
        result,
    };
    sender.handle(seconds(1), used_up);
    assert_eq!(asked(&mut sender), []);
    sender.handle(seconds(2), budget(3));
    assert_eq!(asked(&mut sender), [(2, 2_000_000_000)]);
}

#[test]
fn after_a_restart_a_message_that_may_be_out_is_not_given_up_before_stores_are_found() {
    let config = SenderConfig {
        max_age: Some(Duration::from_secs(20)),
        ..SenderConfig::default()
    };
    let mut first = sender(config.clone());
    let topics = Input::RelayTopics([SHARD.into()].into());
    first.handle(Time::ZERO, topics);
    let budget = Input::Budget {
        remaining: 1,
        epoch_ends: Time::MAX,
    };
    first.handle(Time::ZERO, budget);
    let id = first.send(seconds(1), SHARD.into(), message("a")).unwrap();
    let proved = Input::Proved {
        id,
        attempt: 1,
        result: Ok(bytes::Bytes::from_static(b"proof")),
    };
    first.handle(seconds(1), proved);
    let outputs: Vec<Output> = std::iter::from_fn(|| first.poll()).collect();
    assert!(matches!(outputs[outputs.len() - 2], Output::Relay { .. }));
    let kept = outputs.iter().rev().find_map(|output| match output {
        Output::Persist { record, .. } => Some(record.clone()),
        _ => None,
    });
    // The node was killed with the message on its way, and comes back a minute later.
    let back = |config: SenderConfig| {
        let mut sender = sender(config);
        sender.restore(seconds(60), kept.as_ref().unwrap()).unwrap();
        sender.handle(seconds(60), Input::Tick);
        sender
    };
    let failed = |sender: &mut MessageSender| {
        let outputs = std::iter::from_fn(|| sender.poll());
        let mut events = outputs.filter_map(|output| match output {
            Output::Event(event) => Some(event.kind),
            _ => None,
        });
        events.any(|kind| kind == Failed(FailReason::TooOld))
    };
    let mut second = back(config.clone());
    assert!(!failed(&mut second));
    second.handle(seconds(119), Input::Tick);
    assert!(!failed(&mut second));
    second.handle(seconds(120), Input::Tick);
    assert!(failed(&mut second), "no store was found within a minute");
    let mut third = back(config);
    third.handle(
        seconds(61),
        Input::PeerFound(crate::light::ServicePeer {
            peer: crate::PeerNo(1),
            services: services(false, true),
            pubsub_topics: None,
            filters_all: false,
            standing: crate::trust::Standing::Known,
            network: None,
        }),
    );
    third.handle(seconds(200), Input::Tick);
    assert!(!failed(&mut third), "the store may know it");
}

#[test]
fn a_slow_prover_gets_a_few_messages_at_a_time_so_that_none_grows_old_in_its_queue() {
    let config = SenderConfig {
        max_age: Some(Duration::from_secs(20)),
        ..SenderConfig::default()
    };
    let mut sender = sender(config);
    sender.handle(Time::ZERO, Input::RelayTopics([SHARD.into()].into()));
    sender.handle(
        Time::ZERO,
        Input::Budget {
            remaining: 100,
            epoch_ends: Time::MAX,
        },
    );
    for number in 0..50 {
        let message = message(&number.to_string());
        sender.send(seconds(1), SHARD.into(), message).unwrap();
    }
    let mut asked = std::collections::VecDeque::new();
    let mut given = 0;
    for second in 1..200_u64 {
        while let Some(output) = sender.poll() {
            match output {
                Output::Prove { id, attempt, .. } => asked.push_back((id, attempt)),
                Output::Relay { id, .. } => {
                    given += 1;
                    let result = Ok(3);
                    sender.handle(seconds(second), Input::Relayed { id, result });
                }
                _ => {}
            }
        }
        assert!(asked.len() <= 2, "{asked:?}");
        // A proof takes three seconds.
        if second.is_multiple_of(3)
            && let Some((id, attempt)) = asked.pop_front()
        {
            assert_eq!(attempt, 1, "no proof is made in vain");
            let result = Ok(bytes::Bytes::from_static(b"proof"));
            let proved = Input::Proved {
                id,
                attempt,
                result,
            };
            sender.handle(seconds(second), proved);
        }
    }
    assert_eq!(given, 50);
}

#[test]
fn numbers_go_on_after_those_that_were_used() {
    let mut sender = sender(SenderConfig::default());
    let used = SendId(UNIX_AT_ZERO + 5_000_000_000);
    sender.skip_ids(used);
    let next = sender.send(seconds(1), SHARD.into(), message("a")).unwrap();
    assert_eq!(next.0, used.0 + 1);
}
