//! Several nodes with one identity: none sends under a nullifier that it knows to be used.

use undertone_gossip::RequestId;

use super::fake_proof::*;
use super::net::{Net, sends_reused_ids};
use super::solo::*;
use crate::{Input, Output};

/// Proofs requested from the driver: the request number, and whether used ids are to be skipped.
fn asked(outputs: &[Output]) -> Vec<(u64, bool)> {
    let asked = outputs.iter().filter_map(|output| match output {
        Output::Prove {
            request, is_taken, ..
        } => Some((request.0, *is_taken)),
        _ => None,
    });
    asked.collect()
}

fn prove(solo: &mut Solo, nullifier: u64) -> Vec<Output> {
    let result = Ok(proof_of(&plain("ours"), nullifier));
    solo.input(Input::Proved {
        request: RequestId(8),
        result,
    })
}

#[test]
fn a_nullifier_that_somebody_used_is_not_used_again() {
    let mut solo = Solo::new();
    solo.accept(1, &proved("theirs", 1));
    assert_eq!(asked(&solo.publish(&plain("ours"), 8)), [(8, false)]);
    let outputs = prove(&mut solo, 1);
    assert_eq!(asked(&outputs), [(8, true)]);
    assert_eq!(outputs.len(), 1, "nothing is sent: {outputs:?}");
    let outputs = prove(&mut solo, 2);
    let sent = [1, 2, 3].map(|peer| (peer, proved("ours", 2).encode().into()));
    assert_eq!(forwarded(&outputs), sent);
    solo.assert_idle();
}

#[test]
fn a_nullifier_whose_proof_is_being_checked_is_not_used() {
    let mut solo = Solo::new();
    let theirs = solo.receive_to_check(1, &proved("theirs", 1));
    solo.publish(&plain("ours"), 8);
    assert_eq!(asked(&prove(&mut solo, 1)), [(8, true)]);
    let (epoch, nullifier) = (undertone_rln::Epoch(2_833_333), undertone_rln::Fr::from(1));
    assert!(solo.relay.knows_nullifier(epoch, nullifier));
    assert!(
        !solo
            .relay
            .knows_nullifier(undertone_rln::Epoch(2_833_334), nullifier)
    );
    assert_eq!(delivered(&solo.answer(theirs, true)).len(), 1);
    assert!(solo.relay.knows_nullifier(epoch, nullifier));
    assert_eq!(forwarded(&prove(&mut solo, 2)).len(), 3);
}

#[test]
fn two_nodes_of_one_member_take_other_ids() {
    // The member's nodes are 0 and 2; node 1 is between them.
    let mut net = Net::forged(3, 1).linked(&[(0, 1), (1, 2)]);
    net.member[2] = 0;
    for node in [0, 2, 2, 0, 2] {
        net.say(node, &format!("message {} of {node}", net.heard(1).len()));
    }
    for node in 0..3 {
        assert_eq!(net.heard(node).len(), 5, "{:?}", net.heard(node));
        assert_eq!(exposed(&net.outputs_of(node)), []);
        assert_eq!(rejections(&net.outputs_of(node)), []);
    }
}

/// If they send at the same moment, neither can know of the other; both notice it afterwards.
#[test]
fn two_nodes_of_one_member_at_one_moment_are_found_out() {
    let mut net = Net::forged(3, 1).linked(&[(0, 1), (1, 2)]);
    net.member[2] = 0;
    for node in [0, 2] {
        let text = format!("from {node}").into_bytes();
        net.publish(
            node,
            undertone_message::WakuMessage::new(text, CONTENT_TOPIC),
        );
    }
    net.run_ms(1000);
    assert!(!exposed(&net.outputs_of(1)).is_empty());
}

#[test]
fn an_attacker_may_send_what_gives_it_away() {
    let mut solo = Solo::with(sends_reused_ids(config()));
    solo.accept(1, &proved("first", 1));
    solo.publish(&plain("ours"), 8);
    let outputs = prove(&mut solo, 1);
    assert_eq!((asked(&outputs), forwarded(&outputs).len()), (vec![], 3));
}
