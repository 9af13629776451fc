//! Effects of scores: the record of deliveries, the thresholds, and what outlives a connection. The score
//! function itself is tested in `score`.

use std::sync::Arc;
use std::time::Duration;

use super::raw;
use super::solo::{Solo, TOPIC, grafted, misdeeds, peer, receivers, said, scored};
use crate::{
    Config, Evaluation, Input, MessageId, NewPeer, Output, PeerIx, Progress, SendHandle,
    TopicScoreParams, Verdict,
};

const DECAY_S: u64 = 12;

/// Parameters with P3 on and P1 off: 10 points for a first delivery (P2), a deficit below 4 mesh deliveries.
fn p3() -> Config {
    let mut config = Config::waku();
    let score = config.score.as_mut().unwrap();
    score.default_topic = TopicScoreParams {
        time_in_mesh_weight: 0.0,
        first_deliveries_weight: 10.0,
        mesh_deliveries_weight: -1.0,
        mesh_deliveries_threshold: 4.0,
        mesh_deliveries_cap: 100.0,
        mesh_deliveries_decay: 0.999_999,
        first_deliveries_decay: 0.999_999,
        mesh_deliveries_window: Duration::from_millis(5),
        mesh_deliveries_activation: Duration::from_secs(1),
        invalid_messages_weight: -1_000.0,
        ..TopicScoreParams::default()
    };
    config
}

/// A router whose three mesh peers have an active deficit of 4 messages: -16 each.
fn deficits() -> Solo {
    let mut solo = Solo::joined(p3());
    // Mesh members may not be pruned for the negative score that the test examines.
    Arc::make_mut(&mut solo.router.config).heartbeat = Duration::from_secs(10_000);
    solo.heartbeat();
    (0..3).for_each(|n| solo.mesh_peer(peer(n)));
    solo.subscriber(peer(3));
    solo.frame(3, raw::prune(TOPIC, Some(3600), &[]));
    solo.advance(Duration::from_secs(DECAY_S + 1));
    assert!((0..3).all(|n| close(solo.score(n), -16.0)));
    solo
}

fn close(a: f64, b: f64) -> bool {
    (a - b).abs() < 0.01
}

fn copy(solo: &mut Solo, n: u32) -> Vec<Output> {
    solo.frame(n, raw::publish(TOPIC, b"m"))
}

#[test]
fn copies_before_the_verdict_are_credited_when_it_is_good() {
    let mut solo = deficits();
    copy(&mut solo, 0);
    copy(&mut solo, 1);
    copy(&mut solo, 1);
    copy(&mut solo, 3);
    assert!(
        (0..3).all(|n| close(solo.score(n), -16.0)),
        "not before the verdict"
    );
    solo.verdict(b"m", Verdict::Accept);
    assert!(
        close(solo.score(0), 10.0 - 9.0),
        "first delivery, and in the mesh"
    );
    assert!(close(solo.score(1), -9.0), "one credit for two copies");
    assert!(close(solo.score(2), -16.0));
    assert!(close(solo.score(3), 0.0), "no mesh credit outside the mesh");
}

#[test]
fn copies_within_the_window_after_the_verdict_are_credited_once() {
    let mut solo = deficits();
    copy(&mut solo, 0);
    solo.verdict(b"m", Verdict::Accept);
    solo.advance_ms(5);
    copy(&mut solo, 1);
    copy(&mut solo, 1);
    assert!(close(solo.score(1), -9.0));
    copy(&mut solo, 0);
    assert!(close(solo.score(0), 1.0), "it had its credit");
    solo.now = solo.now.after(Duration::from_nanos(1));
    copy(&mut solo, 2);
    assert!(close(solo.score(2), -16.0), "too late");
}

#[test]
fn everybody_who_sent_a_rejected_message_pays_and_so_does_who_sends_it_later() {
    let mut solo = deficits();
    copy(&mut solo, 0);
    copy(&mut solo, 1);
    let outputs = solo.verdict(b"m", Verdict::Reject);
    assert_eq!(misdeeds(&outputs).len(), 2);
    assert!((0..2).all(|n| close(solo.score(n), -1_016.0)));
    copy(&mut solo, 2);
    assert!(close(solo.score(2), -1_016.0));
    copy(&mut solo, 2);
    assert!(close(solo.score(2), -4_016.0), "squared");
    assert!(close(solo.score(3), 0.0));
}

#[test]
fn an_ignored_message_costs_and_earns_nothing() {
    let mut solo = deficits();
    copy(&mut solo, 0);
    copy(&mut solo, 1);
    solo.verdict(b"m", Verdict::Ignore);
    copy(&mut solo, 2);
    assert!((0..3).all(|n| close(solo.score(n), -16.0)));
}

#[test]
fn only_the_sender_pays_for_a_message_that_others_may_pass_on_in_good_faith() {
    let mut solo = deficits();
    copy(&mut solo, 0);
    copy(&mut solo, 1);
    let outputs = solo.verdict(b"m", Verdict::RejectFirstSender);
    assert_eq!(misdeeds(&outputs).len(), 1);
    copy(&mut solo, 2);
    assert!(close(solo.score(0), -1_016.0));
    assert!((1..3).all(|n| close(solo.score(n), -16.0)));
}

#[test]
fn a_second_verdict_changes_nothing() {
    let mut solo = deficits();
    copy(&mut solo, 0);
    solo.verdict(b"m", Verdict::Accept);
    assert!(solo.verdict(b"m", Verdict::Reject).is_empty());
    assert!(close(solo.score(0), 1.0));
}

#[test]
fn below_the_gossip_threshold_there_is_no_gossip_either_way() {
    let mut solo = Solo::joined(scored());
    solo.subscriber(peer(9));
    solo.deliver(9, b"m");
    for (n, score, heard) in [(0, -100.0, true), (1, -100.5, false)] {
        solo.subscriber(peer(n));
        solo.frame(n, raw::prune(TOPIC, Some(3600), &[]));
        solo.set_score(n, score);
        let asked = solo.frame(n, raw::ihave(TOPIC, &raw::made_up_ids(n * 10, 1)));
        assert_eq!(said(&asked, n).iwant.len(), usize::from(heard), "peer {n}");
        let iwant = raw::iwant(&[MessageId::of(b"m")]);
        assert_eq!(receivers(&solo.frame(n, iwant)).len(), usize::from(heard));
    }
    let outputs = solo.heartbeat();
    assert_eq!(said(&outputs, 0).ihave.len(), 1);
    assert_eq!(said(&outputs, 1).ihave.len(), 0);
}

#[test]
fn below_the_publish_threshold_own_messages_are_withheld() {
    let mut solo = Solo::joined(scored());
    for (n, score) in [(0, -1_000.0), (1, -1_000.5)] {
        solo.subscriber(peer(n));
        solo.set_score(n, score);
    }
    solo.heartbeat();
    assert_eq!(receivers(&solo.publish(b"m")), [0]);
}

#[test]
fn below_the_graylist_threshold_nothing_is_heard_and_the_peer_is_dropped() {
    for disconnect in [true, false] {
        let mut config = scored();
        config.disconnect_graylisted = disconnect;
        let mut solo = Solo::joined(config);
        solo.subscriber(peer(0));
        solo.set_score(0, -10_000.0);
        assert_ne!(
            copy(&mut solo, 0).len(),
            0,
            "at the threshold it is still heard"
        );
        solo.set_score(0, -10_001.0);
        assert!(solo.deliver(0, b"n").is_empty());
        assert!(solo.frame(0, vec![0xff]).is_empty(), "not even read");
        let outputs = solo.advance(Duration::from_secs(DECAY_S));
        let dropped = outputs
            .iter()
            .any(|o| matches!(o, Output::Disconnect(PeerIx(0))));
        assert_eq!(dropped, disconnect);
    }
}

#[test]
fn an_explicit_peer_is_heard_whatever_its_score() {
    let mut solo = Solo::joined(scored());
    let explicit = true;
    solo.subscriber(NewPeer {
        explicit,
        ..peer(0)
    });
    solo.set_score(0, -20_000.0);
    assert_ne!(copy(&mut solo, 0).len(), 0);
}

/// gossipsub.md 1.9: two invalid messages cost the gossip, four the publish threshold, eleven the connection.
#[test]
fn invalid_messages_cost_what_wakus_parameters_say() {
    let mut solo = Solo::joined(Config::waku());
    solo.subscriber(peer(0));
    for i in 1..=11u8 {
        solo.frame(0, raw::publish(TOPIC, &[i]));
        let outputs = solo.verdict(&[i], Verdict::Reject);
        assert!(
            close(solo.score(0), -100.0 * f64::from(i).powi(2)),
            "after {i}"
        );
        let dropped = outputs.iter().any(|o| matches!(o, Output::Disconnect(_)));
        assert_eq!(dropped, i == 11);
    }
}

#[test]
fn a_bad_score_is_waiting_when_the_peer_returns_and_a_good_one_is_lost() {
    let mut solo = Solo::joined(Config::waku());
    for n in [0, 1] {
        solo.subscriber(peer(n));
        solo.frame(n, raw::prune(TOPIC, Some(1), &[]));
    }
    solo.frame(0, raw::publish(TOPIC, b"bad"));
    solo.verdict(b"bad", Verdict::Reject);
    solo.deliver(1, b"good");
    assert!(solo.score(0) < 0.0 && solo.score(1) > 0.0);
    solo.disconnect(0);
    solo.disconnect(1);
    solo.advance(Duration::from_secs(60));
    solo.connect(peer(0));
    solo.connect(peer(1));
    assert!(
        close(solo.score(0), -100.0),
        "nothing decays while it is away"
    );
    assert!(close(solo.score(1), 0.0));
}

#[test]
fn a_bad_score_is_forgotten_after_the_retention_and_the_index_freed() {
    let mut solo = Solo::joined(Config::waku());
    solo.subscriber(peer(0));
    solo.frame(0, raw::publish(TOPIC, b"bad"));
    solo.verdict(b"bad", Verdict::Reject);
    let mut outputs = solo.disconnect(0);
    outputs.extend(solo.advance(Duration::from_secs(599)));
    let freed = |o: &Output| matches!(o, Output::Forgotten(PeerIx(0)));
    assert!(!outputs.iter().any(freed));
    assert!(solo.advance(Duration::from_secs(15)).iter().any(freed));
    solo.connect(peer(0));
    assert!(close(solo.score(0), 0.0));
}

#[test]
fn a_graylisted_peer_that_returns_is_turned_away() {
    let mut solo = Solo::joined(Config::waku());
    solo.subscriber(peer(0));
    for i in 0..11u8 {
        solo.frame(0, raw::publish(TOPIC, &[i]));
        solo.verdict(&[i], Verdict::Reject);
    }
    solo.disconnect(0);
    let outputs = solo.connect(peer(0));
    assert!(
        outputs
            .iter()
            .any(|o| matches!(o, Output::Disconnect(PeerIx(0))))
    );
}

#[test]
fn nim_reacts_at_the_decay_tick_and_the_others_at_once() {
    let score_after = |evaluation: Evaluation, seconds: u64| {
        let mut config = Config::waku();
        config.score.as_mut().unwrap().evaluation = evaluation;
        let mut solo = Solo::joined(config);
        solo.subscriber(peer(0));
        solo.frame(0, raw::prune(TOPIC, Some(3600), &[]));
        solo.frame(0, raw::publish(TOPIC, b"bad"));
        solo.verdict(b"bad", Verdict::Reject);
        solo.advance(Duration::from_secs(seconds));
        solo.score(0)
    };
    assert!(close(score_after(Evaluation::OnDemand, 0), -100.0));
    assert!(close(score_after(Evaluation::AtDecay, 0), 0.0));
    assert!(close(score_after(Evaluation::AtDecay, DECAY_S - 1), 0.0));
    assert!(
        close(score_after(Evaluation::AtDecay, DECAY_S), -100.0),
        "before decaying"
    );
    assert!(
        close(score_after(Evaluation::OnDemand, DECAY_S), -25.0),
        "after decaying"
    );
    assert!(close(score_after(Evaluation::AtDecay, 2 * DECAY_S), -25.0));
}

#[test]
fn a_peer_that_does_not_read_pays_if_the_parameters_say_so() {
    let mut config = Config::waku();
    config.score.as_mut().unwrap().slow_peer_weight = -2.0;
    config.score.as_mut().unwrap().slow_peer_threshold = 1.0;
    let mut solo = Solo::joined(config);
    solo.subscriber(peer(0));
    for _ in 0..3 {
        let (peer, handle) = (PeerIx(0), SendHandle(0));
        let progress = Progress::Dropped;
        solo.input(Input::Sent {
            peer,
            handle,
            progress,
        });
    }
    assert!(close(solo.score(0), -4.0));
}

#[test]
fn without_parameters_every_score_is_zero() {
    let mut solo = Solo::joined(Config::libp2p());
    solo.subscriber(peer(0));
    for i in 0..20u8 {
        solo.frame(0, raw::publish(TOPIC, &[i]));
        solo.verdict(&[i], Verdict::Reject);
        solo.frame(0, vec![0xff]);
    }
    assert_eq!(solo.score(0), 0.0);
    assert_eq!(grafted(&solo.heartbeat()), [0; 0]);
    assert_eq!(solo.mesh(), [0]);
}

/// A new peer with the index of an old one must not pay for the old one.
#[test]
fn an_index_is_not_freed_while_a_promise_or_a_verdict_may_still_be_charged_to_it() {
    for open in [
        raw::ihave(TOPIC, &raw::made_up_ids(0, 1)),
        raw::publish(TOPIC, b"m"),
    ] {
        let mut solo = Solo::joined(Config::waku());
        solo.subscriber(peer(0));
        solo.deliver(0, b"good, so its score is positive and not retained");
        solo.frame(0, raw::subscription(false, TOPIC));
        solo.frame(0, open);
        let outputs = solo.disconnect(0);
        if outputs.iter().any(|o| matches!(o, Output::Forgotten(_))) {
            solo.connect(peer(0));
        }
        solo.advance_ms(5_000);
        solo.verdict(b"m", Verdict::Reject);
        assert!(solo.score(0) >= 0.0, "a stranger pays");
        let outputs = solo.advance(Duration::from_secs(130));
        let freed = outputs.iter().any(|o| matches!(o, Output::Forgotten(_)));
        assert!(freed, "and later it is freed");
    }
}
