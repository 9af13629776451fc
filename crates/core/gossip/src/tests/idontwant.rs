//! IDONTWANT: sent on the first copy of a large message, honoured wherever a copy may be queued.

use std::time::Duration;

use super::net::Net;
use super::raw;
use super::solo::{Solo, TOPIC, cancels, features, outbound, peer, receivers, said, sends, topic};
use crate::{Config, Input, MessageId, NewPeer, PeerIx, Verdict};

const LARGE: [u8; 513] = [1; 513];
const THRESHOLD: [u8; 512] = [2; 512];

fn mesh_of(count: u32) -> Solo {
    let mut solo = Solo::joined(Config::waku());
    (0..count).for_each(|n| solo.mesh_peer(outbound(n)));
    solo
}

fn id(data: &[u8]) -> [MessageId; 1] {
    [MessageId::of(data)]
}

#[test]
fn the_first_copy_of_a_large_message_is_announced_before_the_verdict() {
    let mut solo = mesh_of(4);
    let outputs = solo.frame(0, raw::publish(TOPIC, &LARGE));
    for n in 1..4 {
        assert_eq!(said(&outputs, n).idontwant, id(&LARGE), "peer {n}");
    }
    assert!(said(&outputs, 0).idontwant.is_empty(), "it sent the copy");
    let again = solo.frame(1, raw::publish(TOPIC, &LARGE));
    assert!(sends(&again).is_empty(), "only the first copy is announced");
}

#[test]
fn a_message_of_the_threshold_is_not_announced() {
    let mut solo = mesh_of(4);
    let outputs = solo.frame(0, raw::publish(TOPIC, &THRESHOLD));
    assert!(sends(&outputs).is_empty());
}

#[test]
fn own_messages_are_not_announced() {
    let mut solo = mesh_of(4);
    let outputs = solo.publish(&LARGE);
    assert_eq!(receivers(&outputs), [0, 1, 2, 3]);
    assert!((0..4).all(|n| said(&outputs, n).idontwant.is_empty()));
}

#[test]
fn only_mesh_peers_that_know_it_are_told() {
    let mut solo = mesh_of(2);
    let features = features("/meshsub/1.1.0");
    solo.mesh_peer(NewPeer {
        features,
        ..peer(2)
    });
    solo.mesh_peer(peer(3));
    solo.subscriber(peer(4));
    solo.frame(4, raw::prune(TOPIC, Some(60), &[]));
    let outputs = solo.frame(0, raw::publish(TOPIC, &LARGE));
    let told = (0..5).filter(|n| !said(&outputs, *n).idontwant.is_empty());
    assert_eq!(told.collect::<Vec<_>>(), [1, 3]);
}

#[test]
fn it_keeps_a_forwarded_copy_from_being_sent() {
    let mut solo = mesh_of(4);
    solo.frame(0, raw::publish(TOPIC, &LARGE));
    solo.frame(2, raw::idontwant(&id(&LARGE)));
    assert_eq!(receivers(&solo.verdict(&LARGE, Verdict::Accept)), [1, 3]);
}

#[test]
fn it_keeps_an_own_copy_from_being_sent() {
    let mut solo = mesh_of(4);
    solo.frame(2, raw::idontwant(&id(&LARGE)));
    assert_eq!(receivers(&solo.publish(&LARGE)), [0, 1, 3]);
}

#[test]
fn it_takes_back_a_copy_that_waits_but_not_one_that_has_begun() {
    let mut solo = mesh_of(4);
    let outputs = solo.deliver(0, &LARGE);
    let copies: Vec<_> = sends(&outputs)
        .into_iter()
        .filter(|(.., frame)| frame.len() > LARGE.len())
        .map(|(n, handle, _)| (n, handle))
        .collect();
    assert_eq!(copies.len(), 3);
    let (begun, waiting) = (copies[0], copies[1]);
    solo.started(begun.0, begun.1);
    assert_eq!(
        cancels(&solo.frame(begun.0, raw::idontwant(&id(&LARGE)))),
        []
    );
    let idontwant = raw::idontwant(&id(&LARGE));
    assert_eq!(
        cancels(&solo.frame(waiting.0, idontwant.clone())),
        [waiting]
    );
    assert_eq!(cancels(&solo.frame(waiting.0, idontwant)), [], "once");
    assert_eq!(solo.router.stats().sends_cancelled, 1);
}

#[test]
fn a_copy_from_the_peer_itself_says_the_same() {
    let mut solo = mesh_of(2);
    let outputs = solo.deliver(0, b"small");
    let (n, handle, _) = sends(&outputs)[0];
    let cancelled = cancels(&solo.frame(n, raw::publish(TOPIC, b"small")));
    assert_eq!(cancelled, [(n, handle)]);
}

/// gossipsub.md 0.6: IDONTWANT cancels a queued copy and a pending answer to IWANT alike.
#[test]
fn it_takes_back_every_answer_to_iwant_that_waits() {
    let mut solo = mesh_of(1);
    solo.subscriber(peer(5));
    solo.frame(5, raw::prune(TOPIC, Some(60), &[]));
    solo.deliver(0, &LARGE);
    let iwant = raw::iwant(&id(&LARGE));
    let waiting = [solo.frame(5, iwant.clone()), solo.frame(5, iwant.clone())].concat();
    let handles: Vec<_> = sends(&waiting)
        .iter()
        .map(|(n, handle, _)| (*n, *handle))
        .collect();
    assert_eq!(handles.len(), 2);
    let cancelled = cancels(&solo.frame(5, raw::idontwant(&id(&LARGE))));
    assert_eq!(cancelled, handles);
    assert!(solo.frame(5, iwant).is_empty(), "and no new one is made");
}

#[test]
fn it_is_forgotten_after_six_heartbeats() {
    let mut solo = mesh_of(4);
    solo.frame(2, raw::idontwant(&id(&LARGE)));
    for _ in 0..5 {
        solo.heartbeat();
    }
    assert_eq!(solo.router.usage().idontwant_of_a_peer, 1);
    solo.heartbeat();
    assert_eq!(solo.router.usage().idontwant_of_a_peer, 0);
    assert_eq!(receivers(&solo.deliver(0, &LARGE)), [1, 2, 3]);
}

#[test]
fn it_comes_before_the_message_in_the_same_frame() {
    let mut solo = mesh_of(4);
    let rpc = [raw::publish(TOPIC, &LARGE), raw::idontwant(&id(&LARGE))];
    solo.frame(0, rpc.concat());
    assert_eq!(solo.router.usage().idontwant_of_a_peer, 1);
    assert_eq!(receivers(&solo.verdict(&LARGE, Verdict::Accept)), [1, 2, 3]);
}

/// Three nodes in a ring. Node 0 publishes 100 kB; the copy from 2 to 1 waits behind another on a slow link
/// and is cancelled when 1 announces that it has the message.
#[test]
fn it_saves_a_copy_that_waits_on_a_slow_link() {
    let copies_with = |threshold: usize| {
        let mut config = Config::waku();
        config.idontwant_threshold_bytes = threshold;
        let mut net = Net::new(vec![config; 3], 3);
        for (a, b) in [(0, 1), (1, 2), (2, 0)] {
            net.connect(a, b);
        }
        net.subscribe_all();
        net.run_ms(3_000);
        for a in 0..3 {
            for b in 0..3 {
                net.rates.insert((a, b), 1_000);
            }
        }
        // Node 2 has the message first and is busy sending another one to 1.
        net.delays.insert((0, 1), Duration::from_millis(40));
        net.publish(2, &[9; 80_000]);
        net.publish(0, &[8; 100_000]);
        net.run_ms(2_000);
        assert!((1..3).all(|n| net.delivered[n].iter().any(|(_, d)| d[0] == 8)));
        (
            net.copies_at(1) + net.copies_at(2),
            net.routers[2].stats().sends_cancelled,
        )
    };
    let (without, cancelled) = copies_with(usize::MAX);
    let (with, _) = copies_with(512);
    assert!(
        with < without,
        "{with} copies with, {without} without, {cancelled} cancelled"
    );
}

#[test]
fn it_is_heard_from_peers_that_are_not_subscribed() {
    let mut solo = mesh_of(1);
    solo.connect(peer(7));
    let frame = raw::framed(&raw::idontwant(&id(&LARGE)));
    let peer = PeerIx(7);
    solo.input(Input::Frame {
        peer,
        frame: frame.into(),
    });
    solo.frame(7, raw::subscribe(TOPIC));
    solo.frame(7, raw::graft(TOPIC));
    assert!(solo.router.mesh(&topic()).contains(&peer));
    assert_eq!(receivers(&solo.publish(&LARGE)), [0]);
}
