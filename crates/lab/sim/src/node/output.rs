//! Outputs of a node's relay and host, and how the node handles them.

use std::collections::VecDeque;

use undertone_gossip::{
    Class, Overflow, PeerIx, Progress, QueuedFrame, RequestId, SendHandle, SendQueue, Time,
};
use undertone_link::{self as link, ConnIx, Priority};
use undertone_message::WakuMessage;
use undertone_relay::{Input, Output, ProofFailure, Reassembled, RelayReport};

use crate::account;
use crate::member::SimMember;
use crate::node::event::{Event, Step};
use crate::node::input::{UNCOUNTED, number_in};
use crate::node::{DeliveredMessage, Node};
use crate::world::GENERATION;

impl Node {
    pub(super) fn relay_input(&mut self, step: &mut Step<'_>, input: Input) {
        self.relay_takes(step, input);
        while let Some(output) = step.scratch.relay_outputs.pop_front() {
            self.relay_output(step, output);
        }
    }

    fn relay_takes(&mut self, step: &mut Step<'_>, input: Input) {
        let Some(relay) = &mut self.relay else {
            return;
        };
        relay
            .handle(Time::from_nanos(step.now_ns), input)
            .expect("the simulation keeps the relay's contract");
        while let Some(output) = relay.poll() {
            step.scratch.relay_outputs.push_back(output);
        }
    }

    pub(super) fn host_input(&mut self, step: &mut Step<'_>, input: link::Input<bytes::Bytes>) {
        self.host_takes(step, input);
        while let Some(output) = step.scratch.relay_outputs.pop_front() {
            self.relay_output(step, output);
        }
    }

    /// Handles the frames that the host has received.
    pub(super) fn take_received(&mut self, step: &mut Step<'_>) {
        while let Some((conn, frame)) = step.scratch.received.pop_front() {
            self.received(step, conn, frame);
        }
    }

    pub(super) fn host_takes(&mut self, step: &mut Step<'_>, input: link::Input<bytes::Bytes>) {
        self.host
            .handle(step.now_ns, input)
            .expect("the simulation keeps the host's contract");
        while let Some(output) = self.host.poll() {
            match output {
                link::Output::Send { to, at_ns, arrival } => {
                    self.schedule(step, at_ns, to, Event::Arrival(arrival));
                }
                link::Output::Begun { conn, .. } => self.transfer_started(step, conn),
                link::Output::Received { conn, frame } => {
                    step.scratch.received.push_back((conn, frame));
                }
                link::Output::Writable(conn) => step.scratch.writable.push(conn),
            }
        }
        while let Some(conn) = step.scratch.writable.pop() {
            if self.is_of_client(conn) {
                self.write_to_client(step, conn);
            } else {
                self.write_waiting(step, conn);
            }
        }
    }

    /// Records that a long frame is in transit, and reports it to the relay.
    fn transfer_started(&mut self, step: &mut Step<'_>, conn: ConnIx) {
        self.in_transit
            .get_or_insert_with(conn, VecDeque::new)
            .push_back(step.now_ns);
        self.relay_takes(step, Input::TransferStarted(PeerIx(conn.0)));
    }

    fn relay_output(&mut self, step: &mut Step<'_>, output: Output) {
        match output {
            Output::Send {
                peer,
                handle,
                class,
                frame,
            } => {
                let queued = QueuedFrame {
                    handle,
                    class,
                    frame,
                };
                self.send(step, ConnIx(peer.0), queued);
            }
            Output::Cancel { peer, handle } => {
                if let Some(queue) = self.queues.get_mut(&ConnIx(peer.0)) {
                    queue.cancel(handle);
                }
            }
            Output::VerifyProof { ticket, .. } => self.verify(step, ticket),
            Output::Prove {
                request, epoch, x, ..
            } => self.prove(step, request, epoch, x),
            Output::Deliver {
                topic,
                message,
                from,
                ..
            } => {
                if self.service.is_some() {
                    self.feed_service(step, &topic, &message, from.is_none());
                }
                if let Some(from) = from {
                    self.arrived(step, message, from);
                }
            }
            Output::Published { request, outcome } => self.published(request, outcome),
            Output::Disconnect(peer) => self.hang_up(step, ConnIx(peer.0)),
            Output::Report(report) => {
                self.checks.reported(step.now_ns, &report);
                step.scratch.signals_of_adversaries.reported(&report);
                if let RelayReport::Gossip(report) = &report {
                    self.find_reported(step, report);
                }
            }
            // Not needed here: every proof is valid, no peer is cut off, and the relay's bounds are
            // generous.
            Output::MoveProof { .. }
            | Output::DropProof { .. }
            | Output::Reading { .. }
            | Output::Subscribed { .. }
            | Output::Connect { .. }
            | Output::Forgotten(_) => {}
        }
    }

    fn send(&mut self, step: &mut Step<'_>, conn: ConnIx, queued: QueuedFrame) {
        if !self.host.is_open(conn) {
            return;
        }
        if self.is_silent && queued.class == Class::Forward {
            return self.dropped(step, conn, queued.handle);
        }
        let iwants = self.counters.iwant.count;
        account::count(&mut self.counters, &queued.frame);
        if self.counters.iwant.count > iwants
            && let Some(relay) = &self.relay
        {
            let router = relay.router();
            let (impatiently, least) = (
                router.stats().iwant_after_deadline,
                router.config().thresholds.gossip,
            );
            let sending = self.in_transit.iter().map(|(conn, _)| *conn);
            let unheard = sending.filter(|conn| router.score(PeerIx(conn.0)) < least);
            self.checks
                .asks(step.now_ns, impatiently, unheard, &queued.frame);
        }
        self.checks
            .sends(step.scratch, step.now_ns, self.id, conn, &queued);
        if !self.queues.contains_key(&conn) && self.host.is_writable(conn) {
            return self.write(step, conn, queued);
        }
        let handle = queued.handle;
        let queue = self.queues.get_or_insert_with(conn, SendQueue::default);
        let pushed = queue.push(queued);
        if pushed == Err(Overflow::Message) {
            self.dropped(step, conn, handle);
        }
    }

    /// Tells the relay that a message will not be sent.
    fn dropped(&mut self, step: &mut Step<'_>, conn: ConnIx, handle: SendHandle) {
        let (peer, progress) = (PeerIx(conn.0), Progress::Dropped);
        let dropped = Input::Sent {
            peer,
            handle,
            progress,
        };
        self.relay_takes(step, dropped);
    }

    /// Hands a frame to the socket.
    fn write(&mut self, step: &mut Step<'_>, conn: ConnIx, queued: QueuedFrame) {
        let QueuedFrame {
            handle,
            class,
            frame,
        } = queued;
        let bytes = frame.len() as u64 + u64::from(self.mux_overhead_bytes);
        if let Some(record) = &mut self.record {
            record.sends(step.now_ns, conn.0, &frame, bytes);
        }
        if let Some(traffic) = &mut step.scratch.traffic {
            traffic.sends(step.now_ns, &frame);
        }
        let write = link::Input::Write {
            conn,
            frame,
            bytes,
            priority: Priority::Normal,
        };
        self.host_takes(step, write);
        if class != Class::Control {
            let (peer, progress) = (PeerIx(conn.0), Progress::Started);
            let started = Input::Sent {
                peer,
                handle,
                progress,
            };
            self.relay_takes(step, started);
        }
    }

    fn write_waiting(&mut self, step: &mut Step<'_>, conn: ConnIx) {
        while self.host.is_writable(conn) {
            let Some(queue) = self.queues.get_mut(&conn) else {
                return;
            };
            match queue.pop() {
                Some(queued) => self.write(step, conn, queued),
                None => {
                    self.queues.remove(&conn);
                }
            }
        }
    }

    /// Closes a connection and notifies the other end.
    pub(super) fn hang_up(&mut self, step: &mut Step<'_>, conn: ConnIx) {
        if !self.host.is_open(conn) {
            return;
        }
        let end = step.world.ends(self.id)[conn.0 as usize];
        let at_ns = step.now_ns + step.world.delay_ns(self.id, end.remote);
        self.schedule(step, at_ns, end.remote, Event::Closed(end.remote_conn));
        self.host_takes(step, link::Input::Close(conn));
        self.queues.remove(&conn);
        self.in_transit.remove(&conn);
        self.relay_takes(step, Input::Disconnected(PeerIx(conn.0)));
        self.find_ended(step, conn);
    }

    fn prove(
        &mut self,
        step: &mut Step<'_>,
        request: RequestId,
        epoch: undertone_rln::Epoch,
        x: undertone_rln::Fr,
    ) {
        let Some(rln) = &step.world.scenario.rln else {
            return;
        };
        let member = self.member.get_or_insert_with(|| {
            let limit = rln.message_limit;
            Box::new(SimMember::new(step.world.seed, self.id, limit))
        });
        match member.prove(GENERATION, epoch, x, self.spams) {
            Some(proof) => {
                let at_ns = step.now_ns + rln.generation_ns;
                let proof = Box::new(proof);
                self.schedule_own(step, at_ns, Event::Proved { request, proof });
            }
            None => {
                let limit = rln.message_limit;
                let result = Err(ProofFailure::Exhausted { limit, epoch });
                self.relay_takes(step, Input::Proved { request, result });
            }
        }
    }

    fn arrived(&mut self, step: &mut Step<'_>, message: WakuMessage, from: PeerIx) {
        self.counters.accepted += 1;
        let parent = step.world.ends(self.id)[from.0 as usize].remote;
        let Some((reassembly, firsts)) = self.reassembly.as_deref_mut() else {
            return self.delivered(step, &message.payload, (from, parent));
        };
        // The timestamp is the same in every fragment, and unique among published messages.
        let moment = message.timestamp_ns();
        match reassembly.take(Time::from_nanos(step.now_ns), b"", message) {
            Reassembled::Part { index: 0 } => {
                firsts.insert(moment, parent);
            }
            Reassembled::Part { .. } | Reassembled::Malformed(_) => {}
            Reassembled::Message(message) => {
                let first = firsts.remove(&moment).unwrap_or(parent);
                self.delivered(step, &message.payload, (from, first));
            }
        }
    }

    pub(super) fn delivered(
        &mut self,
        step: &mut Step<'_>,
        payload: &[u8],
        (from, parent): (PeerIx, u32),
    ) {
        let number = number_in(payload);
        self.mix([step.now_ns, number, u64::from(from.0)], &[]);
        if number == UNCOUNTED {
            let totals = &mut step.scratch.signals_of_adversaries;
            return totals.delivers(step.world, self.id, payload);
        }
        let message = number as u32;
        let setup = step.world.scenario.services.as_ref();
        if setup.is_some_and(|setup| setup.channel) && self.checks.has(message) {
            // A member of the channel has sent it again, in another relay message.
            return;
        }
        self.checks
            .delivers(step.scratch, step.now_ns, self.id, message);
        step.scratch.deliveries += 1;
        self.deliveries.push(DeliveredMessage {
            message,
            parent,
            at_ns: step.now_ns,
        });
    }
}
