//! Messages that come before the news of their root.

use std::time::Duration;

use undertone_rln::{Fr, Rejection as Why, fr_to_le};

use super::forge::{attach, config, plain, proof_of, root, window};
use super::solo::{Solo, delivered, rejection, rejections, tickets};
use crate::rootless::{MAX_MESSAGES, MAX_OF_PEER};
use crate::{Input, Rejection, RelayConfig};

const PATIENCE: Duration = Duration::from_secs(2);

fn patient() -> RelayConfig {
    let mut config = config();
    let rln = config.rln.as_mut().unwrap();
    rln.root_patience_ns = PATIENCE.as_nanos() as u64;
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

/// Anyone can make up roots: one peer cannot take all the room, and all together cannot take more.
#[test]
fn few_may_wait() {
    let mut solo = Solo::with(patient());
    let mut nullifier = 0;
    let mut send = |solo: &mut Solo, peer| {
        nullifier += 1;
        let message = with_root(&nullifier.to_string(), nullifier, 101);
        rejections(&solo.receive_message(peer, &message)).len()
    };
    let refused: usize = (0..MAX_OF_PEER + 3).map(|_| send(&mut solo, 1)).sum();
    assert_eq!(refused, 3);
    assert_eq!(send(&mut solo, 2), 0, "another peer is not affected");
    const { assert!(MAX_OF_PEER * 4 <= MAX_MESSAGES) };
}
