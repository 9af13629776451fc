//! Messages that wait for a peer: their only route, their end, and that nothing is queried or
//! persisted for them.

use std::time::Duration;

use bytes::Bytes;
use rand_chacha::ChaCha8Rng;
use rand_core::SeedableRng;
use undertone_gossip::Time;
use undertone_message::WakuMessage;

use super::super::{
    FailReason, Input, MessageSender, Output, PeerWait, RelayFailure, SendError, SendId,
    SenderConfig,
};
use super::promises::{message, seconds};
use super::world::{SHARD, UNIX_AT_ZERO, services};

const WAIT: PeerWait = PeerWait {
    is_delivered: true,
    is_self_stamped: true,
    at_most: Duration::from_secs(100),
};

/// Sender with a lightpush peer and a store.
fn sender(has_proofs: bool) -> MessageSender {
    let config = SenderConfig::for_network(has_proofs, Duration::from_secs(20));
    let rng = ChaCha8Rng::seed_from_u64(1);
    let mut sender = MessageSender::new(config, UNIX_AT_ZERO, rng);
    let both = Input::PeerFound(crate::light::ServicePeer {
        peer: crate::PeerNo(1),
        services: services(true, true),
        pubsub_topics: None,
        filters_all: false,
        standing: crate::trust::Standing::Named,
        network: None,
    });
    let budget = Input::Budget {
        remaining: 10,
        epoch_ends: Time::MAX,
    };
    for input in [both, Input::Connected(crate::PeerNo(1)), budget] {
        sender.handle(Time::ZERO, input);
    }
    sender
}

/// A message as this node's own readers have it.
fn delivered(text: &str) -> WakuMessage {
    WakuMessage {
        timestamp: Some(i64::try_from(UNIX_AT_ZERO + 1_000_000_000).unwrap()),
        rate_limit_proof: Some(Bytes::from_static(b"proof")),
        ..message(text)
    }
}

fn outputs(sender: &mut MessageSender) -> Vec<Output> {
    std::iter::from_fn(|| sender.poll()).collect()
}

fn reached(sender: &mut MessageSender, second: u64, is_reached: bool) {
    let topics = is_reached.then(|| SHARD.into()).into_iter().collect();
    sender.handle(seconds(second), Input::RelayTopics(topics));
}

fn wait(sender: &mut MessageSender, message: WakuMessage, wait: PeerWait) -> SendId {
    let waiting = sender.wait_for_peer(seconds(1), SHARD.into(), vec![message], wait);
    waiting.unwrap()
}

#[test]
fn a_message_that_waits_goes_by_relay_as_it_was_delivered_and_ends_with_the_first_peer() {
    for has_proofs in [true, false] {
        let mut sender = sender(has_proofs);
        let id = wait(&mut sender, delivered("a"), WAIT);
        assert_eq!(outputs(&mut sender), [], "neither kept nor pushed nor told");
        assert_eq!((sender.len(), sender.peer_waits()), (1, 1));
        reached(&mut sender, 10, true);
        let relay = Output::Relay {
            id,
            pubsub_topic: SHARD.into(),
            message: delivered("a"),
            is_delivered: true,
        };
        assert_eq!(outputs(&mut sender), [relay]);
        let result = Ok(1);
        sender.handle(seconds(10), Input::Relayed { id, result });
        assert_eq!(outputs(&mut sender), [], "no store is asked");
        assert!(sender.is_empty());
        assert_eq!(sender.next_timeout(), None);
    }
}

#[test]
fn a_message_that_no_peer_took_is_given_again_and_stores_are_not_asked_meanwhile() {
    let mut sender = sender(false);
    let id = wait(&mut sender, delivered("a"), WAIT);
    reached(&mut sender, 2, true);
    for second in [2, 3, 5] {
        sender.handle(seconds(second), Input::Tick);
        let given = outputs(&mut sender);
        assert!(matches!(given[..], [Output::Relay { .. }]), "{given:?}");
        let result = Err(RelayFailure::NoPeers);
        sender.handle(seconds(second), Input::Relayed { id, result });
        assert!(sender.next_timeout() > Some(seconds(second)));
    }
    // Older than stores accept, it is sent exactly as this node's own readers have it.
    reached(&mut sender, 40, false);
    reached(&mut sender, 50, true);
    let given = outputs(&mut sender);
    assert!(
        matches!(&given[..], [Output::Relay { message, .. }] if *message == delivered("a")),
        "{given:?}"
    );
}

#[test]
fn a_message_that_is_too_old_for_its_proof_gets_another_when_there_is_a_peer() {
    let mut sender = sender(true);
    let id = wait(&mut sender, delivered("a"), WAIT);
    sender.handle(seconds(30), Input::Tick);
    assert_eq!(outputs(&mut sender), [], "no proof without a way");
    reached(&mut sender, 40, true);
    let asked = outputs(&mut sender);
    let [Output::Prove { message, .. }] = &asked[..] else {
        panic!("{asked:?}");
    };
    let stamp_ns = message.timestamp_ns() as u64;
    assert_eq!(stamp_ns, UNIX_AT_ZERO + 40_000_000_000);
    let proved = Input::Proved {
        id,
        attempt: 1,
        result: Ok(Bytes::from_static(b"another")),
    };
    sender.handle(seconds(40), proved);
    let given = outputs(&mut sender);
    let is_new = matches!(
        given[..],
        [Output::Relay {
            is_delivered: false,
            ..
        }]
    );
    assert!(is_new, "as another message, it is delivered: {given:?}");
}

#[test]
fn a_timestamp_that_the_client_chose_stays() {
    let mut sender = sender(true);
    let chosen = PeerWait {
        is_self_stamped: false,
        ..WAIT
    };
    wait(&mut sender, delivered("a"), chosen);
    reached(&mut sender, 19, true);
    let given = outputs(&mut sender);
    assert!(
        matches!(&given[..], [Output::Relay { message, .. }] if *message == delivered("a")),
        "{given:?}"
    );
}

#[test]
fn a_message_without_a_peer_is_given_up_in_the_end() {
    let mut sender = sender(true);
    let id = wait(&mut sender, delivered("a"), WAIT);
    assert!(sender.next_timeout() <= Some(seconds(101)));
    sender.handle(seconds(100), Input::Tick);
    assert_eq!(outputs(&mut sender), []);
    sender.handle(seconds(101), Input::Tick);
    let reason = FailReason::Deadline;
    assert_eq!(outputs(&mut sender), [Output::GivenUp { id, reason }]);
    assert!(sender.is_empty());
}

#[test]
fn fragments_end_together() {
    let mut sender = sender(true);
    let parts = vec![delivered("a"), delivered("b")];
    let first = sender.wait_for_peer(seconds(1), SHARD.into(), parts, WAIT);
    let first = first.unwrap();
    assert_eq!(sender.peer_waits(), 1);
    reached(&mut sender, 2, true);
    assert_eq!(outputs(&mut sender).len(), 2);
    for (id, left) in [(first, 1), (SendId(first.0 + 1), 0)] {
        let result = Ok(2);
        sender.handle(seconds(2), Input::Relayed { id, result });
        assert_eq!(outputs(&mut sender), []);
        assert_eq!(sender.len(), left);
    }
}

#[test]
fn what_waits_is_bounded_apart_from_the_queue() {
    let mut sender = sender(false);
    for number in 0..64 {
        wait(&mut sender, delivered(&number.to_string()), WAIT);
    }
    assert_eq!(sender.peer_wait_room(), 0);
    let refused = |sender: &mut MessageSender, message| {
        let more = sender.wait_for_peer(seconds(1), SHARD.into(), vec![message], WAIT);
        more.unwrap_err()
    };
    let full = refused(&mut sender, delivered("more"));
    assert_eq!(full, SendError::QueueFull { max: 64 });
    sender.config.limits.max_messages = 3;
    for number in 0..3 {
        let text = format!("queued {number}");
        sender
            .send(seconds(1), SHARD.into(), message(&text))
            .unwrap();
    }
    sender.handle(seconds(101), Input::Tick);
    assert_eq!(sender.peer_waits(), 0, "they are given up");
    let long = "a".repeat(8 * 1024 * 1024);
    let max = 8 * 1024 * 1024;
    let too_long = refused(&mut sender, message(&long));
    assert_eq!(too_long, SendError::QueueBytes { max });
    wait(&mut sender, delivered("more"), WAIT);
    let again = refused(&mut sender, delivered("more"));
    assert!(matches!(again, SendError::Duplicate(_)));
}
