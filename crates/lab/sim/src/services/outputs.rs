//! Outputs of a node's service host, and how they are executed.

use bytes::Bytes;
use undertone_gossip::Time;
use undertone_link::ConnIx;
use undertone_services::PeerNo;
use undertone_services::host::{Input, Output};
use undertone_services::lightpush::PublishRefusal;

use crate::services::frames::{StreamFrame, push_bytes};
use crate::services::io::ServiceAction;
use crate::services::server::{Asker, SimService};
use crate::world::World;

impl SimService {
    /// Executes the outputs of the host.
    pub(super) fn carry_out(&mut self, world: &World, now_ns: u64) {
        while let Some(output) = self.host.poll() {
            match output {
                Output::Respond { to, bytes } => self.answer(world, to, &bytes),
                Output::Query { query, content } => {
                    let setup = world.scenario.services.as_ref();
                    let takes_ns = setup.map_or(0, |setup| setup.query_ns);
                    self.archive_free_ns = self.archive_free_ns.max(now_ns) + takes_ns;
                    self.queries.insert(query, content);
                    self.actions.push_back(ServiceAction::QueryUntil {
                        query,
                        at_ns: self.archive_free_ns,
                    });
                }
                Output::Push { peer, bytes } => self.push(world, now_ns, peer, bytes),
                Output::Publish {
                    publish,
                    pubsub_topic,
                    message,
                } => {
                    let has_proof = message.rate_limit_proof.is_some();
                    if world.scenario.rln.is_some() && !has_proof {
                        // A node does not spend its own rate limit on strangers.
                        let outcome = Err(PublishRefusal::NoProof);
                        let now = Time::from_nanos(now_ns);
                        self.host.handle(now, Input::Published { publish, outcome });
                    } else {
                        self.actions.push_back(ServiceAction::Publish {
                            publish,
                            topic: pubsub_topic,
                            message,
                        });
                    }
                }
                // Frames already passed to the connection cannot be recalled.
                Output::Drop { .. } => {}
                // Only rendezvous does this, which no simulated node offers.
                Output::CheckRecord { .. } | Output::Close { .. } => {}
            }
        }
    }

    pub(super) fn answer(&mut self, world: &World, (conn, stream, service): Asker, body: &Bytes) {
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
            self.host.handle(now, Input::Pushed { peer, delivered });
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
            // The stream breaks unnoticed: the sender takes the message for delivered.
            let now = Time::from_nanos(now_ns);
            let delivered = true;
            self.host.handle(now, Input::Pushed { peer, delivered });
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
