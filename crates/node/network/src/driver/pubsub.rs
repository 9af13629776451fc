//! Pubsub sessions of peers, and frames received from them.

use libp2p::core::{ConnectedPoint, Endpoint};
use libp2p::{PeerId, StreamProtocol};
use undertone_gossip::{Direction, Features, NewPeer, PeerIx, Progress};
use undertone_relay::Input;

use super::addresses::ip_of;
use super::event_loop::EventLoop;
use super::events::NodeEvent;
use crate::swarm::{Incoming, PubsubEvent, Received};

/// Maximum number of frames handled in a row before other events get a turn.
const FRAMES_PER_TURN: usize = 32;

impl EventLoop {
    /// Handles a frame and those queued behind it, up to the bound for one turn.
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

    fn on_frame(&mut self, received: Received) {
        let Received {
            peer,
            incoming,
            room,
        } = received;
        // The frame may have been queued while its connection was closed.
        let known = self.peers.find(&peer);
        let Some(ix) = known.filter(|ix| self.relay.router().is_connected(*ix)) else {
            return;
        };
        let Incoming { frame, long_frame } = incoming;
        self.totals.received_bytes += frame.bytes().len() as u64;
        for handle in self.swarm.behaviour_mut().pubsub.take_started(&peer) {
            let progress = Progress::Started;
            self.input(Input::Sent {
                peer: ix,
                handle,
                progress,
            });
        }
        self.input(Input::Frame { peer: ix, frame });
        drop(room);
        if long_frame.is_some() {
            drop(long_frame);
            self.report_transfers();
        }
    }

    /// Tells the router from which peers long frames are being received, if this has changed.
    pub(crate) fn report_transfers(&mut self) {
        for (peer, is_started) in self.in_transit.take_changes() {
            if let Some(peer) = self.peers.find(&peer) {
                self.handle(if is_started {
                    Input::TransferStarted(peer)
                } else {
                    Input::TransferEnded(peer)
                });
            }
        }
    }

    pub(super) fn on_pubsub(&mut self, event: PubsubEvent) {
        match event {
            PubsubEvent::Opened {
                peer,
                protocol,
                endpoint,
            } => {
                let ix = self.peers.index(peer);
                let Some(new) = self.new_peer(ix, peer, &protocol, &endpoint) else {
                    return;
                };
                let admission = &mut self.swarm.behaviour_mut().admission;
                if let Err(reason) = admission.begin_session(peer) {
                    self.refused_place(reason);
                }
                self.outward.event(NodeEvent::PeerConnected { peer });
                self.input(Input::Connected(new));
                let router = self.relay.router();
                if router.score(ix) >= router.config().thresholds.graylist {
                    self.peers.end_graylisting(ix);
                }
            }
            PubsubEvent::Renewed {
                peer,
                protocol,
                endpoint,
            } => {
                let ix = self.peers.find(&peer);
                let new = ix.and_then(|ix| self.new_peer(ix, peer, &protocol, &endpoint));
                if let Some(new) = new {
                    tracing::debug!(%peer, "pubsub frames moved to another stream");
                    self.peers.connected(peer, &endpoint);
                    self.input(Input::Renewed(new));
                }
            }
            PubsubEvent::Closed { peer } => {
                let slots = self.swarm.behaviour_mut().admission.slots();
                slots.end_session(peer);
                self.outward.event(NodeEvent::PeerDisconnected { peer });
                if let Some(ix) = self.peers.find(&peer) {
                    self.input(Input::Disconnected(ix));
                }
            }
            PubsubEvent::Unsupported { peer } => {
                tracing::debug!(%peer, "the peer supports none of our pubsub protocols");
            }
        }
    }

    /// Tells the admission bounds the router's score of each peer.
    pub(super) fn publish_scores(&mut self) {
        let router = self.relay.router();
        let scores: Vec<_> = self.peers.connected_scores(|ix| router.score(ix)).collect();
        let slots = self.swarm.behaviour_mut().admission.slots();
        for (peer, score) in scores {
            slots.set_score(peer, score);
        }
    }

    /// Returns the description of a peer for the router; `None` if its protocol is unknown, which is never offered.
    fn new_peer(
        &self,
        ix: PeerIx,
        peer: PeerId,
        protocol: &StreamProtocol,
        endpoint: &ConnectedPoint,
    ) -> Option<NewPeer> {
        let features = Features::of(protocol.as_ref())?;
        let mut described = NewPeer::new(ix, features, direction(endpoint));
        described.identity = peer.to_bytes().into();
        // Behind a relay, the address is the relay's. The address of a peer named by the operator does not count.
        let counts = !endpoint.is_relayed() && !self.dialling.is_kept(peer);
        described.ip = ip_of(endpoint.get_remote_address()).filter(|_| counts);
        Some(described)
    }
}

fn direction(endpoint: &ConnectedPoint) -> Direction {
    match endpoint.to_endpoint() {
        Endpoint::Dialer => Direction::Outbound,
        Endpoint::Listener => Direction::Inbound,
    }
}
