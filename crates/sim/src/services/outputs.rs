//! Outputs of the machines of a node's services, and how the services carry them out.

use bytes::Bytes;
use undertone_gossip::Time;
use undertone_link::ConnIx;
use undertone_services::filter;
use undertone_services::lightpush::{self, PublishRefusal};
use undertone_services::peer_exchange;
use undertone_services::store;
use undertone_services::{PeerNo, RequestNo};

use crate::services::frames::{StreamFrame, StreamService, push_bytes};
use crate::services::io::ServiceAction;
use crate::services::server::SimService;
use crate::world::World;

impl SimService {
    /// Carries out what the machines ask for.
    pub(super) fn carry_out(&mut self, world: &World, now_ns: u64) {
        while let Some(output) = self.store.poll() {
            match output {
                store::server::Output::Respond { request, bytes } => {
                    self.respond(world, request, &bytes);
                }
                store::server::Output::Query { query, content } => {
                    let setup = world.scenario.services.as_ref();
                    let takes_ns = setup.map_or(0, |setup| setup.query_ns);
                    self.archive_free_ns = self.archive_free_ns.max(now_ns) + takes_ns;
                    self.queries.insert(query, content);
                    self.actions.push_back(ServiceAction::QueryUntil {
                        query,
                        at_ns: self.archive_free_ns,
                    });
                }
            }
        }
        while let Some(output) = self.filter.poll() {
            match output {
                filter::Output::Respond { request, bytes } => {
                    self.respond(world, request, &bytes);
                }
                filter::Output::Push { peer, bytes } => self.push(world, now_ns, peer, bytes),
                // Frames that the connection has taken cannot be called back.
                filter::Output::Drop { .. } => {}
            }
        }
        while let Some(output) = self.lightpush.poll() {
            match output {
                lightpush::Output::Respond { request, bytes } => {
                    self.respond(world, request, &bytes);
                }
                lightpush::Output::Publish {
                    publish,
                    pubsub_topic,
                    message,
                } => {
                    let has_proof = message.rate_limit_proof.is_some();
                    if world.scenario.rln.is_some() && !has_proof {
                        // A node does not spend its own membership on strangers.
                        let outcome = Err(PublishRefusal::NoProof);
                        let now = Time::from_nanos(now_ns);
                        self.lightpush
                            .handle(now, lightpush::Input::Published { publish, outcome });
                    } else {
                        self.actions.push_back(ServiceAction::Publish {
                            publish,
                            topic: pubsub_topic,
                            message,
                        });
                    }
                }
            }
        }
    }

    /// Sends the answers of peer exchange.
    pub(super) fn answer_exchange(&mut self, world: &World) {
        while let Some(peer_exchange::Output::Respond { request, bytes }) = self.exchange.poll() {
            self.respond(world, request, &bytes);
        }
        self.counters.peers_given = self.exchange.stats().enrs;
    }

    fn respond(&mut self, world: &World, request: RequestNo, body: &Bytes) {
        if let Some(asker) = self.waiting.remove(&request) {
            self.answer(world, asker, body);
        }
    }

    pub(super) fn answer(
        &mut self,
        world: &World,
        (conn, stream, service): (ConnIx, u32, StreamService),
        body: &Bytes,
    ) {
        let Some(link) = self.links.get(&conn) else {
            return;
        };
        let mux_bytes = world.scenario.network.mux_overhead_bytes;
        let body = body.clone();
        self.actions.push_back(ServiceAction::Write {
            conn,
            client: link.client,
            bytes: service.stream_bytes(body.len(), mux_bytes),
            frame: StreamFrame::Answer { stream, body }.encode(),
            is_push: false,
        });
    }

    fn push(&mut self, world: &World, now_ns: u64, peer: PeerNo, body: Bytes) {
        let client = peer.0 as u32;
        let Some(conn) = self.newest.get(&client).copied() else {
            let now = Time::from_nanos(now_ns);
            let delivered = false;
            self.filter
                .handle(now, filter::Input::Pushed { peer, delivered });
            return;
        };
        let shared = |(of, _): &(Bytes, Bytes)| of.as_ptr() == body.as_ptr();
        let frame = match self.pushed.take().filter(shared) {
            Some((_, frame)) => frame,
            None => StreamFrame::Push { body: body.clone() }.encode(),
        };
        self.pushed = Some((body.clone(), frame.clone()));
        self.counters.pushes += 1;
        let loss = world.stream_loss(now_ns);
        if loss > 0.0 && self.rng.unit() < loss {
            // The stream breaks behind the sender's back: it takes the message for delivered.
            let now = Time::from_nanos(now_ns);
            let delivered = true;
            self.filter
                .handle(now, filter::Input::Pushed { peer, delivered });
            return;
        }
        self.write_push(world, conn, body.len(), frame);
    }

    pub(super) fn write_push(
        &mut self,
        world: &World,
        conn: ConnIx,
        body_bytes: usize,
        frame: Bytes,
    ) {
        let Some(link) = self.links.get_mut(&conn) else {
            return;
        };
        let is_first = !std::mem::replace(&mut link.pushes, true);
        let mux_bytes = world.scenario.network.mux_overhead_bytes;
        self.actions.push_back(ServiceAction::Write {
            conn,
            client: link.client,
            bytes: push_bytes(body_bytes, is_first, mux_bytes),
            frame,
            is_push: true,
        });
    }

    /// Newest connections of all clients.
    pub(super) fn connections(&self) -> Vec<ConnIx> {
        self.newest.values().copied().collect()
    }
}
