//! Single promises, one test each.

use std::time::Duration;

use rand_chacha::ChaCha8Rng;
use rand_core::SeedableRng;
use undertone_gossip::Time;
use undertone_message::{WakuMessage, message_hash};

use super::super::SendEventKind::{Failed, Propagated, PropagatedOnly, Queued, Sent, Stored};
use super::super::{
    FailReason, Input, MessageSender, Output, SendError, SendRecordError, SenderConfig, Unconfirmed,
};
use super::world::{Episode, SHARD, Trouble, UNIX_AT_ZERO, World, services};

pub(super) fn seconds(seconds: u64) -> Time {
    Time::from_millis(seconds * 1000)
}

pub(super) fn message(text: &str) -> WakuMessage {
    WakuMessage::new(text.as_bytes().to_vec(), "/app/1/chat/proto")
}

/// Two lightpush peers and two stores.
pub(super) fn world(config: SenderConfig) -> World {
    let (push, store) = (services(true, false), services(false, true));
    World::new(3, config, &[push, push, store, store])
}

fn sender(config: SenderConfig) -> MessageSender {
    MessageSender::new(config, UNIX_AT_ZERO, ChaCha8Rng::seed_from_u64(1))
}

#[test]
fn a_message_is_queued_sent_propagated_and_stored() {
    let mut world = world(SenderConfig::default());
    world.send_at(seconds(1), message("a"));
    world.run_until(seconds(20));
    assert_eq!(world.kinds(), [Queued, Sent, Propagated, Stored]);
    assert_eq!(world.given.len(), 1);
    assert!(world.records.is_empty());
}

#[test]
fn the_record_is_kept_before_a_proof_is_asked_for() {
    let mut sender = sender(SenderConfig::default());
    let budget = Input::Budget {
        remaining: 1,
        epoch_ends: Time::MAX,
    };
    sender.handle(Time::ZERO, budget);
    sender.handle(Time::ZERO, Input::RelayTopics([SHARD.into()].into()));
    let id = sender.send(seconds(1), SHARD.into(), message("a")).unwrap();
    let outputs: Vec<Output> = std::iter::from_fn(|| sender.poll()).collect();
    assert!(matches!(outputs[0], Output::Persist { id: kept, .. } if kept == id));
    assert!(matches!(outputs[1], Output::Event(_)));
    assert!(matches!(outputs[2], Output::Persist { id: kept, .. } if kept == id));
    assert!(matches!(outputs[3], Output::Prove { attempt: 1, .. }));
    assert_eq!(outputs.len(), 4);
}

#[test]
fn a_withdrawn_message_leaves_nothing_behind_and_gives_its_proof_to_the_next() {
    let mut sender = sender(SenderConfig::default());
    let budget = Input::Budget {
        remaining: 1,
        epoch_ends: Time::MAX,
    };
    sender.handle(Time::ZERO, budget);
    sender.handle(Time::ZERO, Input::RelayTopics([SHARD.into()].into()));
    let id = sender.send(seconds(1), SHARD.into(), message("a")).unwrap();
    sender.withdraw(id);
    assert_eq!((sender.poll(), sender.len()), (None, 0));
    // A late answer is ignored.
    let proof = Ok(Default::default());
    sender.handle(
        seconds(1),
        Input::Proved {
            id,
            attempt: 1,
            result: proof,
        },
    );
    assert_eq!(sender.poll(), None);
    let next = sender.send(seconds(2), SHARD.into(), message("a")).unwrap();
    assert!(next > id);
    let is_proof = |output: &Output| matches!(output, Output::Prove { .. });
    let outputs: Vec<Output> = std::iter::from_fn(|| sender.poll()).collect();
    assert_eq!(outputs.iter().filter(|output| is_proof(output)).count(), 1);
    assert!(
        outputs
            .iter()
            .all(|output| output.message_id() == Some(next))
    );
}

#[test]
fn relay_goes_before_lightpush() {
    let mut world = world(SenderConfig::default());
    world.relay_at(Time::ZERO, true);
    world.send_at(seconds(1), message("a"));
    world.run_until(seconds(20));
    assert_eq!(world.kinds(), [Queued, Sent, Propagated, Stored]);
    assert_eq!(world.servers[0].pushes + world.servers[1].pushes, 0);
}

#[test]
fn a_peer_that_has_no_peers_is_passed_over_for_the_next_with_the_same_proof() {
    let mut world = world(SenderConfig::default());
    let trouble = Trouble::Alone;
    world.trouble(Episode {
        peer: 0,
        trouble,
        from_s: 0,
        len_s: 1000,
    });
    world.send_at(seconds(1), message("a"));
    world.run_until(seconds(20));
    assert_eq!(world.kinds(), [Queued, Sent, Propagated, Stored]);
    assert_eq!(world.given.len(), 2);
    assert_eq!(world.given[0], world.given[1]);
    assert_eq!(world.proofs_made, 1);
}

#[test]
fn what_the_rate_limit_refuses_waits_for_the_next_epoch_and_does_not_age() {
    let config = SenderConfig {
        max_age: Some(Duration::from_secs(20)),
        ..SenderConfig::default()
    };
    let mut world = world(config);
    for text in ["a", "b", "c", "d", "e", "f", "g"] {
        world.send_at(seconds(1), message(text));
    }
    world.run_until(seconds(59));
    let stored = |world: &World| world.kinds().iter().filter(|kind| **kind == Stored).count();
    assert_eq!(stored(&world), 5);
    world.run_until(seconds(80));
    assert_eq!(stored(&world), 7);
}

#[test]
fn a_stale_proof_is_made_anew_and_the_hash_stays() {
    let mut world = world(SenderConfig::default());
    for peer in 0..2 {
        let trouble = Trouble::Alone;
        world.trouble(Episode {
            peer,
            trouble,
            from_s: 0,
            len_s: 300,
        });
    }
    world.send_at(seconds(1), message("a"));
    world.run_until(seconds(900));
    assert_eq!(world.kinds(), [Queued, Sent, Propagated, Stored]);
    assert_eq!(world.proofs_made, 2);
    let hash = |message: &WakuMessage| message_hash(SHARD, message);
    let (first, last) = (&world.given[0].1, &world.given.last().unwrap().1);
    assert_eq!(hash(first), hash(last));
    assert_ne!(first.rate_limit_proof, last.rate_limit_proof);
}

#[test]
fn without_stores_propagated_is_the_end_and_says_so() {
    let push = services(true, false);
    let mut world = World::new(3, SenderConfig::default(), &[push, push]);
    world.send_at(seconds(1), message("a"));
    world.run_until(seconds(70));
    let end = PropagatedOnly(Unconfirmed::NoStore);
    assert_eq!(world.kinds(), [Queued, Sent, Propagated, end]);
}

#[test]
fn an_ephemeral_message_is_not_looked_for_in_stores() {
    let mut world = world(SenderConfig::default());
    let mut ephemeral = message("a");
    ephemeral.ephemeral = Some(true);
    world.send_at(seconds(1), ephemeral);
    world.run_until(seconds(3));
    let end = PropagatedOnly(Unconfirmed::Ephemeral);
    assert_eq!(world.kinds(), [Queued, Sent, Propagated, end]);
}

#[test]
fn stores_that_do_not_answer_leave_a_message_propagated_only() {
    let mut world = world(SenderConfig::default());
    for peer in 2..4 {
        let trouble = Trouble::Hangs;
        world.trouble(Episode {
            peer,
            trouble,
            from_s: 0,
            len_s: 10_000,
        });
    }
    world.send_at(seconds(1), message("a"));
    world.run_until(seconds(700));
    let end = PropagatedOnly(Unconfirmed::StoresSilent);
    assert_eq!(world.kinds(), [Queued, Sent, Propagated, end]);
}

#[test]
fn a_peer_that_only_says_it_published_is_found_out_and_another_publishes() {
    let mut world = world(SenderConfig::default());
    let trouble = Trouble::Swallows;
    world.trouble(Episode {
        peer: 0,
        trouble,
        from_s: 0,
        len_s: 10_000,
    });
    world.send_at(seconds(1), message("a"));
    world.run_until(seconds(120));
    assert_eq!(world.kinds(), [Queued, Sent, Propagated, Stored]);
    assert_eq!(world.proofs_made, 1);
}

#[test]
fn a_peer_whose_word_was_false_is_not_asked_again_while_another_is_out_of_reach() {
    // A proof would be too old by then.
    let mut world = world(SenderConfig {
        has_proofs: false,
        ..SenderConfig::default()
    });
    world.trouble(Episode {
        peer: 0,
        trouble: Trouble::Swallows,
        from_s: 0,
        len_s: 10_000,
    });
    world.trouble(Episode {
        peer: 1,
        trouble: Trouble::Vanished,
        from_s: 0,
        len_s: 250,
    });
    world.send_at(seconds(1), message("a"));
    world.run_until(seconds(900));
    assert_eq!(world.kinds(), [Queued, Sent, Propagated, Stored]);
    assert_eq!(world.servers[0].pushes, 1);
}

#[test]
fn a_repeated_sending_that_nobody_takes_is_not_the_last_one() {
    let mut world = world(SenderConfig {
        has_proofs: false,
        max_resends: 1,
        ..SenderConfig::default()
    });
    for (peer, trouble, len_s) in [(0, Trouble::Swallows, 10_000), (1, Trouble::Limits, 120)] {
        world.trouble(Episode {
            peer,
            trouble,
            from_s: 0,
            len_s,
        });
    }
    world.send_at(seconds(1), message("a"));
    world.run_until(seconds(900));
    assert_eq!(world.kinds(), [Queued, Sent, Propagated, Stored]);
}

#[test]
fn a_message_that_every_peer_swallows_fails_as_not_stored() {
    let mut world = world(SenderConfig::default());
    for peer in 0..2 {
        let trouble = Trouble::Swallows;
        world.trouble(Episode {
            peer,
            trouble,
            from_s: 0,
            len_s: 10_000,
        });
    }
    world.send_at(seconds(1), message("a"));
    world.run_until(seconds(900));
    let end = Failed(FailReason::NotStored);
    assert_eq!(world.kinds(), [Queued, Sent, Propagated, end]);
}

#[test]
fn a_message_that_nobody_takes_fails_at_its_deadline() {
    let mut world = world(SenderConfig::default());
    for peer in 0..2 {
        let trouble = Trouble::Vanished;
        world.trouble(Episode {
            peer,
            trouble,
            from_s: 0,
            len_s: 1_000_000,
        });
    }
    world.send_at(seconds(1), message("a"));
    world.run_until(seconds(24 * 3600));
    assert_eq!(world.kinds(), [Queued]);
    world.run_until(seconds(24 * 3600 + 1));
    assert_eq!(world.kinds(), [Queued, Failed(FailReason::Deadline)]);
}

#[test]
fn a_clock_that_is_three_days_ahead_for_a_while_ends_nothing_that_waits() {
    let mut world = world(SenderConfig::default());
    for peer in 0..2 {
        let trouble = Trouble::Vanished;
        world.trouble(Episode {
            peer,
            trouble,
            from_s: 0,
            len_s: 100,
        });
    }
    world.send_at(seconds(1), message("a"));
    for (until_s, days_ahead) in [(10, 3), (50, 0)] {
        world.run_until(seconds(until_s));
        let unix_ns_at_zero = UNIX_AT_ZERO + days_ahead * 24 * 3_600_000_000_000;
        world.tell(Input::ClockSet { unix_ns_at_zero });
        assert_eq!(world.kinds(), [Queued]);
    }
    world.run_until(seconds(300));
    assert_eq!(world.kinds(), [Queued, Sent, Propagated, Stored]);
}

#[test]
fn one_peer_that_calls_a_message_invalid_is_not_believed() {
    let mut world = world(SenderConfig::default());
    let trouble = Trouble::Invalid;
    world.trouble(Episode {
        peer: 0,
        trouble,
        from_s: 0,
        len_s: 10_000,
    });
    world.send_at(seconds(1), message("a"));
    world.run_until(seconds(20));
    assert_eq!(world.kinds(), [Queued, Sent, Propagated, Stored]);
}

#[test]
fn a_message_that_all_peers_call_invalid_is_refused() {
    let mut world = world(SenderConfig::default());
    for peer in 0..2 {
        let trouble = Trouble::Invalid;
        world.trouble(Episode {
            peer,
            trouble,
            from_s: 0,
            len_s: 10_000,
        });
    }
    world.send_at(seconds(1), message("a"));
    world.run_until(seconds(60));
    assert_eq!(world.kinds(), [Queued, Sent, Failed(FailReason::Refused)]);
}

#[test]
fn a_copy_that_comes_back_shows_that_a_message_is_propagated() {
    let config = SenderConfig {
        has_proofs: false,
        ..SenderConfig::default()
    };
    let mut world = World::new(3, config, &[services(true, false)]);
    let trouble = Trouble::Late;
    world.trouble(Episode {
        peer: 0,
        trouble,
        from_s: 0,
        len_s: 1000,
    });
    world.send_at(seconds(1), message("a"));
    world.run_until(seconds(2));
    let hash = message_hash(SHARD, &world.given[0].1);
    world.tell(Input::Seen(hash));
    assert_eq!(world.kinds(), [Queued, Sent, Propagated]);
}

#[test]
fn a_full_queue_and_what_cannot_be_sent_are_refused_at_once() {
    let mut config = SenderConfig::default();
    config.limits.max_messages = 2;
    config.limits.max_message_bytes = 600;
    let mut sender = sender(config);
    let mut send = |message| sender.send(seconds(1), SHARD.into(), message);
    let too_large = send(message(&"x".repeat(600)));
    assert!(matches!(
        too_large,
        Err(SendError::TooLarge { max: 600, .. })
    ));
    let mut stamped = message("a");
    stamped.timestamp = Some(5);
    let first = send(stamped.clone()).unwrap();
    assert_eq!(send(stamped), Err(SendError::Duplicate(first)));
    let second = send(message("a")).unwrap();
    assert!(second > first);
    assert_eq!(send(message("a")), Err(SendError::QueueFull { max: 2 }));
}

#[test]
fn a_full_queue_of_bytes_is_refused() {
    let mut config = SenderConfig::default();
    config.limits.max_bytes = 1000;
    let mut sender = sender(config);
    sender.send(seconds(1), SHARD.into(), message("a")).unwrap();
    sender.send(seconds(1), SHARD.into(), message("b")).unwrap();
    let third = sender.send(seconds(1), SHARD.into(), message("c"));
    assert_eq!(third, Err(SendError::QueueBytes { max: 1000 }));
}

#[test]
fn a_damaged_record_is_told_and_the_others_are_restored() {
    let mut sender = sender(SenderConfig::default());
    let damaged = bytes::Bytes::from_static(b"\x01abcdefgh");
    assert_eq!(
        sender.restore(Time::ZERO, &damaged),
        Err(SendRecordError::Damaged)
    );
    assert!(sender.is_empty());
}
