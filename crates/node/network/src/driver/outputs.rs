//! Outputs of the relay, carried out by the node.

use std::time::Instant;

use undertone_gossip::{Class, PeerIx, Progress, QueuedFrame};
use undertone_relay::{Input, Output, ProofFailure};

use super::event_loop::EventLoop;
use super::events::NodeEvent;
use super::px_offers::PrunedOffer;
use crate::handle::Delivery;

impl EventLoop {
    pub(crate) fn output(&mut self, output: Output) {
        match output {
            Output::Send {
                peer,
                handle,
                class,
                frame,
            } => {
                self.send(
                    peer,
                    QueuedFrame {
                        handle,
                        class,
                        frame,
                    },
                );
            }
            Output::Cancel { peer, handle } => {
                if let Some(peer) = self.peers.identity(peer) {
                    self.swarm.behaviour_mut().pubsub.cancel(&peer, handle);
                }
            }
            Output::Connect {
                from,
                topic,
                identity,
                record,
            } => {
                if let Some(told_by) = self.peers.identity(from) {
                    self.offered(&PrunedOffer {
                        identity: &identity,
                        record: &record,
                        topic: &topic,
                        told_by,
                    });
                }
            }
            Output::Disconnect(peer) => self.disconnect(peer),
            Output::Forgotten(peer) => self.peers.release(peer),
            Output::VerifyProof {
                ticket,
                from,
                statement,
            } => {
                let from = from.and_then(|ix| self.peers.identity(ix));
                self.traces.checking(ticket);
                if let Some(rln) = &self.rln {
                    rln.verify(ticket, from, statement);
                }
            }
            Output::MoveProof { ticket, from } => {
                let from = self.peers.identity(from);
                if let Some(rln) = &self.rln {
                    rln.move_proof(ticket, from);
                }
            }
            Output::DropProof { ticket } => {
                self.traces.unchecked(ticket);
                if let Some(rln) = &self.rln {
                    rln.drop_proof(ticket);
                }
            }
            Output::Reading { peer, is_paused } => {
                if let Some(peer) = self.peers.identity(peer) {
                    self.gate.set_closed(peer, is_paused);
                }
            }
            Output::Prove {
                request,
                epoch,
                x,
                is_taken,
            } => {
                let for_client = self.publishing.proving(request);
                let asked = match &mut self.rln {
                    Some(rln) => {
                        rln.count_taken(u32::from(is_taken));
                        rln.prove(request, (epoch, x), is_taken, for_client)
                    }
                    None => Err(ProofFailure::NoMembership),
                };
                if let Err(failure) = asked {
                    self.follow_ups.push(Input::Proved {
                        request,
                        result: Err(failure),
                    });
                }
            }
            Output::Deliver {
                id,
                topic,
                message,
                received,
                from,
            } => {
                if from.is_none() && !self.publishing.delivers(&message) {
                    return; // The application has it from the first time.
                }
                self.totals.delivered += 1;
                let payload_bytes = message.payload.len();
                self.totals.message_sizes.count(payload_bytes);
                self.shards.count_payload(&topic, payload_bytes);
                let delivery = Delivery {
                    id,
                    pubsub_topic: topic,
                    message,
                    from: from.and_then(|ix| self.peers.identity(ix)),
                    received: self.clock.instant(received),
                    validated: Instant::now(),
                };
                self.traces.delivered(&delivery);
                self.outward.deliver(delivery);
            }
            Output::Published { request, outcome } => self.answer_publish(request, outcome),
            Output::Subscribed { topic, outcome } => match outcome {
                Ok(()) => self.totals.joined += u64::from(self.shards.join(topic)),
                Err(error) => tracing::warn!(%error, "cannot subscribe"),
            },
            Output::Report(report) => self.report(report),
        }
    }

    fn send(&mut self, ix: PeerIx, frame: QueuedFrame) {
        let Some(peer) = self.peers.identity(ix) else {
            return;
        };
        let (handle, class) = (frame.handle, frame.class);
        let frame_bytes = frame.frame.len() as u64;
        self.traces.copied(&frame);
        if self.swarm.behaviour_mut().pubsub.send(&peer, frame).is_ok() {
            self.totals.queued_bytes += frame_bytes;
            return;
        }
        if class == Class::Control {
            tracing::info!(%peer, "disconnecting a peer that does not read");
            self.swarm.behaviour_mut().pubsub.disconnect(peer);
        } else {
            let progress = Progress::Dropped;
            self.follow_ups.push(Input::Sent {
                peer: ix,
                handle,
                progress,
            });
        }
    }

    fn disconnect(&mut self, ix: PeerIx) {
        let Some(peer) = self.peers.identity(ix) else {
            return;
        };
        // A peer that reconnects with a score still low is refused again, but counted only once.
        if self.peers.begin_graylisting(ix) {
            self.totals.graylisted += 1;
        }
        let router = self.relay.router();
        let score = router.score(ix);
        match router.is_graylisted_for_address(ix) {
            true => {
                self.totals.graylisted_for_address += 1;
                tracing::warn!(
                    %peer,
                    score,
                    "disconnecting a peer for the number of peers at its address alone; name it in static-peers if it is to stay"
                );
            }
            false => {
                tracing::info!(%peer, score, "disconnecting a peer below the graylist threshold");
            }
        }
        self.outward.event(NodeEvent::Graylisted { peer, score });
        self.swarm.behaviour_mut().pubsub.disconnect(peer);
    }
}
