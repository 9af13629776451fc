//! Messages that arrive before their root is known.

use std::time::Duration;

use undertone_gossip::PeerIx;
use undertone_rln::{Fr, ProofRejection as Why, fr_to_le};

use super::fake_proof::{attach, config, plain, proof_of, root, window};
use super::solo::{Solo, delivered, new_peer, rejection, rejections, tickets};
use crate::awaiting_root::room::ROOM;
use crate::{Input, Rejection, RelayConfig};

const PATIENCE: Duration = Duration::from_secs(2);

fn patient() -> RelayConfig {
    let mut config = config();
    let rln = config.rln.as_mut().unwrap();
    rln.unknown_root_timeout_ns = PATIENCE.as_nanos() as u64;
    config
}

fn with_root(payload: &str, nullifier: u64, root: u64) -> undertone_message::WakuMessage {
    let message = plain(payload);
    let mut proof = proof_of(&message, nullifier);
    proof.merkle_root = fr_to_le(&Fr::from(root));
    attach(message, &proof)
}

#[test]
fn a_message_waits_for_its_root() {
    let mut solo = Solo::with(patient());
    let early = with_root("early", 1, 101);
    let outputs = solo.receive_message(1, &early);
    assert_eq!((rejections(&outputs), tickets(&outputs).len()), (vec![], 0));
    assert!(solo.relay.wants_roots());

    solo.input(Input::Roots(window(&[root(), Fr::from(100)])));
    assert!(solo.relay.wants_roots(), "other roots do not help");
    let outputs = solo.input(Input::Roots(window(&[root(), Fr::from(101)])));
    assert!(!solo.relay.wants_roots());
    let ticket = tickets(&outputs)[0];
    assert_eq!(delivered(&solo.answer(ticket, true)).len(), 1);
    solo.assert_idle();
}

#[test]
fn it_does_not_wait_for_ever() {
    let mut solo = Solo::with(patient());
    solo.receive_message(1, &with_root("never", 1, 101));
    let outputs = solo.wait(PATIENCE - Duration::from_millis(10));
    assert_eq!(rejections(&outputs), vec![]);
    let outputs = solo.wait(Duration::from_millis(10));
    let unknown = Why::UnknownRoot { window_len: 1 };
    assert_eq!(rejection(&outputs), Rejection::Proof(unknown));
    assert!(!solo.relay.wants_roots());
    solo.assert_idle();
}

/// Anyone can invent roots: one peer cannot take all the room, and all together cannot exceed it.
#[test]
fn few_may_wait_and_of_one_peer_the_newest() {
    let mut solo = Solo::with(patient());
    let mut nullifier = 0;
    let mut send = |solo: &mut Solo, peer| {
        nullifier += 1;
        let message = with_root(&nullifier.to_string(), nullifier, 101);
        rejections(&solo.receive_message(peer, &message)).len()
    };
    let refused: usize = (0..ROOM.max_of_stranger + 3)
        .map(|_| send(&mut solo, 1))
        .sum();
    assert_eq!(refused, 3);
    assert_eq!(send(&mut solo, 2), 0, "another peer is not affected");
    let outputs = solo.input(Input::Roots(window(&[root(), Fr::from(101)])));
    assert_eq!(tickets(&outputs).len(), ROOM.max_of_stranger + 1);
    const { assert!(ROOM.max_of_stranger * 4 <= ROOM.max_of_strangers) };
}

/// Strangers who invent roots, as many and as fast as they like.
fn strangers_flood(solo: &mut Solo, strangers: u32, messages_of_each: u32) {
    for stranger in 100..100 + strangers {
        if !solo.relay.router().is_connected(PeerIx(stranger)) {
            solo.input(Input::Connected(new_peer(stranger)));
        }
    }
    for round in 0..messages_of_each {
        for stranger in 100..100 + strangers {
            let nullifier = u64::from(stranger * 1_000 + round);
            let made_up = with_root("made up", nullifier, 5_000 + nullifier);
            solo.receive_message(stranger, &made_up);
        }
    }
}

#[test]
fn eight_strangers_with_made_up_roots_displace_no_honest_message() {
    let mut solo = Solo::with(patient());
    strangers_flood(&mut solo, 8, 16);
    let outputs = solo.receive_message(1, &with_root("honest", 1, 101));
    assert!(rejections(&outputs).iter().all(|(from, _)| from.0 >= 100));
    strangers_flood(&mut solo, 8, 50);
    let outputs = solo.input(Input::Roots(window(&[root(), Fr::from(101)])));
    let honest = tickets(&outputs);
    assert_eq!(honest.len(), 1);
    assert_eq!(delivered(&solo.answer(honest[0], true)).len(), 1);
}

/// An only neighbour forwards the messages of the whole network, so that many wait when a root comes late.
#[test]
fn strangers_with_made_up_roots_displace_nothing_of_a_proven_peer() {
    let mut solo = Solo::with(patient());
    solo.accept(1, &with_root("before", 1, 100));
    strangers_flood(&mut solo, 8, 16);
    for nullifier in 2..102 {
        let early = with_root(&nullifier.to_string(), nullifier, 101);
        let outputs = solo.receive_message(1, &early);
        assert_eq!(rejections(&outputs), []);
        strangers_flood(&mut solo, 8, 1);
    }
    let outputs = solo.input(Input::Roots(window(&[root(), Fr::from(101)])));
    assert_eq!(tickets(&outputs).len(), 100);
}

#[test]
fn a_proven_peer_whose_root_stays_unknown_has_to_prove_itself_again() {
    let mut solo = Solo::with(patient());
    solo.accept(1, &with_root("before", 1, 100));
    solo.receive_message(1, &with_root("made up", 2, 5_000));
    solo.wait(PATIENCE);
    let refused = (0..=ROOM.max_of_stranger as u64).map(|more| {
        let made_up = with_root("made up", 10 + more, 5_010 + more);
        rejections(&solo.receive_message(1, &made_up)).len()
    });
    assert_eq!(refused.sum::<usize>(), 1, "the share of a stranger");
}

/// A peer that forwards an honest message first cannot displace it by flooding the room.
#[test]
fn a_flooder_does_not_displace_an_honest_message_that_it_sent_first() {
    let mut solo = Solo::with(patient());
    solo.input(Input::Connected(new_peer(100)));
    let honest = with_root("honest", 1, 101);
    solo.receive_message(100, &honest);
    solo.receive_message(1, &honest);
    strangers_flood(&mut solo, 1, 50);
    let outputs = solo.input(Input::Roots(window(&[root(), Fr::from(101)])));
    assert_eq!(tickets(&outputs).len(), 1);
}

#[test]
fn a_message_that_waited_in_vain_is_judged_again_when_it_comes_again() {
    let mut solo = Solo::with(patient());
    let early = with_root("early", 1, 101);
    solo.receive_message(1, &early);
    assert_eq!(rejections(&solo.wait(PATIENCE)).len(), 1);
    solo.assert_idle();
    solo.input(Input::Roots(window(&[root(), Fr::from(101)])));
    solo.accept(2, &early);
}

#[test]
fn a_message_that_was_displaced_is_judged_again_when_it_comes_again() {
    let mut solo = Solo::with(patient());
    let early = with_root("early", 1, 101);
    solo.receive_message(1, &early);
    for nullifier in 10..10 + ROOM.max_of_stranger as u64 {
        solo.receive_message(1, &with_root("later", nullifier, 102));
    }
    solo.input(Input::Roots(window(&[root(), Fr::from(101)])));
    solo.accept(2, &early);
}

#[test]
fn without_patience_too_a_later_copy_is_judged_again() {
    let mut solo = Solo::new();
    let early = with_root("early", 1, 101);
    assert_eq!(rejections(&solo.receive_message(1, &early)).len(), 1);
    solo.input(Input::Roots(window(&[root(), Fr::from(101)])));
    solo.accept(1, &early);
}
