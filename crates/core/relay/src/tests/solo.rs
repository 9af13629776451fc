//! One relay with three neighbours whose frames are written by hand.

use std::time::Duration;

use bytes::Bytes;
use undertone_gossip::wire::{self, Encoder};
use undertone_gossip::{
    Direction, Features, Limits, NewPeer, PeerIx, PeerMisbehaved, Report, RequestId, Time, Topic,
};
use undertone_message::{PubsubTopic, WakuMessage};

use super::fake_proof::{NOW_NS, config, root, topic, window};
use crate::{
    Input, Output, ProofTicket, PublishError, Published, Rejection, Relay, RelayConfig, RelayReport,
};

pub(crate) struct Solo {
    pub(crate) relay: Relay,
    pub(crate) now: Time,
}

pub(crate) fn new_peer(peer: u32) -> NewPeer {
    let features = Features::of("/vac/waku/relay/2.0.0").unwrap();
    let mut described = NewPeer::new(PeerIx(peer), features, Direction::Inbound);
    described.identity = Bytes::copy_from_slice(&peer.to_le_bytes());
    described
}

/// Returns the RPC in a frame.
pub(crate) fn strip_prefix(frame: &Bytes) -> Bytes {
    wire::unframe(frame).unwrap()
}

/// Adds the length prefix to an RPC.
pub(crate) fn framed(rpc: &[u8]) -> Bytes {
    let mut frame = Vec::new();
    let mut len = rpc.len();
    while len >= 0x80 {
        frame.push(len as u8 | 0x80);
        len >>= 7;
    }
    frame.push(len as u8);
    frame.extend_from_slice(rpc);
    frame.into()
}

pub(crate) fn gossip_topic(topic: &PubsubTopic) -> Topic {
    Topic::new(&topic.to_string())
}

pub(crate) fn message_frame(topic: &PubsubTopic, data: &[u8]) -> Bytes {
    wire::message_frame(&gossip_topic(topic), data)
}

pub(crate) fn subscribe_frame(topic: &PubsubTopic) -> Bytes {
    let mut encoder = Encoder::default();
    encoder.subscription(true, &gossip_topic(topic));
    encoder.finish().unwrap()
}

impl Solo {
    /// A relay of the Waku Network that accepts the forged root, its three neighbours in its mesh.
    pub(crate) fn new() -> Self {
        Self::with(config())
    }

    pub(crate) fn with(config: RelayConfig) -> Self {
        let relay = Relay::new(config, [7; 32], Time::ZERO).unwrap();
        let mut solo = Self {
            relay,
            now: Time::ZERO,
        };
        // The mesh settles by the first heartbeat; wall time is NOW_NS after it.
        let settled = Time::from_millis(200);
        solo.input(Input::ClockSet {
            unix_ns_at_zero: NOW_NS - settled.as_nanos(),
        });
        solo.input(Input::Roots(window(&[root()])));
        solo.input(Input::Subscribe(topic()));
        for peer in 1..=3 {
            solo.input(Input::Connected(new_peer(peer)));
            solo.frame(peer, subscribe_frame(&topic()));
        }
        solo.now = settled;
        solo.input(Input::Tick);
        let mesh = solo.relay.router().mesh(&gossip_topic(&topic()));
        assert_eq!(mesh, [1, 2, 3].map(PeerIx));
        solo
    }

    pub(crate) fn input(&mut self, input: Input) -> Vec<Output> {
        self.relay.handle(self.now, input).unwrap();
        std::iter::from_fn(|| self.relay.poll()).collect()
    }

    pub(crate) fn frame(&mut self, peer: u32, frame: Bytes) -> Vec<Output> {
        let peer = PeerIx(peer);
        self.input(Input::Frame {
            peer,
            frame: frame.into(),
        })
    }

    pub(crate) fn receive(&mut self, peer: u32, data: &[u8]) -> Vec<Output> {
        self.frame(peer, message_frame(&topic(), data))
    }

    pub(crate) fn receive_message(&mut self, peer: u32, message: &WakuMessage) -> Vec<Output> {
        self.receive(peer, &message.encode())
    }

    /// Receives a message that must reach the verification of its proof.
    pub(crate) fn receive_to_check(&mut self, peer: u32, message: &WakuMessage) -> ProofTicket {
        let outputs = self.receive_message(peer, message);
        assert_eq!(rejections(&outputs), []);
        ticket(&outputs).expect("the proof is to be checked")
    }

    pub(crate) fn answer(&mut self, ticket: ProofTicket, valid: bool) -> Vec<Output> {
        self.input(Input::ProofVerified { ticket, valid })
    }

    /// Receives a message with a valid proof, which must be delivered.
    pub(crate) fn accept(&mut self, peer: u32, message: &WakuMessage) {
        let ticket = self.receive_to_check(peer, message);
        let outputs = self.answer(ticket, true);
        assert_eq!(delivered(&outputs).len(), 1, "{outputs:?}");
    }

    /// Receives a message that must be dropped at once, without a pairing.
    pub(crate) fn refusal(&mut self, peer: u32, data: &[u8]) -> Rejection {
        let outputs = self.receive(peer, data);
        assert_eq!(tickets(&outputs), [], "a pairing was asked for");
        assert_eq!(delivered(&outputs), []);
        assert_eq!(forwarded(&outputs), []);
        self.assert_idle();
        rejection(&outputs)
    }

    pub(crate) fn publish(&mut self, message: &WakuMessage, request: u64) -> Vec<Output> {
        self.input(Input::Publish {
            topic: topic(),
            message: message.clone(),
            request: RequestId(request),
        })
    }

    /// Lets time pass; every timer runs when it is due.
    pub(crate) fn wait(&mut self, duration: Duration) -> Vec<Output> {
        let end = self.now.after(duration);
        let mut outputs = Vec::new();
        while self.relay.next_timeout() <= end {
            self.now = self.relay.next_timeout();
            outputs.extend(self.input(Input::Tick));
        }
        self.now = end;
        outputs.extend(self.input(Input::Tick));
        outputs
    }

    /// Asserts that no state is held of messages whose verification is answered.
    pub(crate) fn assert_idle(&self) {
        assert_idle(&self.relay);
    }
}

pub(crate) fn assert_idle(relay: &Relay) {
    assert_eq!(relay.checks_waiting(), 0);
    assert!(relay.accepted.is_empty(), "{:?}", relay.accepted);
    assert!(relay.received.is_empty(), "{:?}", relay.received);
    assert!(relay.proving.is_empty(), "{:?}", relay.proving);
    assert_eq!(relay.router().usage().pending, 0);
}

pub(crate) fn tickets(outputs: &[Output]) -> Vec<ProofTicket> {
    let tickets = outputs.iter().filter_map(|output| match output {
        Output::VerifyProof { ticket, .. } => Some(*ticket),
        _ => None,
    });
    tickets.collect()
}

pub(crate) fn ticket(outputs: &[Output]) -> Option<ProofTicket> {
    let tickets = tickets(outputs);
    assert!(tickets.len() <= 1);
    tickets.first().copied()
}

pub(crate) fn rejections(outputs: &[Output]) -> Vec<(PeerIx, Rejection)> {
    let rejections = outputs.iter().filter_map(|output| match output {
        Output::Report(RelayReport::Rejected { from, reason, .. }) => Some((*from, *reason)),
        _ => None,
    });
    rejections.collect()
}

/// The only rejection among the outputs.
pub(crate) fn rejection(outputs: &[Output]) -> Rejection {
    match rejections(outputs)[..] {
        [(_, reason)] => reason,
        _ => panic!("not exactly one rejection: {outputs:?}"),
    }
}

/// Peers charged with an invalid message (P4).
pub(crate) fn blamed(outputs: &[Output]) -> Vec<u32> {
    let blamed = outputs.iter().filter_map(|output| match output {
        Output::Report(RelayReport::Gossip(Report::Misbehaved {
            peer,
            what: PeerMisbehaved::InvalidMessage { .. },
        })) => Some(peer.0),
        _ => None,
    });
    blamed.collect()
}

pub(crate) fn delivered(outputs: &[Output]) -> Vec<WakuMessage> {
    let delivered = outputs.iter().filter_map(|output| match output {
        Output::Deliver { message, .. } => Some(message.clone()),
        _ => None,
    });
    delivered.collect()
}

pub(crate) fn exposed(outputs: &[Output]) -> Vec<RelayReport> {
    let reports = outputs.iter().filter_map(|output| match output {
        Output::Report(report @ RelayReport::SpammerExposed { .. }) => Some(report.clone()),
        _ => None,
    });
    reports.collect()
}

/// Messages sent to peers, by receiver.
pub(crate) fn forwarded(outputs: &[Output]) -> Vec<(u32, Bytes)> {
    let mut sent = Vec::new();
    for output in outputs {
        if let Output::Send { peer, frame, .. } = output {
            let rpc = wire::decode(&strip_prefix(frame), &Limits::default()).unwrap();
            sent.extend(rpc.messages.into_iter().map(|m| (peer.0, m.data)));
        }
    }
    sent
}

pub(crate) fn published(outputs: &[Output]) -> Vec<(u64, Result<Published, PublishError>)> {
    let published = outputs.iter().filter_map(|output| match output {
        Output::Published { request, outcome } => Some((request.0, outcome.clone())),
        _ => None,
    });
    published.collect()
}

/// Error of the only publication among the outputs.
pub(crate) fn publish_error(outputs: &[Output]) -> PublishError {
    match &published(outputs)[..] {
        [(_, Err(error))] => error.clone(),
        _ => panic!("not exactly one failed publication: {outputs:?}"),
    }
}
