//! Forwarding: which messages, in which bytes, and to which peers not.

use super::net::Net;
use super::raw;
use super::solo::{Solo, TOPIC, delivered, misdeeds, outbound, peer, receivers, said, sends};
use crate::{Config, Input, MessageId, Output, PeerIx, PeerMisbehaved, Time, Topic, Verdict};

fn mesh_of(count: u32) -> Solo {
    let mut solo = Solo::joined(Config::waku());
    (0..count).for_each(|n| solo.mesh_peer(outbound(n)));
    solo
}

/// A re-encoded `WakuMessage` has another hash: nwaku writes defaults that others skip.
#[test]
fn data_is_delivered_and_forwarded_byte_for_byte() {
    let mut data = raw::bytes(1, b"payload");
    data.extend(raw::number(900, 7));
    data.extend(raw::fixed64(901, 8));
    data.extend(raw::number(3, 0));
    // Not canonical protobuf: a varint with a superfluous byte, then random bytes.
    data.extend([0x18, 0x80, 0x00, 0xff, 0xff]);
    let mut solo = mesh_of(3);
    let outputs = solo.deliver(0, &data);
    assert_eq!(delivered(&outputs), [data.clone()]);
    for n in [1, 2] {
        assert_eq!(said(&outputs, n).messages[0].data, data);
        assert!(!said(&outputs, n).messages[0].signed);
    }
}

#[test]
fn fields_around_the_data_are_dropped_and_nothing_is_added() {
    let mut body = raw::bytes(2, b"m");
    body.extend(raw::bytes(50, b"unknown"));
    body.extend(raw::bytes(4, TOPIC.as_bytes()));
    let mut solo = mesh_of(2);
    solo.frame(0, raw::bytes(2, &body));
    let outputs = solo.verdict(b"m", Verdict::Accept);
    let (_, _, frame) = &sends(&outputs)[0];
    assert_eq!(raw::strip_prefix(frame), raw::publish(TOPIC, b"m"));
}

#[test]
fn whoever_sent_a_copy_while_it_was_judged_gets_none() {
    let mut solo = mesh_of(5);
    for n in [0, 2, 3] {
        solo.frame(n, raw::publish(TOPIC, b"m"));
    }
    assert_eq!(receivers(&solo.verdict(b"m", Verdict::Accept)), [1, 4]);
}

#[test]
fn a_message_is_judged_once_and_goes_out_after_the_verdict() {
    let mut solo = mesh_of(3);
    let first = solo.frame(0, raw::publish(TOPIC, b"m"));
    let judged = |outputs: &[Output]| {
        let validate = |o: &&Output| matches!(o, Output::Validate { .. });
        outputs.iter().filter(validate).count()
    };
    assert_eq!((judged(&first), receivers(&first).len()), (1, 0));
    let second = solo.frame(1, raw::publish(TOPIC, b"m"));
    assert_eq!((judged(&second), receivers(&second).len()), (0, 0));
    assert_eq!(receivers(&solo.verdict(b"m", Verdict::Accept)), [2]);
    let stats = solo.router.stats();
    assert_eq!((stats.messages_received, stats.duplicates_received), (1, 1));
}

#[test]
fn rejected_and_ignored_messages_go_nowhere_and_stay_known() {
    for verdict in [Verdict::Reject, Verdict::Ignore] {
        let mut solo = mesh_of(3);
        solo.frame(0, raw::publish(TOPIC, b"m"));
        let outputs = solo.verdict(b"m", verdict);
        assert!(delivered(&outputs).is_empty() && receivers(&outputs).is_empty());
        let again = solo.frame(1, raw::publish(TOPIC, b"m"));
        assert!(!again.iter().any(|o| matches!(o, Output::Validate { .. })));
    }
}

#[test]
fn a_message_is_forgotten_after_the_seen_time() {
    let mut solo = mesh_of(2);
    solo.deliver(0, b"m");
    solo.advance_ms(119_000);
    assert!(delivered(&solo.deliver(0, b"m")).is_empty());
    solo.advance_ms(2_200);
    assert_eq!(delivered(&solo.deliver(0, b"m")).len(), 1);
}

#[test]
fn messages_of_topics_we_are_not_in_are_dropped() {
    let mut solo = mesh_of(2);
    solo.frame(0, raw::subscribe("other"));
    assert!(solo.frame(0, raw::publish("other", b"m")).is_empty());
    assert!(
        solo.frame(0, raw::publish("never heard of", b"m"))
            .is_empty()
    );
    assert_eq!(solo.router.stats().messages_received, 0);
}

#[test]
fn a_signed_message_is_an_offence_and_not_judged() {
    for field in [1, 3, 5, 6] {
        let mut solo = mesh_of(2);
        let topic = raw::bytes(4, TOPIC.as_bytes());
        let body = [raw::bytes(2, b"m"), topic, raw::bytes(field, b"x")].concat();
        let outputs = solo.frame(0, raw::bytes(2, &body));
        let id = MessageId::of(b"m");
        assert_eq!(
            misdeeds(&outputs),
            [(0, PeerMisbehaved::SignedMessage { id })]
        );
        assert_eq!(outputs.len(), 1);
        assert_eq!(solo.score(0), -100.0);
    }
}

#[test]
fn a_small_message_does_not_keep_its_large_frame_in_memory() {
    let mut solo = mesh_of(2);
    let frame = [raw::publish(TOPIC, b"small"), raw::bytes(99, &[0; 100_000])].concat();
    let outputs = solo.frame(0, frame);
    let Some(Output::Validate { data, .. }) = outputs.into_iter().next() else {
        panic!("not judged");
    };
    solo.verdict(b"small", Verdict::Accept);
    // The only reference now: separate memory, not a slice of the frame.
    assert_eq!(data.try_into_mut().map(|own| own.capacity()), Ok(5));
}

#[test]
fn many_messages_in_one_frame_are_handled_in_order() {
    let mut solo = mesh_of(1);
    let frame: Vec<_> = (0..5u8).flat_map(|i| raw::publish(TOPIC, &[i])).collect();
    let outputs = solo.frame(0, frame);
    let judged = outputs.iter().filter_map(|o| match o {
        Output::Validate { data, .. } => Some(data[0]),
        _ => None,
    });
    assert_eq!(judged.collect::<Vec<_>>(), [0, 1, 2, 3, 4]);
}

#[test]
fn a_line_of_nodes_passes_a_message_from_end_to_end() {
    let mut net = Net::new(vec![Config::waku(); 8], 8);
    (1..8).for_each(|n| net.connect(n - 1, n));
    net.subscribe_all();
    net.run_ms(3_000);
    let start: Time = net.now;
    net.publish(0, b"m");
    net.run_ms(100);
    let (at, data) = &net.delivered[7][0];
    assert_eq!(
        (at.since(start).as_millis(), data.as_ref()),
        (70, &b"m"[..])
    );
    assert!((1..8).all(|n| net.copies_at(n) == 1), "no copy goes back");
}

#[test]
fn topics_do_not_mix() {
    let mut solo = mesh_of(2);
    solo.input(Input::Subscribe(Topic::new("b")));
    solo.subscriber(peer(7));
    solo.frame(7, raw::subscribe("b"));
    solo.frame(7, raw::subscription(false, TOPIC));
    solo.frame(7, raw::graft("b"));
    solo.frame(7, raw::publish("b", b"m"));
    assert_eq!(receivers(&solo.verdict(b"m", Verdict::Accept)), [0; 0]);
    solo.frame(0, raw::publish(TOPIC, b"n"));
    assert_eq!(receivers(&solo.verdict(b"n", Verdict::Accept)), [1]);
}

fn forwarded(received: bytes::Bytes) -> bytes::Bytes {
    let mut solo = mesh_of(2);
    let (peer, frame) = (PeerIx(0), received);
    solo.input(Input::Frame {
        peer,
        frame: frame.into(),
    });
    let (_, _, frame) = sends(&solo.verdict(b"alone", Verdict::Accept)).remove(0);
    frame
}

#[test]
fn a_message_that_came_alone_goes_on_in_the_memory_it_came_in() {
    let received = raw::framed(&raw::publish(TOPIC, b"alone"));
    let forwarded = forwarded(received.clone());
    assert_eq!(forwarded, received);
    assert_eq!(forwarded.as_ptr(), received.as_ptr(), "not a copy");
}

#[test]
fn what_a_stranger_adds_to_a_frame_is_not_passed_on() {
    let alone = raw::publish(TOPIC, b"alone");
    for addition in [raw::number(77, 1), raw::bytes(9, b"hitchhiker")] {
        let received = raw::framed(&[alone.clone(), addition].concat());
        assert_eq!(forwarded(received), raw::framed(&alone));
    }
}
