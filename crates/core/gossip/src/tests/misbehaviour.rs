//! Spam as raw frames: the scenarios of go-libp2p-pubsub's spam tests, and the limits that hold during them.

use std::time::Duration;

use super::raw;
use super::solo::{Solo, TOPIC, grafted, misdeeds, peer, receivers, said, scored, sends, strict};
use crate::{
    Capacity, Config, Input, Malformed, MessageId, Output, PeerIx, PeerMisbehaved, Report, Verdict,
};

fn with_peer(config: Config) -> Solo {
    let mut solo = Solo::joined(config);
    solo.mesh_peer(peer(0));
    solo
}

fn capacities(outputs: &[Output]) -> Vec<Capacity> {
    let hit = outputs.iter().filter_map(|output| match output {
        Output::Report(Report::Capacity { capacity, .. }) => Some(*capacity),
        _ => None,
    });
    hit.collect()
}

#[test]
fn iwant_flood_of_one_id_gets_three_replies_then_silence() {
    let mut solo = with_peer(Config::waku());
    solo.subscriber(peer(1));
    solo.deliver(0, b"m");
    let replies = (0..100).map(|_| {
        let outputs = solo.frame(1, raw::iwant(&[MessageId::of(b"m")]));
        receivers(&outputs).len()
    });
    assert_eq!(replies.sum::<usize>(), 3);
}

#[test]
fn iwant_flood_in_one_frame_gets_three_replies() {
    let mut solo = with_peer(Config::waku());
    solo.subscriber(peer(1));
    solo.deliver(0, b"m");
    let outputs = solo.frame(1, raw::iwant(&[MessageId::of(b"m"); 1_000]));
    assert_eq!(sends(&outputs).len(), 3);
}

#[test]
fn iwant_for_ids_that_do_not_exist_is_ignored() {
    let mut solo = with_peer(Config::waku());
    assert!(
        solo.frame(0, raw::iwant(&raw::made_up_ids(0, 5_000)))
            .is_empty()
    );
}

#[test]
fn ihave_flood_is_cut_at_ten_messages_per_heartbeat() {
    let mut solo = with_peer(Config::waku());
    let asked = |solo: &mut Solo, first: u32| {
        let outputs = solo.frame(0, raw::ihave(TOPIC, &raw::made_up_ids(first, 1)));
        said(&outputs, 0).iwant.len()
    };
    assert_eq!((0..50).map(|i| asked(&mut solo, i)).sum::<usize>(), 10);
    solo.heartbeat();
    assert_eq!((50..100).map(|i| asked(&mut solo, i)).sum::<usize>(), 10);
}

#[test]
fn ihave_flood_is_cut_at_5000_ids_per_heartbeat() {
    let mut solo = with_peer(Config::waku());
    let mut asked = 0;
    for i in 0..4 {
        let outputs = solo.frame(0, raw::ihave(TOPIC, &raw::made_up_ids(i * 2_000, 2_000)));
        asked += said(&outputs, 0).iwant.len();
    }
    assert_eq!(asked, 5_000);
    assert_eq!(solo.router.usage().iwant_requests, 5_000);
}

#[test]
fn promises_are_bounded_over_all_peers() {
    let mut config = Config::waku();
    config.limits.promises_max = 100;
    let mut solo = Solo::joined(config);
    for n in 0..5 {
        solo.subscriber(peer(n));
        solo.frame(n, raw::ihave(TOPIC, &raw::made_up_ids(n * 70, 70)));
        assert!(solo.router.usage().iwant_requests <= 100, "after peer {n}");
    }
}

/// Found by a search for attacks: fourteen such peers kept a node from requesting what its honest peers had.
#[test]
fn peers_that_announce_what_does_not_exist_leave_room_for_others() {
    let mut config = Config::waku();
    config.limits.promises_max = 4_000;
    let mut solo = Solo::joined(config);
    let (flooders, honest) = (0..14, 14);
    for n in 0..=honest {
        solo.subscriber(peer(n));
    }
    let flood = |solo: &mut Solo, round: u32| {
        for n in flooders.clone() {
            let ids = raw::made_up_ids((round * 14 + n) * 2_000, 2_000);
            solo.frame(n, raw::ihave(TOPIC, &ids));
        }
    };
    let announced = |round: u32| raw::ihave(TOPIC, &raw::made_up_ids(1_000_000 + round * 10, 10));
    // While a long frame is in transit, ids wait; their number is bounded, too.
    solo.input(Input::TransferStarted(PeerIx(0)));
    flood(&mut solo, 5);
    let waiting = solo.router.usage().iwant_waiting;
    solo.frame(honest, announced(5));
    assert_eq!(solo.router.usage().iwant_waiting, waiting + 10);
    solo.input(Input::TransferEnded(PeerIx(0)));
    solo.heartbeat();
    for round in 0..5 {
        flood(&mut solo, round);
        let outputs = solo.frame(honest, announced(round));
        assert_eq!(said(&outputs, honest).iwant.len(), 10, "round {round}");
        solo.heartbeat();
    }
}

#[test]
fn ihave_without_the_messages_makes_the_score_negative() {
    let mut solo = with_peer(strict());
    solo.frame(0, raw::ihave(TOPIC, &raw::made_up_ids(0, 50)));
    assert!(solo.score(0) >= 0.0);
    let outputs = solo.advance_ms(4_200);
    let broken = PeerMisbehaved::BrokenPromises { count: 50 };
    assert_eq!(misdeeds(&outputs), [(0, broken)]);
    assert_eq!(solo.score(0), -10.0, "one offence");
    assert_eq!(solo.router.usage().iwant_requests, 0);
    solo.heartbeat();
    assert!(solo.mesh().is_empty());
}

#[test]
fn graft_for_a_topic_we_are_not_in_gets_no_reply_at_all() {
    let mut solo = with_peer(Config::waku());
    for topic in ["unknown", "known"] {
        solo.frame(0, raw::subscribe("known"));
        assert!(solo.frame(0, raw::graft(topic)).is_empty(), "{topic}");
    }
    assert_eq!(solo.router.usage().backoffs, 0);
}

#[test]
fn graft_during_backoff_costs_one_and_within_ten_seconds_two() {
    for (after_ms, cost) in [(9_900, 2.0), (10_100, 1.0), (59_900, 1.0)] {
        let mut solo = with_peer(strict());
        solo.frame(0, raw::prune(TOPIC, Some(60), &[]));
        solo.now = solo.now.after(Duration::from_millis(after_ms));
        let outputs = solo.frame(0, raw::graft(TOPIC));
        let flood = cost == 2.0;
        let what = PeerMisbehaved::GraftDuringBackoff { flood };
        assert_eq!(misdeeds(&outputs), [(0, what)], "after {after_ms} ms");
        assert_eq!(said(&outputs, 0).prune.len(), 1);
        let counter = (solo.score(0) / -10.0).sqrt();
        assert!(
            (counter - cost).abs() < 0.02,
            "after {after_ms} ms: {counter}"
        );
    }
}

#[test]
fn graft_flood_refreshes_the_backoff_and_ends_on_the_graylist() {
    let mut config = Config::waku();
    config.thresholds.graylist = -1_000.0;
    let mut solo = with_peer(config);
    solo.frame(0, raw::prune(TOPIC, Some(60), &[]));
    solo.advance_ms(50_000);
    solo.frame(0, raw::graft(TOPIC));
    solo.advance_ms(59_000);
    let again = misdeeds(&solo.frame(0, raw::graft(TOPIC)));
    assert_eq!(again.len(), 1, "the first refusal extended the backoff");
    let mut dropped = false;
    for _ in 0..10 {
        let outputs = solo.frame(0, raw::graft(TOPIC));
        dropped |= outputs
            .iter()
            .any(|o| matches!(o, Output::Disconnect(PeerIx(0))));
    }
    assert!(dropped && solo.score(0) < -1_000.0);
    assert!(
        solo.frame(0, raw::graft(TOPIC)).is_empty(),
        "no longer answered"
    );
}

#[test]
fn a_graft_right_after_the_backoff_is_welcome() {
    let mut solo = with_peer(Config::waku());
    solo.frame(0, raw::prune(TOPIC, Some(60), &[]));
    solo.now = solo.now.after(Duration::from_secs(60));
    solo.frame(0, raw::graft(TOPIC));
    assert_eq!(solo.mesh(), [0]);
}

#[test]
fn invalid_messages_lead_to_the_graylist() {
    let mut solo = with_peer(Config::waku());
    for i in 0..20u8 {
        solo.frame(0, raw::publish(TOPIC, &[i]));
        solo.verdict(&[i], Verdict::Reject);
    }
    assert!(solo.score(0) < -10_000.0);
    assert_eq!(
        solo.router.stats().messages_received,
        11,
        "the rest was not heard"
    );
}

#[test]
fn idontwant_flood_is_cut_and_bounded() {
    let mut config = Config::waku();
    config.limits.idontwant_ids_per_heartbeat_max = 100;
    let mut solo = with_peer(config);
    let mut first = 0;
    for heartbeat in 1..=20 {
        for _ in 0..5 {
            solo.frame(0, raw::idontwant(&raw::made_up_ids(first, 70)));
            first += 70;
        }
        let held = solo.router.usage().idontwant_of_a_peer;
        assert_eq!(held, 100 * heartbeat.min(6), "at heartbeat {heartbeat}");
        solo.heartbeat();
    }
}

#[test]
fn idontwant_for_ids_never_sent_is_cleared() {
    let mut solo = with_peer(Config::waku());
    solo.frame(0, raw::idontwant(&raw::made_up_ids(0, 50)));
    assert_eq!(solo.router.usage().idontwant_of_a_peer, 50);
    (0..6).for_each(|_| drop(solo.heartbeat()));
    assert_eq!(solo.router.usage().idontwant_of_a_peer, 0);
}

#[test]
fn a_malformed_frame_costs_and_changes_nothing() {
    let mut solo = with_peer(strict());
    let mut frame = raw::subscribe("a");
    frame.extend(raw::publish(TOPIC, b"m"));
    frame.extend([0x0a, 0x05, 0x01]);
    let outputs = solo.frame(0, frame);
    let what = PeerMisbehaved::Malformed(Malformed::Truncated);
    assert_eq!(misdeeds(&outputs), [(0, what)]);
    assert_eq!(outputs.len(), 1);
    assert_eq!(solo.router.usage().topics, 1);
    assert!(solo.score(0) < 0.0);
}

#[test]
fn subscription_flood_is_cut_per_peer_and_over_all() {
    let mut config = Config::waku();
    config.limits.subscriptions_per_peer_max = 10;
    config.limits.topics_max = 25;
    let mut solo = Solo::joined(config);
    let mut hit = Vec::new();
    for n in 0..4 {
        solo.connect(peer(n));
        for i in 0..15 {
            let outputs = solo.frame(n, raw::subscribe(&format!("{n}/{i}")));
            hit.extend(capacities(&outputs));
        }
        let usage = solo.router.usage();
        assert!(usage.subscriptions_of_a_peer <= 10 && usage.topics <= 25);
    }
    assert!(hit.contains(&Capacity::Subscriptions) && hit.contains(&Capacity::Topics));
    (0..4).for_each(|n| drop(solo.disconnect(n)));
    assert_eq!(
        solo.router.usage().topics,
        1,
        "topics of others go with them"
    );
}

#[test]
fn subscribing_and_leaving_in_turn_holds_no_memory() {
    let mut solo = with_peer(Config::waku());
    for i in 0..5_000 {
        let name = format!("topic {i}");
        solo.frame(
            0,
            [raw::subscribe(&name), raw::subscription(false, &name)].concat(),
        );
    }
    assert_eq!(solo.router.usage().topics, 1);
}

#[test]
fn messages_that_nobody_judges_are_bounded() {
    let mut config = Config::waku();
    config.limits.pending_max = 5;
    config.limits.pending_bytes_max = 1_000;
    let mut solo = with_peer(config);
    let outputs = (0..20u8).flat_map(|i| solo.frame(0, raw::publish(TOPIC, &[i; 100])));
    let outputs: Vec<_> = outputs.collect();
    assert_eq!(solo.router.usage().pending, 5);
    assert_eq!(capacities(&outputs), [Capacity::Pending; 15]);
    assert!(capacities(&solo.frame(0, raw::publish(TOPIC, &[19; 100]))).len() == 1);
    (0..5).for_each(|i| drop(solo.verdict(&[i; 100], Verdict::Ignore)));
    let usage = solo.router.usage();
    assert_eq!((usage.pending, usage.pending_bytes), (0, 0));
    assert_eq!(
        capacities(&solo.frame(0, raw::publish(TOPIC, &[7; 1_001]))).len(),
        1
    );
    assert_eq!(
        solo.frame(0, raw::publish(TOPIC, &[19; 100])).len(),
        1,
        "there is room again"
    );
}

#[test]
fn seen_ids_are_bounded_and_the_oldest_go_first() {
    let mut config = Config::waku();
    config.limits.seen_max = 10;
    let mut solo = with_peer(config);
    for i in 0..30u8 {
        solo.deliver(0, &[i]);
        assert!(solo.router.usage().seen <= 10);
    }
    let seen = |solo: &mut Solo, i: u8| solo.frame(0, raw::publish(TOPIC, &[i])).is_empty();
    assert!(seen(&mut solo, 29) && seen(&mut solo, 20) && !seen(&mut solo, 0));
}

#[test]
fn without_room_for_seen_ids_the_newest_is_still_remembered() {
    let mut config = Config::waku();
    config.limits.seen_max = 0;
    let mut solo = with_peer(config);
    solo.frame(0, raw::publish(TOPIC, b"m"));
    assert_eq!(solo.router.usage().seen, 1);
    assert_eq!(misdeeds(&solo.verdict(b"m", Verdict::Reject)).len(), 1);
}

#[test]
fn backoffs_are_bounded() {
    let mut config = scored();
    config.limits.backoffs_max = 5;
    let mut solo = Solo::joined(config);
    for n in 0..20 {
        solo.subscriber(peer(n));
        solo.frame(n, raw::prune(TOPIC, Some(3_600), &[]));
        assert!(solo.router.usage().backoffs <= 5);
    }
}

#[test]
fn peers_that_come_and_go_are_bounded() {
    let mut config = strict();
    config.limits.retained_peers_max = 10;
    let mut solo = Solo::joined(config);
    let mut freed = 0;
    for n in 0..50 {
        solo.subscriber(peer(n));
        solo.frame(n, vec![0xff]);
        solo.frame(n, raw::prune(TOPIC, Some(3_600), &[]));
        let outputs = solo.disconnect(n);
        let forgotten = |o: &&Output| matches!(o, Output::Forgotten(_));
        freed += outputs.iter().filter(forgotten).count();
        assert!(solo.router.usage().departed <= 10 && solo.router.usage().backoffs <= 10);
    }
    assert_eq!(freed, 40);
    assert!(
        solo.score(39) == 0.0 && solo.score(40) < 0.0,
        "who left first is forgotten first"
    );
}

#[test]
fn copies_for_a_peer_that_reports_nothing_are_bounded() {
    let mut config = Config::waku();
    config.limits.cancellable_per_peer_max = 7;
    let mut solo = with_peer(config);
    solo.mesh_peer(peer(1));
    for i in 0..50u8 {
        solo.deliver(0, &[i]);
        assert!(solo.router.usage().cancellable_of_a_peer <= 7);
    }
    (0..8).for_each(|_| drop(solo.heartbeat()));
    assert_eq!(solo.router.usage().cancellable_of_a_peer, 0);
}

#[test]
fn nothing_is_grafted_that_cannot_have_a_mesh() {
    let mut solo = with_peer(Config::waku());
    let features = super::solo::features("/floodsub/1.0.0");
    let outputs = solo.subscriber(crate::NewPeer {
        features,
        ..peer(1)
    });
    assert_eq!(grafted(&outputs), [0; 0]);
    solo.frame(1, raw::graft(TOPIC));
    assert_eq!(solo.mesh(), [0]);
}

/// 180 kB of unknown fields took 15 ns a byte to skip, without a penalty.
#[test]
fn a_frame_of_unknown_fields_is_refused_and_costs() {
    let mut solo = with_peer(strict());
    let unknown = |count: usize| raw::number(15, 0).repeat(count);
    let outputs = solo.frame(0, [unknown(256), raw::subscribe("a")].concat());
    assert_eq!(misdeeds(&outputs), [], "an extension that we do not know");
    for content in [
        unknown(90_000),
        raw::bytes(1, &[unknown(300), raw::bytes(2, b"t")].concat()),
        raw::bytes(3, &unknown(300)),
        raw::bytes(
            3,
            &raw::bytes(3, &[raw::bytes(1, b"t"), unknown(300)].concat()),
        ),
    ] {
        let outputs = solo.frame(0, content);
        let (what, max) = ("unknown fields", 256);
        let what = PeerMisbehaved::Malformed(Malformed::TooMany { what, max });
        assert_eq!(misdeeds(&outputs), [(0, what)]);
    }
}

#[test]
fn ids_that_are_no_ids_are_skipped_up_to_a_bound() {
    let mut solo = with_peer(strict());
    let short = |count: usize| raw::bytes(3, &raw::bytes(2, &raw::bytes(1, b"").repeat(count)));
    assert_eq!(misdeeds(&solo.frame(0, short(5_000))), []);
    assert_eq!(misdeeds(&solo.frame(0, short(5_001))).len(), 1);
}

#[test]
fn empty_frames_are_free_until_there_are_many() {
    let mut solo = with_peer(Config::waku());
    for _ in 0..3 {
        let outputs: Vec<_> = (0..16).flat_map(|_| solo.frame(0, [])).collect();
        assert_eq!(misdeeds(&outputs), []);
        solo.heartbeat();
    }
    let mut dropped = false;
    for _ in 0..1_000 {
        let outputs = solo.frame(0, raw::number(15, 0));
        dropped |= outputs
            .iter()
            .any(|o| matches!(o, Output::Disconnect(PeerIx(0))));
    }
    assert!(dropped, "a thousand in one heartbeat end on the graylist");
}
