//! Messages that are dropped without a verdict, and messages that arrive on a wrong topic.

use bytes::Bytes;

use super::raw;
use super::solo::{Solo, TOPIC, delivered, misdeeds, outbound, receivers};
use crate::{Config, Input, MessageId, Output, PeerIx, Placement, Report, Topic, Verdict};

fn mesh_of(count: u32) -> Solo {
    let mut solo = Solo::joined(Config::waku());
    (0..count).for_each(|n| solo.mesh_peer(outbound(n)));
    solo
}

fn is_judged(outputs: &[Output]) -> bool {
    outputs
        .iter()
        .any(|output| matches!(output, Output::Validate { .. }))
}

#[test]
fn a_message_that_was_forgotten_is_judged_again_and_blames_nobody() {
    let mut solo = mesh_of(3);
    solo.frame(0, raw::publish(TOPIC, b"m"));
    let outputs = solo.verdict(b"m", Verdict::Forget);
    assert!(delivered(&outputs).is_empty() && receivers(&outputs).is_empty());
    assert_eq!(misdeeds(&outputs), []);
    assert_eq!(
        (solo.router.usage().pending, solo.router.usage().seen),
        (0, 0)
    );
    assert!(is_judged(&solo.frame(1, raw::publish(TOPIC, b"m"))));
    let outputs = solo.verdict(b"m", Verdict::Accept);
    assert_eq!(delivered(&outputs), ["m"]);
    assert_eq!(receivers(&outputs), [0, 2], "the first sender has lost it");
}

/// The expiry of a message's first record must not remove the second one.
#[test]
fn a_message_that_was_forgotten_and_came_again_is_remembered_as_long_as_any() {
    let mut solo = mesh_of(2);
    solo.frame(0, raw::publish(TOPIC, b"m"));
    solo.frame(0, raw::publish(TOPIC, b"a newer one"));
    solo.verdict(b"m", Verdict::Forget);
    solo.advance_ms(60_000);
    assert_eq!(delivered(&solo.deliver(1, b"m")).len(), 1);
    solo.advance_ms(100_000);
    assert!(!is_judged(&solo.frame(0, raw::publish(TOPIC, b"m"))));
    solo.advance_ms(22_000);
    assert!(is_judged(&solo.frame(0, raw::publish(TOPIC, b"m"))));
}

#[test]
fn the_validator_is_told_once_of_each_peer_that_sends_a_copy_while_it_judges() {
    let mut solo = mesh_of(3);
    solo.frame(0, raw::publish(TOPIC, b"m"));
    let copied = |outputs: &[Output]| {
        let copies = outputs.iter().filter_map(|output| match output {
            Output::Copied { id, from } => Some((*id, from.0)),
            _ => None,
        });
        copies.collect::<Vec<_>>()
    };
    let id = MessageId::of(b"m");
    for (peer, told) in [(1, vec![(id, 1)]), (1, vec![]), (0, vec![])] {
        assert_eq!(copied(&solo.frame(peer, raw::publish(TOPIC, b"m"))), told);
    }
    assert_eq!(solo.router.senders(&id), [PeerIx(0), PeerIx(1)]);
    solo.verdict(b"m", Verdict::Accept);
    assert_eq!(copied(&solo.frame(2, raw::publish(TOPIC, b"m"))), []);
    assert_eq!(solo.router.senders(&id), []);
}

/// Placement rule of the test: the data of a message is the name of its topic.
#[derive(Debug)]
struct Named;

impl Placement for Named {
    fn belongs(&mut self, topic: &Topic, data: &Bytes) -> bool {
        data == topic.as_str()
    }
}

#[test]
fn a_message_on_a_topic_of_others_changes_nothing() {
    let mut solo = mesh_of(2);
    solo.router = solo.router.with_placement(Box::new(Named));
    let other = "other";
    solo.input(Input::Subscribe(Topic::new(other)));
    let message = TOPIC.as_bytes();
    let outputs = solo.frame(0, raw::publish(other, message));
    let (peer, id) = (PeerIx(0), MessageId::of(message));
    let [
        Output::Report(Report::Misplaced {
            peer: by,
            id: which,
        }),
    ] = &outputs[..]
    else {
        panic!("{outputs:?}");
    };
    assert_eq!((*by, *which), (peer, id));
    assert_eq!(solo.router.stats().messages_received, 0);
    assert_eq!(delivered(&solo.deliver(1, message)), [TOPIC]);
    assert_eq!(solo.score(0), 0.0);
}
