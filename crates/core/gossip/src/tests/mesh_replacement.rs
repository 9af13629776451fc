//! Meshes with peers that occupy slots and deliver nothing.

use std::net::{IpAddr, Ipv4Addr};
use std::time::Duration;

use super::raw;
use super::solo::{Solo, TOPIC, grafted, outbound, peer, said};
use crate::{Config, NewPeer};

fn at(n: u32, host: u8) -> NewPeer {
    let ip = Some(IpAddr::from(Ipv4Addr::new(192, 0, 2, host)));
    NewPeer { ip, ..peer(n) }
}

/// A router whose mesh is full with two peers at each of four addresses.
fn squatted() -> Solo {
    let mut solo = Solo::joined(Config::waku());
    for n in 0..8 {
        solo.mesh_peer(at(n, (n % 4) as u8));
    }
    assert_eq!(solo.mesh().len(), 8);
    solo
}

#[test]
fn a_peer_of_a_new_address_gets_a_place_in_a_full_mesh() {
    let mut solo = squatted();
    solo.subscriber(at(8, 100));
    let outputs = solo.frame(8, raw::graft(TOPIC));
    assert!(said(&outputs, 8).prune.is_empty());
    assert!(solo.mesh().contains(&8));
    assert_eq!(solo.mesh().len(), 8, "one of a crowded address made room");
    let pruned = (0..8).find(|n| !solo.mesh().contains(n)).unwrap();
    assert_eq!(said(&outputs, pruned).prune.len(), 1);
}

#[test]
fn one_more_of_a_crowded_address_is_refused() {
    let mut solo = squatted();
    solo.subscriber(at(8, 0));
    let outputs = solo.frame(8, raw::graft(TOPIC));
    assert_eq!(said(&outputs, 8).prune.len(), 1);
    assert!(!solo.mesh().contains(&8));
}

#[test]
fn peers_without_an_address_or_of_one_for_all_are_refused_as_ever() {
    for host in [None, Some(1)] {
        let new = |n| host.map_or(peer(n), |host| at(n, host));
        let mut config = Config::waku();
        config.score.as_mut().unwrap().ip_colocation_weight = 0.0;
        let mut solo = Solo::joined(config);
        (0..8).for_each(|n| solo.mesh_peer(new(n)));
        solo.subscriber(new(8));
        solo.frame(8, raw::graft(TOPIC));
        assert_eq!(solo.mesh(), [0, 1, 2, 3, 4, 5, 6, 7]);
        solo.advance_ms(5_000);
        assert_eq!(solo.mesh(), [0, 1, 2, 3, 4, 5, 6, 7]);
    }
}

#[test]
fn peers_that_we_dialled_keep_their_places() {
    let mut config = Config::waku();
    config.score.as_mut().unwrap().ip_colocation_weight = 0.0;
    let mut solo = Solo::joined(config);
    for n in 0..8 {
        let ip = at(n, 1).ip;
        solo.mesh_peer(NewPeer { ip, ..outbound(n) });
    }
    solo.subscriber(at(8, 100));
    solo.frame(8, raw::graft(TOPIC));
    assert!(!solo.mesh().contains(&8));
}

/// The honest peer does not graft by itself: its own mesh may be large enough.
#[test]
fn the_heartbeat_gives_places_of_crowded_addresses_to_others() {
    let mut solo = squatted();
    (8..11).for_each(|n| drop(solo.subscriber(at(n, 92 + n as u8))));
    let outputs = solo.advance_ms(2_100);
    assert_eq!(grafted(&outputs), [8, 9, 10]);
    assert!((8..11).all(|n| solo.mesh().contains(&n)));
    assert_eq!(solo.mesh().len(), 8);
    let settled = solo.advance_ms(20_000);
    assert_eq!(grafted(&settled), [0; 0]);
}

/// Eight addresses: no address is crowded, so only their deliveries distinguish the peers.
#[test]
fn a_member_that_brings_nothing_while_others_do_loses_its_place() {
    let mut solo = Solo::joined(Config::waku());
    (0..8).for_each(|n| solo.mesh_peer(at(n, n as u8)));
    solo.subscriber(at(8, 100));
    for second in 0..200u32 {
        // Members 0 to 3 deliver messages now and then; peer 8 delivers the others on request.
        let from = if second % 2 == 0 { 8 } else { (second / 2) % 4 };
        solo.deliver(from, &second.to_be_bytes());
        solo.advance_ms(1_000);
    }
    let mesh = solo.mesh();
    assert!(mesh.contains(&8), "{mesh:?}");
    assert!((0..4).all(|n| mesh.contains(&n)), "{mesh:?}");
}

#[test]
fn where_little_is_sent_nobody_is_called_idle() {
    let mut solo = Solo::joined(Config::waku());
    (0..8).for_each(|n| solo.mesh_peer(at(n, n as u8)));
    (8..12).for_each(|n| drop(solo.subscriber(at(n, n as u8))));
    for minute in 0..10u8 {
        solo.deliver(0, &[minute]);
        solo.advance(Duration::from_secs(60));
    }
    assert_eq!(solo.mesh(), [0, 1, 2, 3, 4, 5, 6, 7]);
}
