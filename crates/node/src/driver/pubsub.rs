//! Peers that come and go, and their frames.

use libp2p::core::{ConnectedPoint, Endpoint};
use undertone_gossip::{Direction, Features, NewPeer, Progress};
use undertone_relay::Input;

use super::event_loop::EventLoop;
use super::events::NodeEvent;
use super::peers::ip_of;
use crate::swarm::{Incoming, PubsubEvent, Received};

/// Frames that are taken one after the other before anything else has a turn.
const FRAMES_PER_TURN: usize = 32;

impl EventLoop {
    /// Takes a frame and those that wait behind it.
    pub(super) fn on_frames(&mut self, first: Received) {
        self.on_frame(first);
        for _ in 1..FRAMES_PER_TURN {
            if self.relay.is_saturated() {
                return;
            }
            let Ok(next) = self.frames.try_recv() else {
                return;
            };
            self.on_frame(next);
        }
    }

    fn on_frame(&mut self, Received { peer, incoming }: Received) {
        // A frame may have waited while its connection was closed.
        let known = self.peers.find(&peer);
        let Some(ix) = known.filter(|ix| self.relay.router().is_connected(*ix)) else {
            return;
        };
        let Incoming {
            frame,
            arrival,
            hashed,
        } = incoming;
        self.totals.received_bytes += frame.len() as u64;
        for handle in self.swarm.behaviour_mut().pubsub.take_started(&peer) {
            let progress = Progress::Started;
            self.input(Input::Sent {
                peer: ix,
                handle,
                progress,
            });
        }
        self.ids.know(hashed);
        self.input(Input::Frame { peer: ix, frame });
        self.ids.know(None);
        if arrival.is_some() {
            drop(arrival);
            self.tell_arriving();
        }
    }

    pub(super) fn on_pubsub(&mut self, event: PubsubEvent) {
        match event {
            PubsubEvent::Opened {
                peer,
                protocol,
                endpoint,
            } => {
                let Some(features) = Features::of(protocol.as_ref()) else {
                    return;
                };
                let ix = self.peers.index(peer);
                self.event(NodeEvent::PeerConnected { peer });
                self.input(Input::Connected(NewPeer {
                    peer: ix,
                    identity: peer.to_bytes().into(),
                    record: bytes::Bytes::new(),
                    direction: direction(&endpoint),
                    features,
                    ip: ip_of(endpoint.get_remote_address()),
                    explicit: false,
                }));
            }
            PubsubEvent::Closed { peer } => {
                self.event(NodeEvent::PeerDisconnected { peer });
                if let Some(ix) = self.peers.find(&peer) {
                    self.input(Input::Disconnected(ix));
                }
            }
            PubsubEvent::Unsupported { peer } => {
                tracing::debug!(%peer, "peer speaks no pubsub protocol of ours");
            }
        }
    }
}

fn direction(endpoint: &ConnectedPoint) -> Direction {
    match endpoint.to_endpoint() {
        Endpoint::Dialer => Direction::Outbound,
        Endpoint::Listener => Direction::Inbound,
    }
}
