//! Peer exchange: which peers are offered in a PRUNE, and whose offers are used.

use bytes::Bytes;

use super::raw;
use super::solo::{Solo, TOPIC, peer, said, scored, topic};
use crate::{Config, Input, NewPeer, Output, PeerIx};

fn with_px() -> Config {
    Config {
        peer_exchange: true,
        ..scored()
    }
}

/// A router with a full mesh, so that the next GRAFT is refused with an offer.
fn full(config: Config) -> Solo {
    let mut solo = Solo::joined(config);
    for n in 0..8 {
        let record = Bytes::from(format!("record {n}"));
        solo.mesh_peer(NewPeer { record, ..peer(n) });
    }
    solo
}

/// Identities offered to `n` when it grafts.
fn offered(solo: &mut Solo, n: u32) -> Vec<(String, String)> {
    let outputs = solo.frame(n, raw::graft(TOPIC));
    let prune = &said(&outputs, n).prune[0];
    let text = |bytes: &Bytes| String::from_utf8(bytes.to_vec()).unwrap();
    let peers = prune
        .peers
        .iter()
        .map(|p| (text(&p.peer_id), text(&p.record)));
    let mut peers: Vec<_> = peers.collect();
    peers.sort();
    peers
}

fn dials(outputs: &[Output]) -> Vec<Bytes> {
    let dials = outputs.iter().filter_map(|output| match output {
        Output::Connect { identity, .. } => Some(identity.clone()),
        _ => None,
    });
    dials.collect()
}

#[test]
fn a_refused_peer_is_offered_other_subscribers_with_their_records() {
    let mut solo = full(with_px());
    solo.subscriber(peer(8));
    let mine = offered(&mut solo, 8);
    let expected: Vec<_> = (0..8)
        .map(|n| (format!("peer {n}"), format!("record {n}")))
        .collect();
    assert_eq!(mine, expected, "everybody but itself");
}

#[test]
fn offers_are_limited_in_number() {
    let mut config = with_px();
    config.peer_exchange_peers = 3;
    let mut solo = full(config);
    solo.subscriber(peer(8));
    assert_eq!(offered(&mut solo, 8).len(), 3);
}

#[test]
fn negative_peers_are_neither_offered_nor_offered_to() {
    let mut solo = full(with_px());
    solo.set_score(3, -1.0);
    solo.subscriber(peer(8));
    let peers = offered(&mut solo, 8);
    assert_eq!(peers.len(), 7);
    assert!(peers.iter().all(|(id, _)| id != "peer 3"));
    solo.subscriber(peer(9));
    solo.set_score(9, -1.0);
    assert_eq!(offered(&mut solo, 9), []);
}

#[test]
fn nothing_is_offered_when_off_on_leaving_or_during_backoff() {
    let mut solo = full(Config {
        peer_exchange: false,
        ..with_px()
    });
    solo.subscriber(peer(8));
    assert_eq!(offered(&mut solo, 8), []);
    let mut solo = full(with_px());
    solo.subscriber(peer(8));
    assert_ne!(offered(&mut solo, 8), []);
    assert_eq!(offered(&mut solo, 8), [], "it came back too early");
    let outputs = solo.input(Input::Unsubscribe(topic()));
    assert!((0..8).all(|n| said(&outputs, n).prune[0].peers.is_empty()));
}

#[test]
fn offers_of_well_scored_peers_are_taken_up_to_the_limit() {
    let mut config = with_px();
    config.thresholds.accept_px = 10.0;
    config.peer_exchange_peers = 2;
    let mut solo = Solo::joined(config);
    let px: [(&[u8], &[u8]); 3] = [(b"a", b"ra"), (b"b", b""), (b"c", b"")];
    for (n, score, taken) in [(0, 9.0, 0), (1, 10.0, 2)] {
        solo.mesh_peer(peer(n));
        solo.set_score(n, score);
        let outputs = solo.frame(n, raw::prune(TOPIC, Some(60), &px));
        assert_eq!(dials(&outputs).len(), taken, "peer {n}");
    }
}

#[test]
fn an_offer_tells_who_made_it_and_for_which_topic() {
    let mut solo = Solo::joined(with_px());
    solo.mesh_peer(peer(0));
    let outputs = solo.frame(0, raw::prune(TOPIC, None, &[(b"a", b"ra")]));
    let offer = outputs.into_iter().find_map(|output| match output {
        Output::Connect {
            from,
            topic,
            identity,
            record,
        } => Some((from, topic, identity, record)),
        _ => None,
    });
    let (identity, record) = (Bytes::from_static(b"a"), Bytes::from_static(b"ra"));
    assert_eq!(offer, Some((PeerIx(0), topic(), identity, record)));
}

#[test]
fn only_the_prune_of_a_mesh_member_is_worth_an_offer() {
    let px: [(&[u8], &[u8]); 1] = [(b"a", b"")];
    let mut solo = Solo::joined(with_px());
    solo.mesh_peer(peer(0));
    let prunes = [(); 3].map(|()| dials(&solo.frame(0, raw::prune(TOPIC, None, &px))).len());
    assert_eq!(prunes, [1, 0, 0]);
}

#[test]
fn offers_are_not_taken_when_exchange_is_off_or_the_topic_is_not_ours() {
    let px: [(&[u8], &[u8]); 1] = [(b"a", b"")];
    let mut solo = Solo::joined(scored());
    solo.mesh_peer(peer(0));
    assert_eq!(dials(&solo.frame(0, raw::prune(TOPIC, None, &px))), [""; 0]);
    let mut solo = Solo::joined(with_px());
    solo.subscriber(peer(0));
    assert_eq!(
        dials(&solo.frame(0, raw::prune("other", None, &px))),
        [""; 0]
    );
}
