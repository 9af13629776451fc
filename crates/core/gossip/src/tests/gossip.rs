//! IHAVE and IWANT: what is advertised to which peers, requested, and answered.

use std::sync::Arc;

use super::net::Net;
use super::raw;
use super::solo::{
    Solo, TOPIC, cancels, delivered, features, peer, receivers, said, scored, sends, strict, topic,
};
use crate::{Config, Input, MessageId, NewPeer, Output, PeerIx, Progress, Verdict};

/// A router with one subscribed peer, which is not in the mesh because of a backoff.
fn with_lazy_peer(config: Config) -> Solo {
    let mut solo = Solo::joined(config);
    solo.mesh_peer(peer(0));
    solo.frame(0, raw::prune(TOPIC, Some(3600), &[]));
    solo
}

fn ids(data: &[&[u8]]) -> Vec<MessageId> {
    data.iter().map(|data| MessageId::of(data)).collect()
}

#[test]
fn a_message_crosses_a_pair_that_has_no_mesh_link() {
    let mut net = Net::pair(&Config::waku());
    for (node, other) in [(0, 1), (1, 0)] {
        let frame = raw::framed(&raw::prune(TOPIC, Some(3600), &[]));
        let peer = PeerIx(other);
        net.input(
            node,
            Input::Frame {
                peer,
                frame: frame.into(),
            },
        );
    }
    assert!(net.mesh(0).is_empty() && net.mesh(1).is_empty());
    Arc::make_mut(&mut net.routers[0].config).flood_publish = crate::FloodPublish::Off;
    net.publish(0, b"lost and found");
    net.run_ms(15);
    assert!(net.delivered[1].is_empty(), "only gossip may carry it");
    net.run_ms(300);
    assert_eq!(net.delivered[1][0].1, "lost and found");
    let (ihave, iwant) = net.arrivals.iter().fold((0, 0), |(have, want), a| {
        (have + a.rpc.ihave.len(), want + a.rpc.iwant.len())
    });
    assert_eq!((ihave, iwant), (1, 1));
    assert_eq!(net.copies_at(1), 1);
}

#[test]
fn a_message_is_advertised_for_three_heartbeats_and_served_for_six() {
    let mut solo = with_lazy_peer(Config::waku());
    solo.subscriber(peer(1));
    solo.deliver(1, b"m");
    let want = ids(&[b"m"]);
    for heartbeat in 1..=3 {
        let ihave = said(&solo.heartbeat(), 0).ihave;
        assert_eq!(ihave.len(), 1, "heartbeat {heartbeat}");
        assert_eq!(ihave[0].ids, want);
    }
    for _ in 4..=5 {
        assert!(said(&solo.heartbeat(), 0).ihave.is_empty());
    }
    assert_eq!(receivers(&solo.frame(0, raw::iwant(&want))), [0]);
    solo.heartbeat();
    assert_eq!(receivers(&solo.frame(0, raw::iwant(&want))), [0; 0]);
}

#[test]
fn the_same_message_goes_to_the_same_peer_three_times() {
    let mut solo = with_lazy_peer(Config::waku());
    solo.subscriber(peer(1));
    solo.deliver(1, b"m");
    let iwant = raw::iwant(&ids(&[b"m"]));
    for _ in 0..3 {
        assert_eq!(receivers(&solo.frame(0, iwant.clone())), [0]);
    }
    assert!(solo.frame(0, iwant.clone()).is_empty());
    solo.subscriber(peer(2));
    assert_eq!(
        receivers(&solo.frame(2, iwant)),
        [2],
        "others are served still"
    );
}

#[test]
fn what_waits_for_its_verdict_or_failed_is_not_given_away() {
    let mut solo = with_lazy_peer(Config::waku());
    solo.subscriber(peer(1));
    let iwant = raw::iwant(&ids(&[b"m"]));
    solo.frame(1, raw::publish(TOPIC, b"m"));
    assert!(solo.frame(0, iwant.clone()).is_empty());
    solo.verdict(b"m", Verdict::Reject);
    assert!(solo.frame(0, iwant).is_empty());
    assert!(said(&solo.heartbeat(), 0).ihave.is_empty());
}

#[test]
fn gossip_goes_to_d_lazy_or_the_factor_whichever_is_more() {
    let advertised_to = |lazy: u32| {
        let mut config = Config::waku();
        config.degrees.d_lazy = 2;
        let mut solo = Solo::joined(config);
        (0..8).for_each(|n| solo.mesh_peer(peer(n)));
        (8..8 + lazy).for_each(|n| drop(solo.subscriber(peer(n))));
        solo.deliver(0, b"m");
        let outputs = solo.heartbeat();
        let told = (0..8 + lazy).filter(|n| !said(&outputs, *n).ihave.is_empty());
        let told: Vec<_> = told.collect();
        assert!(told.iter().all(|n| *n >= 8), "mesh peers have it: {told:?}");
        told.len()
    };
    assert_eq!(advertised_to(1), 1);
    assert_eq!(advertised_to(4), 2);
    assert_eq!(advertised_to(20), 5);
}

#[test]
fn gossip_skips_explicit_floodsub_and_badly_scored_peers() {
    let mut solo = Solo::joined(scored());
    (0..8).for_each(|n| solo.mesh_peer(peer(n)));
    let explicit = true;
    solo.subscriber(NewPeer {
        explicit,
        ..peer(8)
    });
    let features = features("/floodsub/1.0.0");
    solo.subscriber(NewPeer {
        features,
        ..peer(9)
    });
    solo.subscriber(peer(10));
    solo.set_score(10, -101.0);
    solo.subscriber(peer(11));
    solo.set_score(11, -100.0);
    solo.deliver(0, b"m");
    let outputs = solo.heartbeat();
    let told = (0..12).filter(|n| !said(&outputs, *n).ihave.is_empty());
    assert_eq!(told.collect::<Vec<_>>(), [11]);
}

#[test]
fn an_advertised_id_is_asked_for_once_per_peer_and_of_so_many_peers() {
    let ihave = raw::ihave(TOPIC, &ids(&[b"m"]));
    let mut config = Config::waku();
    assert_eq!(config.iwant_in_flight_max, 1);
    for in_flight_max in [2, 1] {
        config.iwant_in_flight_max = in_flight_max;
        let mut solo = Solo::joined(config.clone());
        (0..3).for_each(|n| drop(solo.subscriber(peer(n))));
        for (n, asked) in [(0, 1), (0, 0), (1, in_flight_max - 1), (2, 0)] {
            let outputs = solo.frame(n, ihave.clone());
            assert_eq!(said(&outputs, n).iwant.len(), asked, "peer {n}");
        }
    }
    let mut solo = Solo::joined(config);
    (0..3).for_each(|n| drop(solo.subscriber(peer(n))));
    solo.deliver(0, b"m");
    assert!(
        said(&solo.frame(2, ihave), 2).iwant.is_empty(),
        "we have it"
    );
}

#[test]
fn with_one_request_in_flight_the_next_peer_is_asked_when_the_first_one_fails() {
    let mut solo = Solo::joined(strict());
    (0..2).for_each(|n| drop(solo.subscriber(peer(n))));
    let ihave = raw::ihave(TOPIC, &ids(&[b"m"]));
    assert_eq!(said(&solo.frame(0, ihave.clone()), 0).iwant.len(), 1);
    assert_eq!(said(&solo.frame(1, ihave.clone()), 1).iwant.len(), 0);
    let meanwhile = solo.advance_ms(999);
    assert!(said(&meanwhile, 1).iwant.is_empty());
    let next = solo.advance_ms(1);
    assert_eq!(said(&next, 1).iwant.len(), 1, "without another IHAVE");
    assert!(said(&next, 0).iwant.is_empty());
    assert!(solo.score(0) >= 0.0, "it may still keep its promise");
    solo.advance_ms(2_900);
    assert!(
        solo.score(0) >= 0.0 && solo.score(1) >= 0.0,
        "one promise that is broken is an accident"
    );
}

#[test]
fn ids_of_topics_we_are_not_in_are_not_asked_for() {
    let mut solo = Solo::joined(Config::waku());
    solo.connect(peer(0));
    solo.frame(0, raw::subscribe("other"));
    let outputs = solo.frame(0, raw::ihave("other", &ids(&[b"m"])));
    assert!(outputs.is_empty());
}

#[test]
fn a_promise_is_kept_by_a_message_that_turns_out_invalid() {
    let mut solo = Solo::joined(Config::waku());
    (0..2).for_each(|n| drop(solo.subscriber(peer(n))));
    solo.frame(0, raw::ihave(TOPIC, &ids(&[b"m"])));
    solo.frame(1, raw::publish(TOPIC, b"m"));
    solo.verdict(b"m", Verdict::Reject);
    solo.advance_ms(5_000);
    assert!(solo.score(0) >= 0.0);
}

/// The peer kept its promise; it is not to blame that our validator is busy.
#[test]
fn a_promise_is_kept_by_a_message_that_we_have_no_room_for() {
    let mut config = Config::waku();
    config.limits.pending_max = 1;
    let mut solo = Solo::joined(config);
    (0..2).for_each(|n| drop(solo.subscriber(peer(n))));
    solo.frame(1, raw::publish(TOPIC, b"in the way"));
    solo.frame(0, raw::ihave(TOPIC, &ids(&[b"m"])));
    let outputs = solo.frame(0, raw::publish(TOPIC, b"m"));
    assert!(!outputs.iter().any(|o| matches!(o, Output::Validate { .. })));
    solo.advance_ms(5_000);
    assert!(solo.score(0) >= 0.0);
}

/// The answer is then a further copy of a message that is known.
#[test]
fn a_promise_is_kept_when_we_publish_the_message_ourselves() {
    let mut solo = Solo::joined(Config::waku());
    solo.subscriber(peer(0));
    solo.frame(0, raw::ihave(TOPIC, &ids(&[b"m"])));
    solo.publish(b"m");
    solo.frame(0, raw::publish(TOPIC, b"m"));
    solo.advance_ms(5_000);
    assert!(solo.score(0) >= 0.0);
}

/// Other implementations refuse larger control frames (rust-libp2p: 16 KiB).
#[test]
fn control_is_cut_into_frames_that_others_accept() {
    let mut solo = with_lazy_peer(Config::waku());
    solo.subscriber(peer(1));
    for i in 0..1_200u32 {
        solo.deliver(1, &i.to_be_bytes());
    }
    let outputs = solo.heartbeat();
    let ihave = said(&outputs, 0).ihave;
    assert_eq!(ihave.iter().map(|i| i.ids.len()).sum::<usize>(), 1_200);
    let max = solo.router.config().limits.control_frame_bytes_max;
    let longest = sends(&outputs).iter().map(|(.., frame)| frame.len()).max();
    assert!(longest <= Some(max), "{longest:?} bytes in one frame");
}

#[test]
fn the_cache_stays_within_its_bytes_and_drops_the_oldest() {
    let mut config = Config::waku();
    config.limits.cache_bytes_max = 1_000;
    let mut solo = with_lazy_peer(config);
    solo.subscriber(peer(1));
    for i in 0..10u8 {
        solo.deliver(1, &[i; 200]);
        assert!(solo.router.usage().cache_bytes <= 1_000);
    }
    assert!(solo.frame(0, raw::iwant(&ids(&[&[0; 200]]))).is_empty());
    assert_eq!(
        receivers(&solo.frame(0, raw::iwant(&ids(&[&[9; 200]])))),
        [0]
    );
}

#[test]
fn dropped_and_begun_copies_are_no_longer_cancelled() {
    let mut solo = Solo::joined(Config::waku());
    (0..3).for_each(|n| solo.mesh_peer(peer(n)));
    let outputs = solo.deliver(0, b"m");
    for (n, handle, _) in sends(&outputs) {
        let (peer, progress) = (PeerIx(n), Progress::Dropped);
        solo.input(Input::Sent {
            peer,
            handle,
            progress,
        });
    }
    assert_eq!(cancels(&solo.frame(1, raw::idontwant(&ids(&[b"m"])))), []);
    assert_eq!(solo.router.stats().sends_dropped, 2);
}

#[test]
fn a_message_of_a_topic_that_was_left_meanwhile_is_not_delivered() {
    let mut solo = Solo::joined(Config::waku());
    solo.mesh_peer(peer(0));
    solo.frame(0, raw::publish(TOPIC, b"m"));
    solo.input(Input::Unsubscribe(topic()));
    let outputs = solo.verdict(b"m", Verdict::Accept);
    assert!(delivered(&outputs).is_empty());
}
