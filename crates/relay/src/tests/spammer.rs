//! A member that publishes more than its limit, seen by a network.

use super::net::Net;
use super::solo::*;
use crate::{Output, Rejection};

/// 0 is the spammer; 1 and 2 are its neighbours; 3 is behind them.
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
    let mut net = Net::forged(4, 1).linked(&PAIRS);
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

    // Only the message within the limit has spread, and the others still talk.
    net.say(3, "are you there?");
    for node in 1..4 {
        assert_eq!(net.heard(node), ["message 0", "are you there?"]);
    }
}

#[test]
fn spam_reaches_nobody_beyond_the_spammers_neighbours() {
    let mut net = Net::forged(4, 1).linked(&PAIRS);
    net.say(0, "first");
    net.next_message_id[0] = 0;
    net.say(0, "second");
    for neighbour in [1, 2] {
        let outputs = net.outputs_of(neighbour);
        assert_eq!(rejection(&outputs), Rejection::Spam);
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
