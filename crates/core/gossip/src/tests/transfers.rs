//! Delay of IWANT while a long frame in transit may contain the wanted message.

use std::time::Duration;

use super::raw;
use super::solo::{Solo, TOPIC, peer, said, scored};
use crate::{Config, Input, MessageId, Output, PeerIx};

const WANTED: &[u8] = b"wanted";

fn ids() -> [MessageId; 1] {
    [MessageId::of(WANTED)]
}

fn ihave() -> Vec<u8> {
    raw::ihave(TOPIC, &ids())
}

/// Waku's configuration with a transfer wait of three seconds.
fn patient() -> Config {
    let mut config = Config::waku();
    config.large.transfer_wait = Duration::from_secs(3);
    config
}

/// A router with four subscribers outside its mesh.
fn solo(config: Config) -> Solo {
    let mut solo = Solo::joined(config);
    (0..4).for_each(|n| drop(solo.subscriber(peer(n))));
    solo
}

fn transfer(n: u32, is_started: bool) -> Input {
    match is_started {
        true => Input::TransferStarted(PeerIx(n)),
        false => Input::TransferEnded(PeerIx(n)),
    }
}

fn is_asked(solo: &mut Solo, n: u32, input: Input) -> bool {
    said(&solo.input(input), n).iwant == ids()
}

#[test]
fn nothing_is_asked_for_while_a_frame_comes_in_that_may_be_it() {
    let mut solo = solo(patient());
    solo.input(transfer(1, true));
    assert!(said(&solo.frame(0, ihave()), 0).iwant.is_empty());
    let meanwhile = solo.advance_ms(2_000);
    assert!(said(&meanwhile, 0).iwant.is_empty());
    // It held the message: the driver gives the frame, then reports the end of the transfer.
    solo.frame(1, raw::publish(TOPIC, WANTED));
    assert!(!is_asked(&mut solo, 0, transfer(1, false)));
    assert_eq!(solo.router.usage().iwant_waiting, 0);
    let later = solo.advance_ms(5_000);
    assert!((0..4).all(|n| said(&later, n).iwant.is_empty()));
    assert_eq!(solo.router.stats().sent.iwant, 0);
}

#[test]
fn it_is_asked_for_at_once_when_what_came_was_something_else() {
    let mut solo = solo(patient());
    solo.input(transfer(1, true));
    solo.input(transfer(2, true));
    solo.frame(0, ihave());
    solo.frame(1, raw::publish(TOPIC, b"else"));
    assert!(
        !is_asked(&mut solo, 0, transfer(1, false)),
        "one still comes"
    );
    assert!(is_asked(&mut solo, 0, transfer(2, false)));
}

#[test]
fn a_connection_that_breaks_brings_nothing_any_more() {
    let mut solo = solo(patient());
    solo.input(transfer(1, true));
    solo.frame(0, ihave());
    assert!(is_asked(&mut solo, 0, Input::Disconnected(PeerIx(1))));
    assert_eq!(solo.router.usage().transfers, 0);
    // Later reports about the closed connection belong to no peer.
    solo.input(transfer(1, true));
    assert_eq!(solo.router.usage().transfers, 0);
}

#[test]
fn a_frame_that_trickles_is_not_waited_for_for_ever() {
    let mut solo = solo(patient());
    solo.input(transfer(1, true));
    solo.advance_ms(2_500);
    solo.frame(0, ihave());
    let early = solo.advance_ms(499);
    assert!(said(&early, 0).iwant.is_empty());
    let due = solo.advance_ms(1);
    assert_eq!(
        said(&due, 0).iwant,
        ids(),
        "3 s after the frame began, not after the IHAVE"
    );
    let next = [MessageId::of(b"next")];
    let outputs = solo.frame(0, raw::ihave(TOPIC, &next));
    assert_eq!(said(&outputs, 0).iwant, next, "it no longer counts");
}

/// Each frame has its own deadline, also when several follow each other on one connection.
#[test]
fn a_frame_that_follows_another_is_waited_for_as_long() {
    let mut solo = solo(patient());
    solo.input(transfer(1, true));
    solo.advance_ms(2_900);
    solo.input(transfer(1, true));
    solo.advance_ms(2_900);
    assert!(said(&solo.frame(0, ihave()), 0).iwant.is_empty());
}

/// There is always a long frame in transit: each is waited for, but an id waits no longer than 3 s.
#[test]
fn an_id_waits_no_longer_than_there_is_patience() {
    let mut solo = solo(patient());
    solo.input(transfer(1, true));
    solo.frame(0, ihave());
    let mut early = Vec::new();
    for n in [2, 1, 2, 1, 2] {
        early.extend(solo.advance_ms(500));
        early.extend(solo.input(transfer(n, true)));
        early.extend(solo.input(transfer(3 - n, false)));
    }
    assert!(said(&early, 0).iwant.is_empty());
    let early = solo.advance_ms(499);
    assert!(said(&early, 0).iwant.is_empty());
    assert_eq!(said(&solo.advance_ms(1), 0).iwant, ids());
}

#[test]
fn peers_whose_gossip_is_not_heard_hold_nothing_up() {
    let mut config = scored();
    config.thresholds.gossip = -10.0;
    let mut solo = solo(config);
    solo.set_score(1, -11.0);
    solo.input(transfer(1, true));
    assert_eq!(said(&solo.frame(0, ihave()), 0).iwant, ids());
}

/// Delayed ids count towards the budgets when they are announced, and again when they are requested.
#[test]
fn waiting_widens_no_budget() {
    let mut config = patient();
    config.limits.iwant_ids_per_heartbeat_max = 10;
    let mut solo = solo(config);
    let asked = |outputs: &[Output]| said(outputs, 0).iwant.len();
    solo.input(transfer(1, true));
    for turn in 0..3 {
        let ids = raw::made_up_ids(turn * 7, 7);
        solo.frame(0, raw::ihave(TOPIC, &ids));
    }
    assert_eq!(solo.router.usage().iwant_waiting, 10, "what may be heard");
    solo.heartbeat();
    let ids = raw::made_up_ids(100, 7);
    solo.frame(0, raw::ihave(TOPIC, &ids));
    assert_eq!(solo.router.usage().iwant_waiting, 17);
    let first = solo.input(transfer(1, false));
    assert_eq!(asked(&first), 10, "this heartbeat's");
    let next = solo.advance_ms(3_000);
    assert_eq!(asked(&next), 7, "and the others in the next ones");
}

#[test]
fn with_no_patience_what_comes_in_does_not_matter() {
    let mut config = patient();
    config.large.transfer_wait = Duration::ZERO;
    let mut solo = solo(config);
    solo.input(transfer(1, true));
    assert_eq!(said(&solo.frame(0, ihave()), 0).iwant, ids());
}
