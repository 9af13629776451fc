//! The same seed and inputs give the same outputs; and once everything is answered, no state is held.

use proptest::prelude::*;
use undertone_gossip::RequestId;

use super::fake_proof::*;
use super::net::Net;
use super::solo::*;
use crate::{Input, Output};

/// A network with honest traffic, a spammer, and a node that connects and disconnects.
fn busy_network(seed: u8) -> Net {
    let ring = [
        (0, 1),
        (1, 2),
        (2, 3),
        (3, 4),
        (4, 5),
        (5, 0),
        (0, 3),
        (1, 4),
    ];
    let mut net = Net::spamming(6, seed).linked(&ring);
    for round in 0..8 {
        for node in 0..6 {
            net.publish(
                node,
                plain_at(&format!("{node} in {round}"), net.unix_now_ns()),
            );
        }
        net.next_message_id[0] = 0;
        let change = match round % 2 {
            0 => Input::Unsubscribe(topic()),
            _ => Input::Subscribe(topic()),
        };
        net.input(5, change);
        net.run_ms(700);
    }
    net.run_ms(2000);
    net
}

#[test]
fn the_same_seed_gives_the_same_outputs() {
    assert_eq!(busy_network(1).trace(), busy_network(1).trace());
    assert_ne!(busy_network(1).trace(), busy_network(2).trace());
}

#[test]
fn a_network_that_came_to_rest_holds_nothing() {
    let net = busy_network(3);
    for relay in &net.relays {
        assert_idle(relay);
    }
}

/// Operation on a relay; any order is possible.
#[derive(Clone, Debug)]
enum Step {
    Receive {
        peer: u32,
        payload: u8,
        nullifier: u64,
    },
    Answer {
        newest: bool,
        valid: bool,
    },
    Publish {
        payload: u8,
    },
    /// Publish a message that comes with its proof.
    Bring {
        payload: u8,
        nullifier: u64,
    },
    Prove {
        nullifier: u64,
    },
    Leave,
    Join,
}

fn steps() -> impl Strategy<Value = Vec<Step>> {
    let step = prop_oneof![
        4 => (1u32..4, 0u8..4, 0u64..3).prop_map(|(peer, payload, nullifier)| Step::Receive {
            peer,
            payload,
            nullifier,
        }),
        4 => any::<(bool, bool)>().prop_map(|(newest, valid)| Step::Answer { newest, valid }),
        1 => (0u8..4).prop_map(|payload| Step::Publish { payload }),
        2 => (0u8..4, 0u64..3).prop_map(|(payload, nullifier)| Step::Bring { payload, nullifier }),
        1 => (0u64..3).prop_map(|nullifier| Step::Prove { nullifier }),
        1 => Just(Step::Leave),
        1 => Just(Step::Join),
    ];
    proptest::collection::vec(step, 0..60)
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 128, failure_persistence: None, ..Default::default() })]

    /// For any operations: each publication has one answer, each nullifier is delivered for one message at
    /// most, each verification has one answer, and at the end no state is held.
    #[test]
    fn one_message_per_nullifier_and_nothing_left(steps in steps()) {
        let mut solo = Solo::new();
        let mut tickets_open = Vec::new();
        let mut proofs_open: Vec<(u64, String)> = Vec::new();
        let mut delivered_xs: Vec<(u64, Vec<u8>)> = Vec::new();
        let mut next_request = 0;
        let mut answered = Vec::new();
        let text = |payload: u8| format!("message {payload}");
        let mut drain = Vec::new();
        for nullifier in 10..210 {
            drain.push(Step::Answer { newest: false, valid: true });
            drain.push(Step::Prove { nullifier });
        }
        for step in steps.into_iter().chain(drain) {
            let outputs = match step {
                Step::Receive { peer, payload, nullifier } => {
                    solo.receive_message(peer, &proved(&text(payload), nullifier))
                }
                Step::Answer { newest, valid } => {
                    if tickets_open.is_empty() {
                        continue;
                    }
                    let at = if newest { tickets_open.len() - 1 } else { 0 };
                    solo.answer(tickets_open.remove(at), valid)
                }
                Step::Publish { payload } => {
                    next_request += 1;
                    proofs_open.push((next_request, text(payload)));
                    let outputs = solo.publish(&plain(&text(payload)), next_request);
                    if !published(&outputs).is_empty() {
                        proofs_open.pop();
                    }
                    outputs
                }
                Step::Bring { payload, nullifier } => {
                    next_request += 1;
                    solo.publish(&proved(&text(payload), nullifier), next_request)
                }
                Step::Prove { nullifier } => {
                    let Some((request, payload)) = proofs_open.pop() else { continue };
                    // Another node may publish with this node's identity.
                    let result = Ok(proof_of(&plain(&payload), nullifier));
                    let outputs = solo.input(Input::Proved { request: RequestId(request), result });
                    if outputs.iter().any(|output| matches!(output, Output::Prove { .. })) {
                        proofs_open.push((request, payload));
                    }
                    outputs
                }
                Step::Leave => solo.input(Input::Unsubscribe(topic())),
                Step::Join => solo.input(Input::Subscribe(topic())),
            };
            tickets_open.extend(tickets(&outputs));
            answered.extend(published(&outputs).into_iter().map(|(request, _)| request));
            for message in delivered(&outputs) {
                let proof = message.rate_limit_proof.clone().unwrap_or_default();
                let nullifier = undertone_rln::RateLimitProof::decode(&proof).unwrap().nullifier[0];
                delivered_xs.push((u64::from(nullifier), message.payload.to_vec()));
            }
        }
        solo.assert_idle();
        answered.sort_unstable();
        prop_assert_eq!(answered, (1..=next_request).collect::<Vec<u64>>());
        delivered_xs.sort();
        let mut nullifiers: Vec<_> = delivered_xs.iter().map(|(nullifier, _)| *nullifier).collect();
        let all = nullifiers.len();
        nullifiers.dedup();
        prop_assert_eq!(nullifiers.len(), all, "{:?}", delivered_xs);
    }
}
