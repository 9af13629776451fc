//! Published messages: their receivers, flooding and its bound, the fanout, and refusals.

use std::time::Duration;

use bytes::Bytes;

use super::raw;
use super::solo::{Solo, TOPIC, features, grafted, peer, receivers, said, scored, sends, topic};
use crate::types::RequestId;
use crate::{Class, Config, FloodPublish, Input, MessageId, NewPeer, Output, PublishError, Topic};

fn outcome(outputs: &[Output]) -> Result<(MessageId, usize), PublishError> {
    let published = outputs.iter().find_map(|output| match output {
        Output::Published { outcome, .. } => Some(*outcome),
        _ => None,
    });
    published.expect("every publish is answered")
}

fn with_flood(flood_publish: FloodPublish) -> Config {
    Config {
        flood_publish,
        ..scored()
    }
}

/// A joined router with a full mesh of 8 and `more` subscribers outside it.
fn full_mesh(config: Config, more: u32) -> Solo {
    let mut solo = Solo::joined(config);
    (0..8).for_each(|n| solo.mesh_peer(peer(n)));
    (8..8 + more).for_each(|n| drop(solo.subscriber(peer(n))));
    solo
}

#[test]
fn the_answer_names_the_message_and_counts_its_receivers() {
    let mut solo = full_mesh(with_flood(FloodPublish::Off), 4);
    let data = Bytes::from_static(b"m");
    let request = RequestId(77);
    let outputs = solo.input(Input::Publish {
        topic: topic(),
        data,
        request,
    });
    let answered = outputs.iter().any(|o| {
        matches!(
            o,
            Output::Published {
                request: RequestId(77),
                ..
            }
        )
    });
    assert!(answered);
    assert_eq!(outcome(&outputs), Ok((MessageId::of(b"m"), 8)));
    assert_eq!(receivers(&outputs), (0..8).collect::<Vec<_>>());
    let own = |o: &Output| {
        !matches!(
            o,
            Output::Send {
                class: Class::Forward,
                ..
            }
        )
    };
    assert!(outputs.iter().all(own));
    assert_eq!(said(&outputs, 0).messages[0].data, "m");
}

#[test]
fn flooding_reaches_every_subscriber_above_the_publish_threshold() {
    let mut solo = full_mesh(with_flood(FloodPublish::On), 30);
    solo.connect(peer(90));
    solo.set_score(20, -1_000.0);
    solo.set_score(21, -1_001.0);
    let expected: Vec<_> = (0..38).filter(|n| *n != 21).collect();
    assert_eq!(receivers(&solo.publish(b"m")), expected);
}

#[test]
fn flooding_is_bounded_by_what_the_uplink_can_carry() {
    let sent = |len: usize| {
        let rate_bytes_per_ms = 100;
        let flood = FloodPublish::BoundedByRate { rate_bytes_per_ms };
        let mut solo = full_mesh(with_flood(flood), 30);
        receivers(&solo.publish(&vec![0; len])).len()
    };
    assert_eq!(sent(100), 38);
    assert_eq!(sent(5_000), 20);
    assert_eq!(sent(50_000), 8, "the mesh gets it in any case");
}

#[test]
fn forwarded_messages_are_not_flooded() {
    let mut solo = full_mesh(with_flood(FloodPublish::On), 30);
    assert_eq!(
        receivers(&solo.deliver(0, b"m")),
        (1..8).collect::<Vec<_>>()
    );
}

fn fanout_router() -> Solo {
    let mut solo = Solo::new(with_flood(FloodPublish::Off));
    (0..20).for_each(|n| drop(solo.subscriber(peer(n))));
    solo
}

#[test]
fn a_topic_we_are_not_in_gets_a_fanout_of_d_that_stays_the_same() {
    let mut solo = fanout_router();
    let first = receivers(&solo.publish(b"1"));
    assert_eq!(first.len(), 6);
    solo.advance_ms(30_000);
    assert_eq!(receivers(&solo.publish(b"2")), first);
    assert!(solo.router.joined().is_empty() && solo.mesh().is_empty());
}

#[test]
fn a_fanout_expires_a_minute_after_the_last_message() {
    let mut solo = fanout_router();
    let first = receivers(&solo.publish(b"1"));
    solo.advance_ms(58_000);
    assert_eq!(receivers(&solo.publish(b"2")), first, "and this renews it");
    solo.advance_ms(58_000);
    assert_eq!(receivers(&solo.publish(b"3")), first);
    solo.advance_ms(62_000);
    let mut later = receivers(&solo.publish(b"4"));
    assert_eq!(later.len(), 6);
    later.retain(|n| !first.contains(n));
    assert!(
        !later.is_empty(),
        "the same 6 of 20 were drawn: not expired (or 1 in 38760)"
    );
}

#[test]
fn a_fanout_replaces_peers_that_are_gone_or_bad() {
    let mut solo = fanout_router();
    let first = receivers(&solo.publish(b"1"));
    solo.disconnect(first[0]);
    solo.set_score(first[1], -1_001.0);
    solo.heartbeat();
    let second = receivers(&solo.publish(b"2"));
    assert_eq!(second.len(), 6);
    assert!(!second.contains(&first[0]) && !second.contains(&first[1]));
    assert!(first[2..].iter().all(|n| second.contains(n)));
}

#[test]
fn joining_turns_the_fanout_into_the_mesh() {
    let mut solo = fanout_router();
    let fanout = receivers(&solo.publish(b"1"));
    let outputs = solo.input(Input::Subscribe(topic()));
    assert_eq!((solo.mesh(), grafted(&outputs)), (fanout.clone(), fanout));
}

#[test]
fn a_fanout_message_is_advertised_to_others() {
    let mut solo = fanout_router();
    let fanout = receivers(&solo.publish(b"1"));
    let outputs = solo.heartbeat();
    let told: Vec<_> = (0..20)
        .filter(|n| !said(&outputs, *n).ihave.is_empty())
        .collect();
    assert_eq!(told.len(), 6);
    assert!(told.iter().all(|n| !fanout.contains(n)));
}

#[test]
fn the_same_bytes_are_published_once_within_the_seen_time() {
    let mut solo = full_mesh(Config::waku(), 0);
    let id = MessageId::of(b"m");
    assert!(outcome(&solo.publish(b"m")).is_ok());
    let again = solo.publish(b"m");
    assert_eq!(outcome(&again), Err(PublishError::Duplicate(id)));
    assert!(receivers(&again).is_empty());
    solo.deliver(0, b"received");
    assert!(outcome(&solo.publish(b"received")).is_err());
    solo.advance(Duration::from_secs(122));
    assert!(outcome(&solo.publish(b"m")).is_ok());
}

#[test]
fn own_messages_are_not_delivered_and_their_echo_is_a_duplicate() {
    let mut solo = full_mesh(Config::waku(), 0);
    solo.publish(b"m");
    let outputs = solo.frame(0, raw::publish(TOPIC, b"m"));
    let echo = |o: &Output| matches!(o, Output::Validate { .. } | Output::Deliver { .. });
    assert!(!outputs.iter().any(echo));
    assert_eq!(solo.router.stats().duplicates_received, 1);
}

#[test]
fn a_message_whose_frame_is_too_large_is_refused() {
    let mut config = Config::waku();
    config.limits.frame_bytes_max = 1_000;
    let mut solo = full_mesh(config, 0);
    // 990 bytes of data: 3 of data header, 3 of topic, 3 of message header, 2 of length prefix.
    let fits = 1_000 - 11;
    assert!(outcome(&solo.publish(&vec![1; fits])).is_ok());
    let outputs = solo.publish(&vec![1; fits + 1]);
    let error = PublishError::TooLarge {
        len: fits + 1,
        max: 1_000,
    };
    assert_eq!(outcome(&outputs), Err(error));
    assert!(sends(&outputs).is_empty());
    assert_eq!(
        outcome(&solo.publish(&vec![1; fits + 1])),
        Err(error),
        "not marked as seen"
    );
}

#[test]
fn explicit_peers_and_floodsub_peers_get_everything() {
    let mut solo = Solo::joined(with_flood(FloodPublish::Off));
    solo.mesh_peer(peer(0));
    let explicit = true;
    solo.subscriber(NewPeer {
        explicit,
        ..peer(1)
    });
    let features = features("/floodsub/1.0.0");
    solo.subscriber(NewPeer {
        features,
        ..peer(2)
    });
    solo.subscriber(peer(3));
    solo.frame(3, raw::prune(TOPIC, Some(60), &[]));
    solo.set_score(1, -5_000.0);
    assert_eq!(receivers(&solo.publish(b"m")), [0, 1, 2]);
    assert_eq!(receivers(&solo.deliver(0, b"n")), [1, 2]);
    solo.set_score(2, -1_001.0);
    assert_eq!(receivers(&solo.publish(b"o")), [0, 1]);
}

#[test]
fn other_topics_get_nothing() {
    let mut solo = full_mesh(Config::waku(), 0);
    let (data, request) = (Bytes::from_static(b"m"), RequestId(0));
    let topic = Topic::new("elsewhere");
    let outputs = solo.input(Input::Publish {
        topic,
        data,
        request,
    });
    assert_eq!(outcome(&outputs), Ok((MessageId::of(b"m"), 0)));
    assert!(sends(&outputs).is_empty());
}

#[test]
fn a_message_that_reached_nobody_is_sent_again_on_request_only() {
    let mut solo = Solo::joined(with_flood(FloodPublish::On));
    let id = MessageId::of(b"m");
    assert_eq!(outcome(&solo.publish(b"m")), Ok((id, 0)));
    solo.subscriber(peer(1));
    let refused = outcome(&solo.publish(b"m"));
    assert_eq!(refused, Err(PublishError::Duplicate(id)));
    let again = |solo: &mut Solo| {
        solo.input(Input::Republish {
            topic: topic(),
            data: Bytes::from_static(b"m"),
            request: RequestId(9),
        })
    };
    let outputs = again(&mut solo);
    assert_eq!(outcome(&outputs), Ok((id, 1)));
    assert_eq!(receivers(&outputs), [1]);
    let mut new = Solo::joined(with_flood(FloodPublish::On));
    new.subscriber(peer(1));
    assert_eq!(
        outcome(&again(&mut new)),
        Ok((id, 1)),
        "it may be the first time"
    );
    assert!(new.router.knows(&Bytes::from_static(b"m")));
}
