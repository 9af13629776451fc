//! A member that publishes more than its limit, seen by a network.

use super::fake_proof::*;
use super::net::Net;
use super::solo::*;
use crate::{Output, Rejection};

/// Node 0 is the spammer; 1 and 2 are its neighbours; 3 is behind them.
const PAIRS: [(usize, usize); 5] = [(0, 1), (0, 2), (1, 2), (1, 3), (2, 3)];

fn disconnects(net: &Net, node: usize) -> Vec<u32> {
    let mut peers: Vec<_> = net
        .outputs_of(node)
        .iter()
        .filter_map(|output| match output {
            Output::Disconnect(peer) => Some(peer.0),
            _ => None,
        })
        .collect();
    peers.dedup();
    peers
}

#[test]
fn a_spammer_is_disconnected_by_its_neighbours_and_nobody_else_is() {
    let mut net = Net::spamming(4, 1).linked(&PAIRS);
    for i in 0..15 {
        net.next_message_id[0] = 0;
        net.say(0, &format!("message {i}"));
    }
    for neighbour in [1, 2] {
        assert_eq!(disconnects(&net, neighbour), [0]);
        assert!(!net.are_linked(neighbour, 0));
    }
    assert!(disconnects(&net, 3).is_empty());
    assert!(disconnects(&net, 0).is_empty());
    assert!(net.are_linked(1, 2) && net.are_linked(1, 3) && net.are_linked(2, 3));

    // Only the message within the limit has spread, and the other nodes still exchange messages.
    net.say(3, "are you there?");
    for node in 1..4 {
        assert_eq!(net.heard(node), ["message 0", "are you there?"]);
    }
}

#[test]
fn spam_reaches_nobody_beyond_the_spammers_neighbours() {
    let mut net = Net::spamming(4, 1).linked(&PAIRS);
    net.say(0, "first");
    net.next_message_id[0] = 0;
    net.say(0, "second");
    for neighbour in [1, 2] {
        let outputs = net.outputs_of(neighbour);
        assert_eq!(rejection(&outputs), Rejection::Spam { repeated: true });
        assert_eq!(exposed(&outputs).len(), 1);
    }
    assert_eq!(rejections(&net.outputs_of(3)), []);
    for node in 1..4 {
        assert_eq!(net.heard(node), ["first"]);
        assert_idle(&net.relays[node]);
    }
}

#[test]
fn a_member_within_its_limit_is_nobodys_spammer() {
    let mut net = Net::forged(4, 1).linked(&PAIRS);
    for i in 0..20 {
        net.say(0, &format!("message {i}"));
    }
    for node in 1..4 {
        assert_eq!(net.heard(node).len(), 20);
        assert_eq!(rejections(&net.outputs_of(node)), []);
    }
}

#[test]
fn messages_under_one_nullifier_from_both_ends_of_a_line_part_no_neighbours() {
    let line = [(0, 1), (1, 2), (2, 3)];
    let mut net = Net::forged(4, 1).linked(&line);
    let now_ns = net.unix_now_ns();
    for nullifier in 500..512 {
        for (end, text) in [(0, "left"), (3, "right")] {
            let message = proved_at(&format!("{text} {nullifier}"), nullifier, now_ns);
            net.stranger_sends(end, &message.encode());
        }
    }
    net.run_ms(500);
    // Each half has received the messages of its own end, and the two sets met in the middle.
    let of_spam = |node: usize| rejections(&net.outputs_of(node)).len();
    assert_eq!([0, 1, 2, 3].map(of_spam), [0, 12, 12, 0]);
    for node in 0..4 {
        assert_eq!(net.heard(node).len(), 12);
        assert_eq!(blamed(&net.outputs_of(node)), [0; 0]);
        assert_eq!(disconnects(&net, node), [0; 0]);
    }
    net.say(0, "still one network");
    assert!(net.heard(3).contains(&"still one network".to_owned()));
}
