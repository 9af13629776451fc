//! The behaviour and its handlers, called in the same way as by a swarm.

use std::sync::Arc;
use std::task::{Context, Poll, Waker};

use asynchronous_codec::Decoder;
use bytes::{Bytes, BytesMut};
use futures::FutureExt;
use futures::io::Cursor;
use libp2p::PeerId;
use libp2p::core::multiaddr::Protocol;
use libp2p::core::transport::PortUse;
use libp2p::core::{
    ConnectedPoint, Endpoint, InboundUpgrade, Multiaddr, OutboundUpgrade, UpgradeInfo,
};
use libp2p::identity::Keypair;
use libp2p::swarm::behaviour::ConnectionEstablished;
use libp2p::swarm::handler::{ConnectionEvent, ConnectionHandlerEvent, FullyNegotiatedOutbound};
use libp2p::swarm::{
    ConnectionHandler, ConnectionId, FromSwarm, NetworkBehaviour, THandler, THandlerOutEvent,
    ToSwarm,
};
use libp2p_gossipsub::{
    Behaviour, Event as ForApplication, IdentTopic, MessageAcceptance, MessageAuthenticity,
};
use undertone_gossip::Config;

use super::config;
use crate::frames::{TOPIC, hello};
use crate::streams::{self, Swallowing, Written};
use crate::subject::{PEERS, PushStreams};

/// Event from a handler to the behaviour, such as a decoded RPC.
pub(crate) type Event = THandlerOutEvent<Behaviour>;

type Handler = THandler<Behaviour>;

/// The codec's type is private; this is the type that reads a stream with it.
type Reader =
    <<Handler as ConnectionHandler>::OutboundProtocol as InboundUpgrade<Cursor<Vec<u8>>>>::Output;

/// A behaviour with [`PEERS`] mesh peers.
pub(crate) struct Node {
    behaviour: Behaviour,
    reader: Reader,
    peers: Vec<Peer>,
}

struct Peer {
    id: PeerId,
    connection: ConnectionId,
    handler: Handler,
    written: Arc<Written>,
}

impl Node {
    pub(crate) fn new() -> Self {
        let ours = Config::waku();
        let authenticity = MessageAuthenticity::Anonymous;
        let mut behaviour = Behaviour::new(authenticity, config::config(&ours))
            .expect("nothing is signed, and nothing demands it");
        let (params, thresholds) = config::score(&ours);
        behaviour
            .with_peer_score(params, thresholds)
            .expect("Undertone's rules for these parameters are libp2p's");
        let topic = IdentTopic::new(TOPIC);
        behaviour.subscribe(&topic).expect("no filter refuses it");

        let mut streams = streams::open(PEERS).into_iter().enumerate();
        let (seat, stream) = streams.next().expect("there is at least one peer");
        let (first, reader) = connect(&mut behaviour, seat, stream);
        let mut peers = vec![first];
        peers.extend(streams.map(|(seat, stream)| connect(&mut behaviour, seat, stream).0));

        let mut node = Self {
            behaviour,
            reader,
            peers,
        };
        node.settle();
        for seat in 0..PEERS {
            let event = node.decode(&mut BytesMut::from(&hello()[..]));
            node.receive(seat, event);
        }
        node.settle();
        assert_eq!(node.behaviour.mesh_peers(&topic.hash()).count(), PEERS);
        node
    }

    /// Decodes the RPC in a frame.
    pub(crate) fn decode(&mut self, frame: &mut BytesMut) -> Event {
        let decoded = self.reader.0.codec_mut().decode(frame);
        let event = decoded.expect("the frame is valid");
        event.expect("the frame is complete")
    }

    /// Passes an RPC of a peer to the behaviour, and accepts the RPC's message if it is new.
    pub(crate) fn receive(&mut self, seat: usize, event: Event) {
        let peer = &self.peers[seat];
        self.behaviour
            .on_connection_handler_event(peer.id, peer.connection, event);
        let mut cx = Context::from_waker(Waker::noop());
        while let Poll::Ready(event) = self.behaviour.poll(&mut cx) {
            match event {
                ToSwarm::GenerateEvent(ForApplication::Message {
                    propagation_source,
                    message_id,
                    message,
                }) => {
                    divan::black_box(message);
                    let known = self.behaviour.report_message_validation_result(
                        &message_id,
                        &propagation_source,
                        MessageAcceptance::Accept,
                    );
                    assert!(known, "the message waits for its verdict");
                }
                ToSwarm::NotifyHandler { peer_id, event, .. } => {
                    let told = self.peers.iter_mut().find(|peer| peer.id == peer_id);
                    let told = told.expect("the behaviour knows no other peers");
                    told.handler.on_behaviour_event(event);
                }
                other => {
                    divan::black_box(other);
                }
            }
        }
    }
}

impl PushStreams for Node {
    /// Makes every handler encode the contents of its queue and write them to its stream.
    fn settle(&mut self) {
        let mut cx = Context::from_waker(Waker::noop());
        for peer in &mut self.peers {
            while let Poll::Ready(event) = peer.handler.poll(&mut cx) {
                let ConnectionHandlerEvent::NotifyBehaviour(event) = event else {
                    unreachable!("the handler has its stream");
                };
                self.behaviour
                    .on_connection_handler_event(peer.id, peer.connection, event);
            }
        }
    }

    fn sent_bytes(&self) -> u64 {
        self.peers.iter().map(|peer| peer.written.bytes()).sum()
    }

    fn record(&mut self) {
        for peer in &self.peers {
            peer.written.record();
        }
    }

    fn recorded(&mut self) -> Vec<Bytes> {
        let recorded = self.peers.iter().map(|peer| peer.written.recorded());
        recorded.collect()
    }
}

/// Connects a peer that we dialled and that speaks v1.2; its handler can write at once.
fn connect(
    behaviour: &mut Behaviour,
    seat: usize,
    (stream, written): Swallowing,
) -> (Peer, Reader) {
    let id = Keypair::generate_ed25519().public().to_peer_id();
    let connection = ConnectionId::new_unchecked(seat);
    let address = Multiaddr::empty().with(Protocol::Memory(1));
    let (role, port) = (Endpoint::Dialer, PortUse::New);
    let mut handler = behaviour
        .handle_established_outbound_connection(connection, id, &address, role, port)
        .expect("the behaviour denies no connection");
    let endpoint = ConnectedPoint::Dialer {
        address,
        role_override: role,
        port_use: port,
    };
    behaviour.on_swarm_event(FromSwarm::ConnectionEstablished(ConnectionEstablished {
        peer_id: id,
        connection_id: connection,
        endpoint: &endpoint,
        failed_addresses: &[],
        other_established: 0,
    }));

    let (protocol, ()) = handler.listen_protocol().into_upgrade();
    let protocol = protocol.left().expect("a fresh handler is enabled");
    let mut versions = protocol.protocol_info().into_iter();
    let version = versions
        .find(|version| version.as_ref() == "/meshsub/1.2.0")
        .expect("it is one of the library's");
    let reader = protocol
        .clone()
        .upgrade_inbound(Cursor::new(Vec::new()), version.clone())
        .now_or_never();
    let upgraded = protocol.upgrade_outbound(stream, version).now_or_never();
    // Neither upgrade waits for anything, and their error type has no values.
    let (Some(Ok(reader)), Some(Ok(upgraded))) = (reader, upgraded) else {
        unreachable!("an upgrade only wraps its stream");
    };
    handler.on_connection_event(ConnectionEvent::FullyNegotiatedOutbound(
        FullyNegotiatedOutbound {
            protocol: upgraded,
            info: (),
        },
    ));
    let peer = Peer {
        id,
        connection,
        handler,
        written,
    };
    (peer, reader)
}
