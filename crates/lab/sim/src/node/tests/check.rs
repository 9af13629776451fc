//! Tests that each rule checked during a run can be violated.

use undertone_gossip::wire::{Encoder, message_frame};
use undertone_gossip::{PeerIx, SendHandle, Topic};

use super::*;
use crate::layout::{Layout, RankPart};
use crate::run::plan::world;
use crate::scenario::Scenario;
use crate::shard::NodeShard;

const S: u64 = 1_000_000_000;
const NODE: u32 = 7;
const PEER: ConnIx = ConnIx(3);
const OTHER: ConnIx = ConnIx(4);

fn scratch() -> Scratch {
    let world = world(&Scenario::plain(7), 1, RankPart::WHOLE).unwrap();
    NodeShard::new(&world, &Layout::alone(1), 0).scratch
}

fn topic() -> Topic {
    Topic::new("/waku/2/rs/66/0")
}

fn idontwant(ids: &[MessageId]) -> Bytes {
    let mut encoder = Encoder::default();
    encoder.idontwant(ids);
    encoder.finish().unwrap()
}

fn queued(data: &[u8], class: Class) -> QueuedFrame {
    QueuedFrame {
        handle: SendHandle(1),
        class,
        frame: message_frame(&topic(), data),
    }
}

/// Violations when `data` is sent to a peer at a given time, after that peer refused it at 1 s.
fn sent_after_refusal(peer: ConnIx, at_ns: u64, data: &[u8], class: Class) -> Vec<Violation> {
    let (mut checks, mut scratch) = (RuleChecks::default(), scratch());
    let refused = MessageId::of(&Bytes::from_static(b"refused"));
    checks.heard(S, PEER, &idontwant(&[refused]));
    checks.sends(&mut scratch, at_ns, NODE, peer, &queued(data, class));
    scratch.violations
}

#[test]
fn a_refusal_that_is_repeated_holds_from_the_last_time() {
    let (mut checks, mut scratch) = (RuleChecks::default(), scratch());
    let refused = MessageId::of(&Bytes::from_static(b"refused"));
    for at_ns in [S, 3 * S / 2] {
        checks.heard(at_ns, PEER, &idontwant(&[refused]));
    }
    // By now the first of them is forgotten.
    let other = MessageId::of(&Bytes::from_static(b"other"));
    checks.heard(9 * S / 4, OTHER, &idontwant(&[other]));
    let frame = queued(b"refused", Class::Forward);
    checks.sends(&mut scratch, 9 * S / 4, NODE, PEER, &frame);
    assert_eq!(scratch.violations.len(), 1);
    checks.sends(&mut scratch, 5 * S / 2, NODE, PEER, &frame);
    assert_eq!(scratch.violations.len(), 1);
}

#[test]
fn a_second_delivery_breaks_a_rule() {
    let (mut checks, mut scratch) = (RuleChecks::default(), scratch());
    for message in [1, 2] {
        checks.delivers(&mut scratch, S, NODE, message);
    }
    assert_eq!(scratch.violations, []);
    checks.delivers(&mut scratch, 2 * S, NODE, 1);
    let expected = Violation {
        at_ns: 2 * S,
        node: NODE,
        rule: "a message is delivered at most once",
    };
    assert_eq!(scratch.violations, [expected]);
}

#[test]
fn sending_what_a_peer_does_not_want_breaks_a_rule() {
    for class in [Class::Forward, Class::Publish] {
        let violations = sent_after_refusal(PEER, S + 1, b"refused", class);
        let expected = Violation {
            at_ns: S + 1,
            node: NODE,
            rule: "nothing is sent that a processed IDONTWANT named",
        };
        assert_eq!(violations, [expected]);
    }
}

#[test]
fn a_refusal_is_one_peers_and_one_messages() {
    assert_eq!(sent_after_refusal(OTHER, S, b"refused", Class::Forward), []);
    assert_eq!(sent_after_refusal(PEER, S, b"another", Class::Forward), []);
    let later_ns = S + REMEMBERED_NS;
    assert_eq!(
        sent_after_refusal(PEER, later_ns, b"refused", Class::Forward),
        []
    );
}

#[test]
fn a_refusal_is_heard_beside_other_control() {
    let (mut checks, mut scratch) = (RuleChecks::default(), scratch());
    let mut encoder = Encoder::default();
    encoder.graft(&topic());
    encoder.idontwant(&[MessageId([1; 32]), MessageId::of(&Bytes::from_static(b"x"))]);
    checks.heard(S, PEER, &encoder.finish().unwrap());
    let forwarded = queued(b"x", Class::Forward);
    checks.sends(&mut scratch, S, NODE, PEER, &forwarded);
    assert_eq!(scratch.violations.len(), 1);
}

#[test]
fn a_mesh_changes_with_grafts_and_prunes_alone() {
    let mut checks = RuleChecks::default();
    let (peer, topic) = (PeerIx(PEER.0), topic());
    let grafted = Report::Grafted { peer, topic };
    checks.reported(5, &RelayReport::Gossip(grafted));
    assert_eq!(checks.mesh_changed_ns, 5);
    let topic = self::topic();
    checks.reported(9, &RelayReport::Gossip(Report::Pruned { peer, topic }));
    assert_eq!(checks.mesh_changed_ns, 9);
}

#[test]
fn only_so_many_violations_are_kept() {
    let mut scratch = scratch();
    for at_ns in 0..1000 {
        violated(&mut scratch, at_ns, NODE, "a rule");
    }
    assert_eq!(scratch.violations.len(), VIOLATIONS_MAX);
}

fn iwant(data: &'static [u8]) -> Bytes {
    let mut encoder = Encoder::default();
    encoder.iwant(&[MessageId::of(&Bytes::from_static(data))]);
    encoder.finish().unwrap()
}

/// Violations for a frame with `data` that began at 1 s and is complete at 2 s, when a request was sent
/// at a given time.
fn asked_meanwhile(at_ns: u64, impatiently: u64, unheard: &[ConnIx], data: &[u8]) -> usize {
    let (mut checks, mut scratch) = (RuleChecks::default(), scratch());
    let unheard = unheard.iter().copied();
    checks.asks(at_ns, impatiently, unheard, &iwant(b"asked"));
    let frame = message_frame(&topic(), data);
    let during_ns = S + 1..2 * S;
    checks.completed(&mut scratch, 2 * S, (NODE, PEER), during_ns, &frame);
    let rule = "nothing is asked for while a copy of it is coming in";
    assert!(scratch.violations.iter().all(|broken| broken.rule == rule));
    scratch.violations.len()
}

#[test]
fn asking_for_what_is_coming_in_breaks_a_rule() {
    let meanwhile = S + S / 2;
    assert_eq!(asked_meanwhile(meanwhile, 0, &[], b"asked"), 1);
    assert_eq!(asked_meanwhile(meanwhile, 0, &[OTHER], b"asked"), 1);
    assert_eq!(asked_meanwhile(meanwhile, 0, &[], b"else"), 0);
    assert_eq!(asked_meanwhile(S - 1, 0, &[], b"asked"), 0, "before");
    assert_eq!(asked_meanwhile(S, 0, &[], b"asked"), 0, "when it began");
    assert_eq!(asked_meanwhile(meanwhile, 1, &[], b"asked"), 0, "impatient");
    assert_eq!(
        asked_meanwhile(meanwhile, 0, &[PEER], b"asked"),
        0,
        "unheard"
    );
}
