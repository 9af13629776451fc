//! Outputs of a client's state machines, and how the client executes them.

use undertone_message::WakuMessage;
use undertone_rln::{Epoch, signal_hash};
use undertone_services::light;
use undertone_services::lightpush::legacy::LegacyRequest;
use undertone_services::lightpush::{LightpushRequest, PushVersion};
use undertone_services::sending::{self, ProveFailure, SendEventKind, SendId};
use undertone_services::store::StoreRequest;

use crate::light::LightEvent;
use crate::light::node::LightNode;
use crate::light::streams::Asker;
use crate::node::check::violated;
use crate::node::event::{Event, Step};
use crate::services::frames::StreamService;
use crate::world::GENERATION;

impl LightNode {
    /// Executes the outputs of the state machines until there are no more.
    pub(super) fn drive(&mut self, step: &mut Step<'_>) {
        loop {
            let Some(client) = &mut self.client else {
                return;
            };
            if let Some(output) = client.light.poll() {
                self.light_output(step, output);
            } else if let Some(output) = client.sender.poll() {
                self.sender_output(step, output);
            } else {
                return;
            }
        }
    }

    fn light_output(&mut self, step: &mut Step<'_>, output: light::Output) {
        match output {
            light::Output::Connect(peer) => {
                let at = peer.0 as usize;
                if self.connect(step, at) {
                    self.feed_light(step.now_ns, light::Input::Connected(peer));
                } else if let Some(client) = &mut self.client {
                    client.light_dials.insert(at);
                }
            }
            light::Output::Filter {
                peer,
                request,
                body,
            } => {
                let body = body.into_frame(request.0.to_string()).encode().into();
                let asker = Asker::Filter(request);
                self.ask(step, peer.0 as usize, asker, StreamService::Filter, body);
            }
            light::Output::History {
                peer,
                request,
                query,
            } => {
                let request_id = request.0.to_string().into();
                let body = StoreRequest { request_id, query }.encode().into();
                let asker = Asker::History(request);
                self.ask(step, peer.0 as usize, asker, StreamService::Store, body);
            }
            light::Output::Deliver(delivery) => self.delivered(step, &delivery),
            light::Output::Misbehaved { .. } => self.counters.offences += 1,
            light::Output::Unchecked { .. } => {
                let rule = "a light client's memory is larger than what it has to compare";
                violated(step.scratch, step.now_ns, self.id, rule);
            }
            light::Output::Health { .. }
            | light::Output::SubscribeRefused { .. }
            | light::Output::Forgotten(_) => {}
        }
    }

    fn sender_output(&mut self, step: &mut Step<'_>, output: sending::Output) {
        match output {
            sending::Output::Connect(peer) => {
                let at = peer.0 as usize;
                if self.connect(step, at) {
                    self.feed_sender(step.now_ns, sending::Input::Connected(peer));
                } else if let Some(client) = &mut self.client {
                    client.sender_dials.insert(at);
                }
            }
            sending::Output::Prove {
                id,
                attempt,
                message,
                ..
            } => self.prove(step, id, attempt, &message),
            // Roots do not change here, and the sender itself checks the message's age.
            sending::Output::CheckProof { id, .. } => {
                self.feed_sender(step.now_ns, sending::Input::ProofFresh(id));
            }
            sending::Output::Push {
                peer,
                request,
                pubsub_topic,
                message,
                ..
            } => {
                let setup = step.world.scenario.services.as_ref();
                let version = setup.map_or(PushVersion::V3, |setup| setup.lightpush);
                let request_id = request.0.to_string();
                let (service, body) = match version {
                    PushVersion::V3 => {
                        let request = LightpushRequest {
                            request_id,
                            pubsub_topic: Some(pubsub_topic),
                            message,
                        };
                        (StreamService::Lightpush, request.encode())
                    }
                    PushVersion::V2 => {
                        let request = LegacyRequest {
                            request_id,
                            pubsub_topic: Some(pubsub_topic),
                            message,
                        };
                        (StreamService::LegacyLightpush, request.encode())
                    }
                };
                let asker = Asker::Push(version, request);
                self.ask(step, peer.0 as usize, asker, service, body.into());
            }
            sending::Output::History {
                peer,
                request,
                query,
            } => {
                let request_id = request.0.to_string().into();
                let body = StoreRequest { request_id, query }.encode().into();
                let asker = Asker::Confirmation(request);
                self.ask(step, peer.0 as usize, asker, StreamService::Store, body);
            }
            sending::Output::Event(event) => {
                match event.kind {
                    SendEventKind::Queued => self.counters.sends += 1,
                    SendEventKind::Stored => self.counters.sends_stored += 1,
                    SendEventKind::PropagatedOnly(_) => self.counters.sends_propagated += 1,
                    SendEventKind::Failed(_) => self.counters.sends_failed += 1,
                    SendEventKind::Sent | SendEventKind::Propagated => {}
                }
                self.channel_sent(step, &event);
            }
            // Clients never restart here and have no relay.
            sending::Output::Persist { .. }
            | sending::Output::Erase(_)
            | sending::Output::Relay { .. }
            | sending::Output::GivenUp { .. }
            | sending::Output::Forgotten(_) => {}
        }
    }

    fn prove(&mut self, step: &mut Step<'_>, id: SendId, attempt: u32, message: &WakuMessage) {
        let (Some(client), Some(rln)) = (&mut self.client, &step.world.scenario.rln) else {
            return;
        };
        let timestamp_ns = message.timestamp_ns();
        let x = signal_hash(&message.payload, &message.content_topic, timestamp_ns);
        let epoch = Epoch::at(timestamp_ns.unsigned_abs(), rln.epoch_s);
        let member = client.member.as_mut();
        let proof = member.and_then(|member| member.prove(GENERATION, epoch, x, false));
        let event = match proof {
            Some(proof) => LightEvent::Proved {
                id,
                attempt,
                proof: Box::new(proof),
            },
            None => {
                let result = Err(ProveFailure::LimitUsedUp);
                let used_up = sending::Input::Proved {
                    id,
                    attempt,
                    result,
                };
                return self.feed_sender(step.now_ns, used_up);
            }
        };
        let at_ns = step.now_ns + rln.generation_ns;
        self.schedule_own(step, at_ns, Event::Light(event));
    }
}
