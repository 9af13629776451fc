//! One regression test per published vulnerability that a GossipSub router can have.

use std::time::Duration;

use super::raw;
use super::solo::{Solo, TOPIC, grafted, misdeeds, outbound, peer, scored, sends, topic};
use crate::{Config, Input, Malformed, Output, PeerMisbehaved, Time, TopicScoreParams, Verdict};

fn with_mesh_peer() -> Solo {
    let mut solo = Solo::joined(Config::waku());
    solo.mesh_peer(peer(0));
    solo
}

/// GHSA-gc42-3jg7-rxr2: time arithmetic with an unclamped backoff panicked.
#[test]
fn cve_2026_33040_prune_backoff_u64_max() {
    let mut solo = with_mesh_peer();
    solo.frame(0, raw::prune(TOPIC, Some(u64::MAX), &[]));
    assert!(solo.mesh().is_empty());
    assert_eq!(grafted(&solo.advance(Duration::from_secs(3_601))), [0; 0]);
    let later = solo.advance(Duration::from_secs(3));
    assert_eq!(grafted(&later), [0], "clamped to an hour, plus the slack");
}

/// GHSA-xqmp-fxgv-xvq5: the clamped value overflowed later, when the heartbeat added the slack.
#[test]
fn cve_2026_34219_backoff_plus_slack_at_the_end_of_time() {
    let mut config = Config::waku();
    config.limits.prune_backoff_s_max = u64::MAX;
    config.backoff_slack = Duration::MAX;
    config.prune_backoff = Duration::MAX;
    let mut solo = Solo::joined(config);
    for n in 0..3 {
        solo.mesh_peer(peer(n));
    }
    for (n, backoff) in [
        (0, u64::MAX),
        (1, u64::MAX / 1_000_000_000),
        (2, i64::MAX as u64),
    ] {
        solo.frame(n, raw::prune(TOPIC, Some(backoff), &[]));
    }
    solo.advance(Duration::from_secs(10));
    // Timers saturate too, even the last possible heartbeat.
    solo.now = Time::from_nanos(u64::MAX - 1);
    solo.input(Input::Tick);
    solo.frame(0, raw::graft(TOPIC));
    solo.now = Time::MAX;
    solo.input(Input::Tick);
    solo.input(Input::Unsubscribe(topic()));
    assert_eq!(solo.router.next_timeout(), Time::MAX);
}

/// The number of topics per peer was unbounded if they came by GRAFT instead of SUBSCRIBE.
#[test]
fn ghsa_g3g5_x568_qvqx_topics_by_graft() {
    let mut config = Config::waku();
    config.limits.subscriptions_per_peer_max = 5;
    let mut solo = Solo::new(config);
    solo.connect(peer(0));
    for i in 0..20 {
        solo.input(Input::Subscribe(format!("{i}").as_str().into()));
    }
    for i in 0..10_000 {
        solo.frame(0, raw::graft(&format!("{i}")));
        let usage = solo.router.usage();
        assert!(usage.topics == 20 && usage.subscriptions_of_a_peer <= 5);
    }
    let meshes = (0..20).filter(|i| !solo.router.mesh(&format!("{i}").as_str().into()).is_empty());
    assert_eq!(meshes.count(), 5);
}

/// A PRUNE for a topic that was never joined created backoff entries.
#[test]
fn ghsa_vrx6_jcp8_vm7m_prune_for_topics_not_joined() {
    let mut solo = with_mesh_peer();
    solo.frame(0, raw::subscribe("theirs"));
    for i in 0..1_000 {
        let outputs = solo.frame(0, raw::prune(&format!("{i}"), Some(60), &[]));
        assert!(outputs.is_empty());
    }
    solo.frame(0, raw::prune("theirs", Some(60), &[]));
    let usage = solo.router.usage();
    assert_eq!((usage.backoffs, usage.topics), (0, 2));
}

/// GHSA-4f8r-922h-2vgv: 349 525 SUBSCRIBEs fit into one frame of 4 MB.
#[test]
fn cve_2026_46679_subscriptions_in_one_frame() {
    let mut solo = with_mesh_peer();
    let one = raw::bytes(1, &[raw::number(1, 1), raw::bytes(2, b"")].concat());
    let flood: Vec<_> = one.repeat((4 << 20) / one.len());
    let outputs = solo.frame(0, flood);
    let refused = Malformed::TooMany {
        what: "subscriptions",
        max: 256,
    };
    assert_eq!(
        misdeeds(&outputs),
        [(0, PeerMisbehaved::Malformed(refused))]
    );
    assert_eq!(outputs.len(), 1);
    assert_eq!(solo.router.usage().topics, 1);
}

/// Memory held by many small pieces: a message must not keep the frame that it arrived in, and the messages
/// that wait are bounded.
#[test]
fn cve_2022_23486_many_small_messages() {
    let mut config = Config::waku();
    config.limits.pending_max = 50;
    let mut solo = Solo::joined(config);
    solo.mesh_peer(peer(0));
    for round in 0..5u32 {
        let frame: Vec<_> = (0..1_000u32)
            .flat_map(|i| raw::publish(TOPIC, &(round * 1_000 + i).to_be_bytes()))
            .collect();
        solo.frame(0, frame);
        assert_eq!(solo.router.usage().pending, 50);
    }
}

/// EF CL-2020-07 (Teku): memory was allocated as a length prefix demanded.
#[test]
fn ef_cl_2020_07_lengths_from_untrusted_prefixes() {
    for field in [0x0a, 0x12, 0x1a] {
        for len in [u64::MAX, 1 << 62, 1 << 40, 6] {
            let mut solo = with_mesh_peer();
            let frame = [vec![field], raw::varint(len), vec![0; 5]].concat();
            let truncated = PeerMisbehaved::Malformed(Malformed::Truncated);
            assert_eq!(misdeeds(&solo.frame(0, frame)), [(0, truncated)]);
        }
    }
}

/// CVE-2022-47547: with the parameters of Ethereum's beacon chain a peer may forward nothing and keep a
/// positive score. Whether that holds here depends on P3 alone, so each parameter set has its test.
///
/// Returns the score of a mesh peer that never forwards, while an honest one delivers a message a second.
fn score_of_a_silent_mesh_peer(config: Config, seconds: u32) -> (f64, bool) {
    let mut solo = Solo::joined(config);
    solo.mesh_peer(outbound(0));
    solo.mesh_peer(outbound(1));
    let mut pruned = false;
    let mut lowest = f64::MAX;
    for second in 0..seconds {
        solo.deliver(0, &second.to_be_bytes());
        solo.advance_ms(1_000);
        lowest = lowest.min(solo.score(1));
        pruned |= !solo.mesh().contains(&1);
    }
    assert!(solo.score(0) > 0.0, "the honest peer");
    (lowest, pruned)
}

#[test]
fn cve_2022_47547_a_silent_peer_is_found_out_when_p3_is_on() {
    let mut config = Config::waku();
    config.score.as_mut().unwrap().default_topic = TopicScoreParams {
        mesh_deliveries_weight: -1.0,
        mesh_deliveries_threshold: 2.0,
        mesh_deliveries_cap: 100.0,
        mesh_deliveries_decay: 0.9,
        mesh_deliveries_activation: Duration::from_secs(5),
        ..TopicScoreParams::default()
    };
    let (lowest, pruned) = score_of_a_silent_mesh_peer(config, 60);
    assert!(lowest < 0.0 && pruned, "{lowest}");
}

/// Waku sets P3's weight to 0: the silent peer even gains from its time in the mesh. This is a property of
/// the network's parameters, not a defect of the router; the test documents it.
#[test]
fn cve_2022_47547_a_silent_peer_goes_unpunished_with_wakus_parameters() {
    let (lowest, pruned) = score_of_a_silent_mesh_peer(Config::waku(), 60);
    assert!(lowest >= 0.0 && !pruned, "{lowest}");
}

/// A peer that always breaks its promises must not compensate for that by its deliveries.
#[test]
fn cve_2022_47547_first_deliveries_do_not_pay_for_invalid_messages() {
    let mut solo = Solo::joined(scored());
    solo.mesh_peer(peer(0));
    for i in 0..200u32 {
        solo.deliver(0, &i.to_be_bytes());
    }
    solo.frame(0, raw::publish(TOPIC, b"bad"));
    let outputs = solo.verdict(b"bad", Verdict::Reject);
    assert!(solo.score(0) < 0.0);
    assert!(sends(&outputs).is_empty());
    let outputs = solo.heartbeat();
    assert!(!solo.mesh().contains(&0));
    assert!(!outputs.iter().any(|o| matches!(o, Output::Deliver { .. })));
}
