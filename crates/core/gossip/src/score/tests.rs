//! The score function compared with a naive one, and its terms one by one.

mod naive;

use std::collections::BTreeMap;
use std::net::{IpAddr, Ipv4Addr};
use std::sync::Arc;
use std::time::Duration;

use naive::Naive;
use proptest::prelude::*;

use super::{Evaluation, ScoreParams, Scores, TopicScoreParams};
use crate::config::Config;
use crate::limits::Limits;
use crate::time::Time;
use crate::topics::{TopicIx, Topics};
use crate::types::{PeerIx, Topic};

const PEERS: u32 = 5;
const TOPICS: usize = 3;

#[derive(Clone, Debug)]
enum Op {
    Connect(u32, Option<u8>),
    Disconnect(u32),
    Graft(u32, usize),
    Prune(u32, usize),
    First(u32, usize),
    Duplicate(u32, usize),
    Invalid(u32, usize),
    Behaviour(u32, u32),
    Slow(u32),
    Application(u32, f64),
    Wait(u64),
}

fn op() -> impl Strategy<Value = Op> {
    let (peer, topic) = (0..PEERS, 0..TOPICS);
    let at = (peer.clone(), topic);
    let ip = prop::option::of(0u8..3);
    prop_oneof![
        3 => (peer.clone(), ip).prop_map(|(p, ip)| Op::Connect(p, ip)),
        1 => peer.clone().prop_map(Op::Disconnect),
        4 => at.clone().prop_map(|(p, t)| Op::Graft(p, t)),
        2 => at.clone().prop_map(|(p, t)| Op::Prune(p, t)),
        4 => at.clone().prop_map(|(p, t)| Op::First(p, t)),
        3 => at.clone().prop_map(|(p, t)| Op::Duplicate(p, t)),
        1 => at.prop_map(|(p, t)| Op::Invalid(p, t)),
        1 => (peer.clone(), 1u32..4).prop_map(|(p, n)| Op::Behaviour(p, n)),
        1 => peer.clone().prop_map(Op::Slow),
        1 => (peer, -20.0..20.0).prop_map(|(p, x)| Op::Application(p, x)),
        4 => (0u64..4_000).prop_map(Op::Wait),
    ]
}

fn decay() -> impl Strategy<Value = f64> {
    0.05..0.99
}

prop_compose! {
    fn topic_params()(
        topic_weight in 0.0..2.0,
        p1 in (0.0..1.0, 1u64..3_000, 0.0..5.0),
        p2 in (0.0..5.0, decay(), 1.0..6.0),
        p3 in (-5.0..=0.0, decay(), 0.0..4.0, 0.0..4.0),
        activation_ms in 1_000u64..4_000,
        p3b in (-5.0..=0.0, decay()),
        p4 in (-50.0..=0.0, decay()),
    ) -> TopicScoreParams {
        TopicScoreParams {
            topic_weight,
            time_in_mesh_weight: p1.0,
            time_in_mesh_quantum: Duration::from_millis(p1.1),
            time_in_mesh_cap: p1.2,
            first_deliveries_weight: p2.0,
            first_deliveries_decay: p2.1,
            first_deliveries_cap: p2.2,
            mesh_deliveries_weight: p3.0,
            mesh_deliveries_decay: p3.1,
            mesh_deliveries_threshold: p3.2,
            mesh_deliveries_cap: p3.2 + p3.3,
            mesh_deliveries_window: Duration::from_millis(5),
            mesh_deliveries_activation: Duration::from_millis(activation_ms),
            mesh_failure_weight: p3b.0,
            mesh_failure_decay: p3b.1,
            invalid_messages_weight: p4.0,
            invalid_messages_decay: p4.1,
        }
    }
}

prop_compose! {
    fn params()(
        at_decay in any::<bool>(),
        whole_quanta in any::<bool>(),
        topic_score_cap in prop_oneof![Just(0.0), 0.0..20.0],
        application_weight in 0.0..2.0,
        p6 in (-10.0..=0.0, 0u32..3, any::<bool>()),
        p7 in (-10.0..=0.0, 0.0..3.0, decay()),
        slow in (-10.0..=0.0, 0.0..3.0, decay()),
        decay_ms in 500u64..3_000,
        retain_ms in 500u64..8_000,
        decay_to_zero in 0.001..0.2,
        topics in prop::collection::vec(topic_params(), TOPICS),
    ) -> (ScoreParams, Vec<TopicScoreParams>) {
        let evaluation = if at_decay { Evaluation::AtDecay } else { Evaluation::OnDemand };
        let named = topics.iter().enumerate().skip(1);
        let params = ScoreParams {
            evaluation,
            topic_score_cap,
            application_weight,
            ip_colocation_weight: p6.0,
            ip_colocation_threshold: p6.1,
            ip_colocation_allowed: p6.2.then_some(ip(0)).into_iter().collect(),
            behaviour_weight: p7.0,
            behaviour_threshold: p7.1,
            behaviour_decay: p7.2,
            slow_peer_weight: slow.0,
            slow_peer_threshold: slow.1,
            slow_peer_decay: slow.2,
            decay_interval: Duration::from_millis(decay_ms),
            decay_to_zero,
            retain_score: Duration::from_millis(retain_ms),
            whole_quanta,
            default_topic: topics[0].clone(),
            topics: named.map(|(i, t)| (format!("{i}"), t.clone())).collect(),
        };
        (params, topics)
    }
}

fn ip(n: u8) -> IpAddr {
    Ipv4Addr::new(10, 0, 0, n).into()
}

/// Scores with indices for `TOPICS` topics: the first one has the default parameters.
fn scores(params: ScoreParams) -> (Scores, Vec<TopicIx>) {
    let mut config = Config::waku();
    config.score = Some(params);
    let mut scores = Scores::new(Arc::new(config), Time::ZERO);
    let mut topics = Topics::default();
    let indices = (0..TOPICS).map(|i| {
        let name = Topic::new(&format!("{i}"));
        let (ix, _) = topics
            .intern(&name, &Limits::default(), Topic::clone)
            .unwrap();
        scores.name_topic(ix, &name);
        ix
    });
    let indices = indices.collect();
    (scores, indices)
}

/// Applies the same operation to both; operations that the router never does (graft twice, touch a peer
/// that is gone) are left out.
fn apply(op: &Op, now: &mut Time, scores: &mut Scores, ix: &[TopicIx], naive: &mut Naive) {
    let valid = match *op {
        Op::Connect(p, _) => !naive.is_connected(p),
        Op::Graft(p, t) => naive.is_connected(p) && !naive.is_in_mesh(p, t),
        Op::Prune(p, t) => naive.is_in_mesh(p, t),
        Op::Disconnect(p) | Op::First(p, _) | Op::Duplicate(p, _) | Op::Invalid(p, _) => {
            naive.is_connected(p)
        }
        _ => true,
    };
    if !valid {
        return;
    }
    match *op {
        Op::Connect(p, n) => {
            scores.connected(PeerIx(p), n.map(ip));
            naive.connect(p, n.map(ip));
        }
        Op::Disconnect(p) => {
            scores.disconnected(PeerIx(p), *now);
            naive.disconnect(p, *now);
        }
        Op::Graft(p, t) => {
            scores.grafted(PeerIx(p), ix[t], *now);
            naive.graft(p, t, *now);
        }
        Op::Prune(p, t) => {
            scores.pruned(PeerIx(p), ix[t]);
            naive.prune(p, t);
        }
        Op::First(p, t) => {
            scores.first_delivery(PeerIx(p), ix[t]);
            naive.first_delivery(p, t);
        }
        Op::Duplicate(p, t) => {
            scores.mesh_delivery(PeerIx(p), ix[t]);
            naive.mesh_delivery(p, t);
        }
        Op::Invalid(p, t) => {
            scores.invalid_message(PeerIx(p), ix[t]);
            naive.invalid(p, t);
        }
        Op::Behaviour(p, n) => {
            scores.behaviour(PeerIx(p), n);
            naive.peer(p).into_iter().for_each(|peer| peer.misbehave(n));
        }
        Op::Slow(p) => {
            scores.slow(PeerIx(p));
            naive.peer(p).into_iter().for_each(naive::Peer::drop_frame);
        }
        Op::Application(p, x) => {
            scores.set_application(PeerIx(p), x);
            naive
                .peer(p)
                .into_iter()
                .for_each(|peer| peer.set_application(x));
        }
        Op::Wait(ms) => {
            *now = now.after(Duration::from_millis(ms));
            scores.decay(*now);
            naive.decay(*now);
        }
    }
}

proptest! {
    #[test]
    fn equals_the_naive_function_after_every_operation(
        (params, topics) in params(),
        ops in prop::collection::vec(op(), 0..120),
    ) {
        let (mut scores, ix) = scores(params.clone());
        let mut naive = Naive::new(params, topics);
        let mut now = Time::ZERO;
        for (i, op) in ops.iter().enumerate() {
            apply(op, &mut now, &mut scores, &ix, &mut naive);
            for peer in 0..PEERS {
                let (got, want) = (scores.score(PeerIx(peer)), naive.score(peer));
                let tolerance = 1e-9 * want.abs().max(1.0);
                prop_assert!(
                    (got - want).abs() <= tolerance,
                    "peer {peer} after operation {i} {op:?}: {got}, naively {want}"
                );
            }
        }
    }
}

/// One mesh peer under Waku's parameters with P3 on, for the numbers of each term.
fn one_peer(change: fn(&mut ScoreParams)) -> (Scores, TopicIx) {
    let mut params = ScoreParams::default();
    params.default_topic.mesh_deliveries_weight = -1.0;
    params.default_topic.mesh_deliveries_threshold = 3.0;
    params.default_topic.mesh_deliveries_cap = 5.0;
    params.default_topic.mesh_failure_weight = -1.0;
    change(&mut params);
    let (mut scores, ix) = scores(params);
    scores.connected(PeerIx(0), Some(ip(1)));
    scores.grafted(PeerIx(0), ix[0], Time::ZERO);
    (scores, ix[0])
}

#[test]
fn time_in_the_mesh_counts_at_decay_ticks_and_up_to_its_cap() {
    let (mut scores, _) = one_peer(|p| p.default_topic.mesh_deliveries_weight = 0.0);
    scores.decay(Time::from_millis(11_999));
    assert_eq!(scores.score(PeerIx(0)), 0.0);
    scores.decay(Time::from_millis(12_000));
    assert!(
        (scores.score(PeerIx(0)) - 0.1).abs() < 1e-9,
        "10 of 12 quanta at 0.01"
    );
}

#[test]
fn whole_quanta_are_counted_as_go_does() {
    let at_1700_ms = |change: fn(&mut ScoreParams)| {
        let (mut scores, _) = one_peer(change);
        scores.decay(Time::from_millis(1_700));
        scores.score(PeerIx(0))
    };
    let fractions = at_1700_ms(|p| {
        p.default_topic.mesh_deliveries_weight = 0.0;
        p.decay_interval = Duration::from_millis(1_700);
    });
    let whole = at_1700_ms(|p| {
        p.default_topic.mesh_deliveries_weight = 0.0;
        p.decay_interval = Duration::from_millis(1_700);
        p.whole_quanta = true;
    });
    assert!((fractions - 0.017).abs() < 1e-9 && (whole - 0.01).abs() < 1e-9);
}

#[test]
fn a_deficit_counts_from_the_first_tick_after_the_activation() {
    let (mut scores, _) = one_peer(|p| {
        p.default_topic.time_in_mesh_weight = 0.0;
        p.default_topic.mesh_deliveries_activation = Duration::from_secs(12);
    });
    scores.decay(Time::from_millis(12_000));
    assert_eq!(scores.score(PeerIx(0)), 0.0, "not above it yet");
    scores.decay(Time::from_millis(24_000));
    assert_eq!(scores.score(PeerIx(0)), -9.0);
}

#[test]
fn a_deficit_sticks_when_the_peer_is_pruned_once() {
    let (mut scores, ix) = one_peer(|p| p.default_topic.time_in_mesh_weight = 0.0);
    scores.first_delivery(PeerIx(0), ix);
    scores.decay(Time::from_millis(12_000));
    // 0.5 mesh deliveries left: deficit 2.5, and 0.5 first deliveries.
    assert!((scores.score(PeerIx(0)) - (0.5 - 6.25)).abs() < 1e-9);
    scores.pruned(PeerIx(0), ix);
    assert!(
        (scores.score(PeerIx(0)) - (0.5 - 6.25)).abs() < 1e-9,
        "now P3b"
    );
    scores.disconnected(PeerIx(0), Time::from_millis(12_000));
    assert!(
        (scores.score(PeerIx(0)) - -6.25).abs() < 1e-9,
        "not counted again"
    );
}

#[test]
fn who_comes_to_a_crowded_address_pays_with_the_square_of_the_surplus() {
    let (mut scores, _) = scores(ScoreParams::default());
    for n in 0..8 {
        scores.connected(PeerIx(n), Some(ip(1)));
    }
    scores.connected(PeerIx(8), Some(ip(2)));
    let at = |scores: &Scores, n| scores.score(PeerIx(n));
    assert!(
        (0..5).all(|n| at(&scores, n) == 0.0),
        "they were there first"
    );
    assert_eq!(
        (5..8).map(|n| at(&scores, n)).collect::<Vec<_>>(),
        [-50.0, -200.0, -450.0]
    );
    assert_eq!(at(&scores, 8), 0.0);
    scores.disconnected(PeerIx(0), Time::ZERO);
    assert_eq!(
        (5..8).map(|n| at(&scores, n)).collect::<Vec<_>>(),
        [0.0, -50.0, -200.0]
    );
}

/// 25 identities that stayed for three seconds would expel both honest nodes at their address
/// for ten minutes.
#[test]
fn a_crowd_that_comes_and_goes_costs_the_members_of_its_address_nothing() {
    let (mut scores, _) = scores(ScoreParams::default());
    for n in 0..27 {
        scores.connected(PeerIx(n), Some(ip(1)));
    }
    assert_eq!((0..2).map(|n| scores.score(PeerIx(n))).sum::<f64>(), 0.0);
    for n in 1..27 {
        scores.disconnected(PeerIx(n), Time::ZERO);
        assert!(!scores.remembers(PeerIx(n)), "peer {n} did nothing wrong");
    }
    scores.connected(PeerIx(1), Some(ip(1)));
    assert_eq!(
        scores.score(PeerIx(1)),
        0.0,
        "it returns to an address that is not crowded any more"
    );
}

#[test]
fn addresses_of_one_ipv6_network_count_as_one() {
    let (mut scores, _) = scores(ScoreParams::default());
    for n in 0..7u32 {
        let ip: IpAddr = format!("2001:db8::{n:x}").parse().unwrap();
        scores.connected(PeerIx(n), Some(ip));
    }
    assert_eq!(scores.score(PeerIx(6)), -200.0);
}

#[test]
fn offences_below_the_threshold_are_not_undone_by_reconnecting() {
    let (mut scores, _) = scores(ScoreParams::default());
    for _ in 0..2 {
        scores.connected(PeerIx(0), None);
        scores.behaviour(PeerIx(0), 5);
        scores.disconnected(PeerIx(0), Time::ZERO);
    }
    assert_eq!(
        scores.score(PeerIx(0)),
        -160.0,
        "ten offences, six of them free"
    );
}

#[test]
fn an_index_that_gets_another_topic_starts_from_nothing() {
    let mut topics = BTreeMap::new();
    let weight_10 = TopicScoreParams {
        topic_weight: 10.0,
        ..TopicScoreParams::default()
    };
    topics.insert("heavy".to_owned(), weight_10);
    let (mut scores, ix) = scores(ScoreParams {
        topics,
        ..ScoreParams::default()
    });
    scores.connected(PeerIx(0), None);
    scores.first_delivery(PeerIx(0), ix[0]);
    assert_eq!(scores.score(PeerIx(0)), 1.0);
    scores.forget_topic(ix[0]);
    assert_eq!(scores.score(PeerIx(0)), 0.0);
    scores.name_topic(ix[0], &Topic::new("heavy"));
    scores.first_delivery(PeerIx(0), ix[0]);
    assert_eq!(scores.score(PeerIx(0)), 10.0);
}
