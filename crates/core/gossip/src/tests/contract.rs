//! Tests of the contract between a driver and the router.

use std::time::Duration;

use bytes::Bytes;

use super::raw;
use super::solo::{Solo, TOPIC, grafted, peer, topic};
use crate::types::RequestId;
use crate::{
    ApiMisuse, Config, Input, MessageId, Output, PeerIx, Progress, Router, Rule, ScoreParams,
    SendHandle, StrategyKind, Time, Topic, TopicScoreParams, Verdict,
};

fn refused(solo: &mut Solo, input: Input) -> ApiMisuse {
    let error = solo.router.handle(solo.now, input).unwrap_err();
    assert!(
        solo.router.poll().is_none(),
        "a refused input has no outputs"
    );
    error
}

#[test]
fn a_peer_is_connected_once() {
    let mut solo = Solo::joined(Config::waku());
    solo.connect(peer(3));
    let error = refused(&mut solo, Input::Connected(peer(3)));
    assert_eq!(error, ApiMisuse::AlreadyConnected(PeerIx(3)));
    solo.disconnect(3);
    solo.connect(peer(3));
}

#[test]
fn peers_that_are_not_connected_send_nothing_and_do_not_leave() {
    let mut solo = Solo::joined(Config::waku());
    let unknown = ApiMisuse::UnknownPeer(PeerIx(9));
    let (peer, frame) = (PeerIx(9), Bytes::new());
    assert_eq!(
        refused(
            &mut solo,
            Input::Frame {
                peer,
                frame: frame.into()
            }
        ),
        unknown
    );
    assert_eq!(refused(&mut solo, Input::Disconnected(peer)), unknown);
}

#[test]
fn time_does_not_go_backwards() {
    let mut solo = Solo::joined(Config::waku());
    solo.advance_ms(10);
    solo.input(Input::Tick);
    let earlier = Time::from_millis(9);
    let error = solo.router.handle(earlier, Input::Tick).unwrap_err();
    assert_eq!(error, ApiMisuse::TimeWentBackwards);
    solo.input(Input::Tick);
}

#[test]
fn outputs_are_drained_before_the_next_input() {
    let mut solo = Solo::joined(Config::waku());
    solo.router
        .handle(solo.now, Input::Connected(peer(0)))
        .unwrap();
    let error = solo.router.handle(solo.now, Input::Tick).unwrap_err();
    assert_eq!(error, ApiMisuse::OutputsNotDrained);
    while solo.router.poll().is_some() {}
    solo.input(Input::Tick);
}

#[test]
fn own_topics_obey_the_limits() {
    let mut config = Config::waku();
    config.limits.topics_max = 2;
    config.limits.topic_bytes_max = 8;
    let mut solo = Solo::joined(config);
    let long = Topic::new("123456789");
    let error = refused(&mut solo, Input::Subscribe(long.clone()));
    assert_eq!(error, ApiMisuse::TopicLimit(long.clone()));
    let (data, request) = (Bytes::new(), RequestId(1));
    let publish = Input::Publish {
        topic: long.clone(),
        data,
        request,
    };
    assert_eq!(refused(&mut solo, publish), ApiMisuse::TopicLimit(long));
    solo.input(Input::Subscribe(Topic::new("12345678")));
    let third = Topic::new("3");
    let error = refused(&mut solo, Input::Subscribe(third.clone()));
    assert_eq!(error, ApiMisuse::TopicLimit(third));
}

#[test]
fn what_may_come_late_is_no_misuse() {
    let mut solo = Solo::joined(Config::waku());
    let (id, verdict) = (MessageId([7; 32]), Verdict::Accept);
    assert!(solo.input(Input::Validated { id, verdict }).is_empty());
    let (peer, handle) = (PeerIx(5), SendHandle(1));
    for progress in [Progress::Started, Progress::Dropped] {
        solo.input(Input::Sent {
            peer,
            handle,
            progress,
        });
    }
    solo.input(Input::ApplicationScore { peer, score: 1.0 });
    assert!(
        solo.input(Input::Unsubscribe(Topic::new("never joined")))
            .is_empty()
    );
    assert!(solo.input(Input::Subscribe(topic())).is_empty(), "twice");
}

#[test]
fn the_next_timeout_is_when_something_happens_and_never_in_the_past() {
    let mut solo = Solo::joined(Config::waku());
    assert_eq!(solo.router.next_timeout(), Time::from_millis(100));
    solo.mesh_peer(peer(0));
    solo.frame(0, raw::prune(TOPIC, Some(2), &[]));
    // Nothing happens between timeouts.
    solo.now = Time::from_millis(99);
    assert!(solo.input(Input::Tick).is_empty());
    let mut at = Vec::new();
    for _ in 0..14 {
        solo.now = solo.router.next_timeout();
        if grafted(&solo.input(Input::Tick)) == [0] {
            at.push(solo.now);
        }
        assert!(solo.router.next_timeout() > solo.now);
    }
    assert_eq!(at, [Time::from_millis(4_100)]);
}

#[test]
fn timers_run_after_any_input() {
    let mut solo = Solo::joined(Config::waku());
    solo.mesh_peer(peer(0));
    solo.frame(0, raw::prune(TOPIC, Some(2), &[]));
    solo.now = Time::from_millis(60_000);
    let outputs = solo.connect(peer(1));
    assert_eq!(grafted(&outputs), [0]);
    let next = solo.now.after(Duration::from_secs(1));
    assert_eq!(
        solo.router.next_timeout(),
        next,
        "a driver that slept gets no burst"
    );
}

fn score(config: &mut Config) -> &mut ScoreParams {
    config.score.as_mut().unwrap()
}

fn topic_score(config: &mut Config) -> &mut TopicScoreParams {
    &mut score(config).default_topic
}

#[test]
fn a_configuration_that_breaks_a_rule_is_refused_by_name() {
    type Change = fn(&mut Config);
    let changes: [(Change, Rule); 20] = [
        (|c| c.degrees.d_low = 7, Rule::DegreeOrder),
        (|c| c.degrees.d = 9, Rule::DegreeOrder),
        (|c| c.degrees.d_score = 9, Rule::ScoreDegree),
        (
            |c| c.degrees.d_out = 4,
            Rule::OutboundDegree {
                d_out: 4,
                d_low: 4,
                d: 6,
            },
        ),
        (|c| c.heartbeat = Duration::ZERO, Rule::Heartbeat),
        (|c| c.history_gossip = 7, Rule::History),
        (|c| c.dandelion.epoch = Duration::ZERO, Rule::Dandelion),
        (
            |c| c.dandelion.embargo_mean = Duration::ZERO,
            Rule::Dandelion,
        ),
        (|c| c.dandelion.diffuser_probability = 1.1, Rule::Dandelion),
        (|c| c.gossip_factor = f64::NAN, Rule::GossipFactor),
        (|c| c.thresholds.gossip = 1.0, Rule::Thresholds),
        (|c| c.thresholds.publish = -99.0, Rule::Thresholds),
        (|c| c.thresholds.graylist = -999.0, Rule::Thresholds),
        (|c| c.thresholds.accept_px = -1.0, Rule::Thresholds),
        (|c| score(c).behaviour_weight = 1.0, Rule::PenaltySign),
        (|c| topic_score(c).first_deliveries_decay = 1.0, Rule::Decay),
        (
            |c| topic_score(c).mesh_deliveries_threshold = 2.0,
            Rule::MeshDeliveriesCap,
        ),
        (|c| topic_score(c).topic_weight = -1.0, Rule::RewardSign),
        (
            |c| topic_score(c).mesh_failure_weight = 1.0,
            Rule::PenaltySign,
        ),
        (
            |c| topic_score(c).time_in_mesh_quantum = Duration::ZERO,
            Rule::Quantum,
        ),
    ];
    for (i, (change, rule)) in changes.into_iter().enumerate() {
        let mut config = Config::waku();
        change(&mut config);
        let error = Router::new(config, [0; 32], Time::ZERO).unwrap_err();
        assert_eq!(error.0, rule, "change {i}");
    }
}

#[test]
fn presets_and_a_bootstrapper_are_valid() {
    let mut bootstrapper = Config {
        peer_exchange: true,
        ..Config::waku()
    };
    let degrees = &mut bootstrapper.degrees;
    (degrees.d, degrees.d_low, degrees.d_high) = (0, 0, 0);
    (degrees.d_out, degrees.d_score) = (0, 0);
    let flood = Config {
        strategy: StrategyKind::Flood.into(),
        ..Config::waku()
    };
    for config in [Config::waku(), Config::libp2p(), bootstrapper, flood] {
        assert_eq!(config.validate(), Ok(()));
        let mut solo = Solo::joined(config);
        (0..3).for_each(|n| drop(solo.subscriber(peer(n))));
        solo.advance_ms(5_000);
    }
}

#[test]
fn what_a_peer_is_subscribed_to_can_be_asked() {
    let mut solo = Solo::joined(Config::waku());
    solo.subscriber(peer(0));
    solo.frame(0, raw::subscribe("b"));
    let mut topics = solo.router.topics_of(PeerIx(0));
    topics.sort();
    assert_eq!(topics, [Topic::new("b"), topic()]);
    assert_eq!(solo.router.joined(), [topic()]);
    assert!(solo.router.topics_of(PeerIx(1)).is_empty());
    let outputs = solo.disconnect(0);
    assert!(!outputs.iter().any(|o| matches!(o, Output::Send { .. })));
    assert!(solo.router.subscribers(&topic()).is_empty());
}
