//! Peers whose stream is replaced by the input `Renewed`.

use super::raw;
use super::solo::{Solo, TOPIC, outbound, peer, said};
use crate::{ApiMisuse, Config, Input, PeerIx};

#[test]
fn a_peer_on_a_new_stream_is_told_again_of_topics_and_of_its_place_in_the_mesh() {
    let mut solo = Solo::joined(Config::waku());
    solo.mesh_peer(peer(0));
    let outputs = solo.input(Input::Renewed(peer(0)));
    let said = said(&outputs, 0);
    assert_eq!(said.subscriptions.len(), 1);
    assert!(said.subscriptions[0].subscribe);
    assert_eq!(said.graft.len(), 1);
    assert_eq!(solo.mesh(), [0], "its place is kept");
}

#[test]
fn a_peer_outside_the_mesh_is_not_grafted_by_a_new_stream() {
    let mut solo = Solo::joined(Config::waku());
    solo.mesh_peer(peer(0));
    solo.frame(0, raw::prune(TOPIC, Some(30), &[]));
    let outputs = solo.input(Input::Renewed(peer(0)));
    assert_eq!(said(&outputs, 0).subscriptions.len(), 1);
    assert!(said(&outputs, 0).graft.is_empty());
}

#[test]
fn a_new_stream_tells_who_dialled_the_connection_that_carries_it() {
    let mut solo = Solo::joined(Config::waku());
    solo.mesh_peer(peer(0));
    solo.input(Input::Renewed(outbound(0)));
    let direction = solo.router.peers.get(PeerIx(0)).unwrap().direction;
    assert_eq!(direction, outbound(0).direction);
}

#[test]
fn only_a_connected_peer_has_a_new_stream() {
    let mut solo = Solo::joined(Config::waku());
    let misuse = solo.router.handle(solo.now, Input::Renewed(peer(0)));
    assert_eq!(misuse, Err(ApiMisuse::UnknownPeer(PeerIx(0))));
}
