use super::*;
use SessionStep::{Close, Closed, Opened, Read, Renewed, Retire, Write};

fn id(n: usize) -> ConnectionId {
    ConnectionId::new_unchecked(n)
}

fn protocol() -> StreamProtocol {
    StreamProtocol::new("/vac/waku/relay/2.0.0")
}

fn dialled_by_peer() -> ConnectedPoint {
    ConnectedPoint::Listener {
        local_addr: "/ip4/127.0.0.1/tcp/1".parse().expect("a constant"),
        send_back_addr: "/ip4/127.0.0.1/tcp/2".parse().expect("a constant"),
    }
}

fn dialled_by_us() -> ConnectedPoint {
    ConnectedPoint::Dialer {
        address: "/ip4/127.0.0.1/tcp/2".parse().expect("a constant"),
        role_override: libp2p::core::Endpoint::Dialer,
        port_use: libp2p::core::transport::PortUse::New,
    }
}

/// A session on connection 0 with streams in both directions.
fn open(endpoint: ConnectedPoint) -> Session {
    let mut session = Session::default();
    assert_eq!(session.established(id(0), endpoint), [Write(id(0), true)]);
    let opened = session.writable(id(0), protocol());
    assert_eq!(opened, [Opened(id(0)), Read(id(0))]);
    assert_eq!(session.heard(id(0), protocol()), [Read(id(0))]);
    session
}

#[test]
fn a_second_connection_carries_once_the_peer_has_accepted_a_stream_on_it() {
    let mut session = open(dialled_by_us());
    let steps = session.established(id(1), dialled_by_peer());
    assert_eq!(steps, [Write(id(0), false), Write(id(1), true)]);
    assert_eq!(session.carrier(), Some(id(0)), "nothing is open yet");
    assert_eq!(session.writable(id(1), protocol()), [Renewed(id(1))]);
    assert_eq!(session.carrier(), Some(id(1)));
    // Two nodes dialled each other: this is one session.
    assert_eq!(session.heard(id(1), protocol()), [Read(id(1))]);
}

#[test]
fn the_older_connection_carries_again_when_the_newer_one_closes() {
    let mut session = open(dialled_by_us());
    session.established(id(1), dialled_by_peer());
    session.writable(id(1), protocol());
    let steps = session.closed(id(1));
    assert_eq!(steps, [Write(id(0), true), Renewed(id(0))]);
    assert_eq!(session.closed(id(0)), [Closed]);
    assert!(session.is_empty());
}

#[test]
fn a_peer_that_dials_again_begins_another_session() {
    let mut session = open(dialled_by_peer());
    session.established(id(1), dialled_by_peer());
    let steps = session.heard(id(1), protocol());
    assert_eq!(steps, [Close(id(0)), Closed, Opened(id(1)), Read(id(1))]);
    assert_eq!(session.carrier(), None);
    assert_eq!(session.writable(id(1), protocol()), []);
    assert_eq!(session.carrier(), Some(id(1)));
    assert_eq!(session.closed(id(0)), [], "it was given up before");
}

#[test]
fn a_peer_that_dials_again_and_accepts_a_stream_first_begins_another_session_too() {
    let mut session = open(dialled_by_peer());
    session.established(id(1), dialled_by_peer());
    assert_eq!(session.writable(id(1), protocol()), [Renewed(id(1))]);
    let steps = session.heard(id(1), protocol());
    assert_eq!(steps, [Close(id(0)), Closed, Opened(id(1)), Read(id(1))]);
    assert_eq!(session.carrier(), Some(id(1)));
}

#[test]
fn a_connection_on_which_the_peer_opens_no_stream_ends_no_session() {
    let mut session = open(dialled_by_peer());
    session.established(id(1), dialled_by_peer());
    session.writable(id(1), protocol());
    let steps = session.closed(id(1));
    assert_eq!(steps, [Write(id(0), true), Renewed(id(0))]);
}

#[test]
fn a_new_stream_on_the_same_connection_renews_the_session() {
    let mut session = open(dialled_by_us());
    assert_eq!(session.heard(id(0), protocol()), [Renewed(id(0))]);
    assert_eq!(session.unwritable(id(0)), None);
    assert_eq!(session.carrier(), None);
    assert_eq!(session.writable(id(0), protocol()), [Renewed(id(0))]);
}

#[test]
fn a_peer_heard_first_is_written_to_without_a_second_announcement() {
    let mut session = Session::default();
    session.established(id(0), dialled_by_peer());
    let opened = session.heard(id(0), protocol());
    assert_eq!(opened, [Opened(id(0)), Read(id(0))]);
    assert_eq!(session.writable(id(0), protocol()), []);
    assert_eq!(session.carrier(), Some(id(0)));
}

#[test]
fn a_connection_without_pubsub_leaves_the_older_one_in_charge() {
    let mut session = open(dialled_by_us());
    session.established(id(1), dialled_by_peer());
    let steps = session.unsupported(id(1));
    assert_eq!(steps, [Write(id(0), true), Write(id(1), false)]);
    assert_eq!(session.carrier(), Some(id(0)));
    assert_eq!(session.closed(id(1)), []);
}

#[test]
fn a_peer_that_never_spoke_pubsub_goes_without_a_word() {
    let mut session = Session::default();
    session.established(id(0), dialled_by_peer());
    session.unsupported(id(0));
    assert_eq!(session.closed(id(0)), []);
}

fn through_a_relay() -> ConnectedPoint {
    ConnectedPoint::Dialer {
        address: "/ip4/127.0.0.1/tcp/2/p2p-circuit"
            .parse()
            .expect("a constant"),
        role_override: libp2p::core::Endpoint::Dialer,
        port_use: libp2p::core::transport::PortUse::New,
    }
}

#[test]
fn a_direct_connection_replaces_one_through_a_relay_when_it_carries_both_ways() {
    let mut session = open(through_a_relay());
    let steps = session.established(id(1), dialled_by_us());
    assert_eq!(steps, [Write(id(0), false), Write(id(1), true)]);
    // The peer may still send on the relayed one until it has a stream on the other.
    assert_eq!(session.writable(id(1), protocol()), [Renewed(id(1))]);
    assert_eq!(
        session.heard(id(1), protocol()),
        [Read(id(1)), Retire(id(0))]
    );
    assert_eq!(session.closed(id(0)), []);
    assert_eq!(session.carrier(), Some(id(1)));
}

#[test]
fn a_connection_through_a_relay_never_replaces_a_direct_one() {
    let mut session = open(dialled_by_us());
    assert_eq!(session.established(id(1), through_a_relay()), []);
    assert_eq!(
        session.heard(id(1), protocol()),
        [Read(id(1)), Retire(id(1))]
    );
    assert_eq!(session.carrier(), Some(id(0)));
    assert_eq!(session.closed(id(1)), []);
    assert_eq!(session.closed(id(0)), [Closed]);
}

#[test]
fn a_retired_connection_does_not_outlive_the_session() {
    let mut session = open(through_a_relay());
    session.established(id(1), dialled_by_us());
    session.writable(id(1), protocol());
    session.heard(id(1), protocol());
    assert_eq!(session.closed(id(1)), [Closed, Close(id(0))]);
    assert!(session.is_empty());
}

#[test]
fn a_peer_that_dials_directly_after_a_circuit_is_still_heard_through_the_relay() {
    let circuit = ConnectedPoint::Listener {
        local_addr: "/ip4/127.0.0.1/tcp/2/p2p-circuit"
            .parse()
            .expect("a constant"),
        send_back_addr: "/ip4/127.0.0.1/tcp/2/p2p-circuit"
            .parse()
            .expect("a constant"),
    };
    let mut session = open(circuit);
    session.established(id(1), dialled_by_peer());
    let steps = session.heard(id(1), protocol());
    assert_eq!(steps, [Retire(id(0)), Closed, Opened(id(1)), Read(id(1))]);
}
