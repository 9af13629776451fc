//! Messages across a network, joining and leaving topics, and back-pressure.

use undertone_gossip::RequestId;
use undertone_message::PubsubTopic;

use super::fake_proof::*;
use super::net::Net;
use super::solo::*;
use crate::{Input, Output, SubscribeError};

const LINE: [(usize, usize); 4] = [(0, 1), (1, 2), (2, 3), (3, 4)];

#[test]
fn five_relays_in_a_line_deliver_every_message_with_a_real_proof() {
    let mut net = Net::real(5, 1).linked(&LINE);
    net.say(0, "from one end");
    net.say(4, "from the other");
    net.say(2, "from the middle");
    for node in 0..5 {
        assert_eq!(
            net.heard(node),
            ["from one end", "from the other", "from the middle"]
        );
        assert_eq!(rejections(&net.outputs_of(node)), []);
        assert_idle(&net.relays[node]);
    }
}

#[test]
fn a_relay_forwards_the_bytes_that_it_received() {
    let mut net = Net::forged(3, 1).linked(&[(0, 1), (1, 2)]);
    let message = proved_at("as nwaku writes", 1, net.unix_now_ns());
    let data = as_nwaku_writes(&message);
    assert_ne!(
        data,
        message.encode(),
        "our encoder writes it in another way"
    );
    net.stranger_sends(0, &data);
    net.run_ms(500);
    for (from, to) in [(0, 1), (1, 2)] {
        assert_eq!(net.carried(from, to), std::slice::from_ref(&data));
    }
    for node in 0..3 {
        assert_eq!(net.heard(node), ["as nwaku writes"]);
    }
}

#[test]
fn an_invalid_message_goes_no_further_than_its_first_receiver() {
    let mut net = Net::real(3, 1).linked(&[(0, 1), (1, 2)]);
    let mut forged = plain_at("forged", net.unix_now_ns());
    let mut proof = proof_of(&forged, 1);
    proof.merkle_root = undertone_rln::fr_to_le(&super::real::rln().root());
    forged = attach(forged, &proof);
    net.stranger_sends(0, &forged.encode());
    net.run_ms(500);
    assert_eq!(rejection(&net.outputs_of(0)), crate::Rejection::Snark);
    assert_eq!(net.carried(0, 1).len(), 0);
}

#[test]
fn a_topic_left_while_a_proof_is_checked_delivers_nothing_and_leaks_nothing() {
    let mut solo = Solo::new();
    let ticket = solo.receive_to_check(1, &proved("hello", 1));
    solo.input(Input::Unsubscribe(topic()));
    let outputs = solo.answer(ticket, true);
    assert_eq!((delivered(&outputs), forwarded(&outputs)), (vec![], vec![]));
    solo.assert_idle();
}

#[test]
fn a_peer_that_leaves_while_its_proof_is_checked_leaves_its_message() {
    let mut solo = Solo::new();
    let ticket = solo.receive_to_check(1, &proved("hello", 1));
    solo.input(Input::Disconnected(undertone_gossip::PeerIx(1)));
    let outputs = solo.answer(ticket, true);
    assert_eq!(delivered(&outputs).len(), 1);
    solo.assert_idle();
}

#[test]
fn the_relay_is_saturated_from_three_quarters_of_its_checks_on() {
    let mut config = config();
    config.rln.as_mut().unwrap().checks_max = 4;
    let mut solo = Solo::with(config);
    let first = solo.receive_to_check(1, &proved("a", 1));
    assert!(!solo.relay.is_saturated());
    let second = solo.receive_to_check(2, &proved("b", 2));
    assert!(!solo.relay.is_saturated());
    let third = solo.receive_to_check(3, &proved("c", 3));
    assert!(solo.relay.is_saturated());
    solo.answer(second, false);
    assert!(!solo.relay.is_saturated());
    solo.answer(first, true);
    solo.answer(third, true);
    solo.assert_idle();
}

#[test]
fn one_frame_with_more_messages_than_checks_loses_only_what_does_not_fit() {
    let mut config = config();
    config.rln.as_mut().unwrap().checks_max = 4;
    let mut solo = Solo::with(config);
    let frames = (0..6).map(|i| message_frame(&topic(), &proved("hello", i).encode()));
    let rpc: Vec<u8> = frames.flat_map(|frame| strip_prefix(&frame)).collect();
    let outputs = solo.frame(1, framed(&rpc));
    let tickets = tickets(&outputs);
    assert_eq!(tickets.len(), 4);
    assert_eq!(rejections(&outputs).len(), 2);
    for ticket in tickets {
        assert_eq!(delivered(&solo.answer(ticket, true)).len(), 1);
    }
    solo.assert_idle();
}

#[test]
fn only_topics_of_the_network_can_be_joined() {
    let mut solo = Solo::new();
    let mut outcome_of = |topic: PubsubTopic| {
        let outputs = solo.input(Input::Subscribe(topic));
        outputs.into_iter().find_map(|output| match output {
            Output::Subscribed { outcome, .. } => Some(outcome),
            _ => None,
        })
    };
    let shard = |text| PubsubTopic::parse(text).unwrap();
    assert_eq!(outcome_of(shard("/waku/2/rs/1/7")), Some(Ok(())));
    for foreign in [shard("/waku/2/rs/2/0"), PubsubTopic::Named("chat".into())] {
        let refused = SubscribeError::NotInNetwork {
            topic: foreign.clone(),
            cluster_id: 1,
        };
        assert_eq!(outcome_of(foreign), Some(Err(refused)));
    }
    let joined = solo.relay.router().joined();
    assert_eq!(joined.len(), 2);
}

#[test]
fn a_topic_over_the_limits_is_refused_and_not_remembered() {
    let mut config = config();
    config.gossip.limits.topics_max = 1;
    let mut solo = Solo::with(config);
    let second = PubsubTopic::parse("/waku/2/rs/1/1").unwrap();
    let outputs = solo.input(Input::Subscribe(second.clone()));
    let refused = SubscribeError::Limit {
        topic: second.clone(),
    };
    match &outputs[..] {
        [Output::Subscribed { outcome, .. }] => assert_eq!(*outcome, Err(refused)),
        other => panic!("{other:?}"),
    }
    assert!(!solo.relay.topics.contains_key(&gossip_topic(&second)));
}

#[test]
fn messages_of_one_topic_do_not_reach_another() {
    let mut net = Net::forged(2, 1).linked(&[(0, 1)]);
    let other = PubsubTopic::parse("/waku/2/rs/1/1").unwrap();
    net.subscribe(0, other.clone());
    net.run_ms(1000);
    let message = plain_at("for shard 1", net.unix_now_ns());
    let (topic, request) = (other, RequestId(1));
    net.input(
        0,
        Input::Publish {
            topic,
            message,
            request,
        },
    );
    net.run_ms(500);
    assert_eq!(net.heard(0), ["for shard 1"]);
    assert_eq!(net.heard(1).len(), 0);
}
