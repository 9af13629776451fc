//! Outputs of a node's relay and host, and how the node handles them.

use undertone_gossip::{Class, Overflow, PeerIx, Progress, QueuedFrame, SendHandle, Time};
use undertone_link::{self as link, ConnIx, Priority};
use undertone_message::WakuMessage;
use undertone_relay::{Input, Output, ProofFailure, Reassembled};

use crate::account;
use crate::node::input::UNCOUNTED;
use crate::node::{Bench, Delivered, Node, What};
use crate::world::{GENERATION, World};

impl Node {
    pub(super) fn relay_input(
        &mut self,
        world: &World,
        bench: &mut Bench,
        now_ns: u64,
        input: Input,
    ) {
        self.relay_takes(bench, now_ns, input);
        while let Some(output) = bench.relay_outputs.pop_front() {
            self.relay_output(world, bench, now_ns, output);
        }
    }

    fn relay_takes(&mut self, bench: &mut Bench, now_ns: u64, input: Input) {
        let Some(relay) = &mut self.relay else {
            return;
        };
        relay
            .handle(Time::from_nanos(now_ns), input)
            .expect("the simulation keeps the relay's contract");
        while let Some(output) = relay.poll() {
            bench.relay_outputs.push_back(output);
        }
    }

    pub(super) fn host_input(
        &mut self,
        world: &World,
        bench: &mut Bench,
        now_ns: u64,
        input: link::Input<bytes::Bytes>,
    ) {
        self.host_takes(bench, now_ns, input);
        while let Some(output) = bench.relay_outputs.pop_front() {
            self.relay_output(world, bench, now_ns, output);
        }
    }

    /// Handles the frames that the host has received.
    pub(super) fn take_received(&mut self, world: &World, bench: &mut Bench, now_ns: u64) {
        while let Some((place, frame)) = bench.received.pop_front() {
            self.received(world, bench, now_ns, place, frame);
        }
    }

    fn host_takes(&mut self, bench: &mut Bench, now_ns: u64, input: link::Input<bytes::Bytes>) {
        self.host
            .handle(now_ns, input)
            .expect("the simulation keeps the host's contract");
        while let Some(output) = self.host.poll() {
            match output {
                link::Output::Send { to, at_ns, arrival } => {
                    self.cause(bench, at_ns, to, What::Arrival(arrival));
                }
                link::Output::Begun { conn, .. } => self.begun(bench, now_ns, conn.0),
                link::Output::Received { conn, frame } => {
                    bench.received.push_back((conn.0, frame));
                }
                link::Output::Writable(conn) => bench.writable.push(conn.0),
            }
        }
        while let Some(place) = bench.writable.pop() {
            self.write_waiting(bench, now_ns, place);
        }
    }

    /// Records that a long frame is in transit, and reports it to the relay.
    fn begun(&mut self, bench: &mut Bench, now_ns: u64, place: u32) {
        self.coming.entry(place).or_default().push_back(now_ns);
        self.relay_takes(bench, now_ns, Input::TransferStarted(PeerIx(place)));
    }

    fn relay_output(&mut self, world: &World, bench: &mut Bench, now_ns: u64, output: Output) {
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
                self.send(bench, now_ns, peer.0, queued);
            }
            Output::Cancel { peer, handle } => {
                if let Some(queue) = self.queues.get_mut(&peer.0) {
                    queue.cancel(handle);
                }
            }
            Output::VerifyProof { ticket, .. } => self.verify(world, bench, now_ns, ticket),
            Output::Prove {
                token, epoch, x, ..
            } => self.prove(world, bench, now_ns, token, epoch, x),
            Output::Deliver {
                message,
                from: Some(from),
                ..
            } => self.arrived(world, bench, now_ns, message, from),
            Output::Disconnect(peer) => self.hang_up(world, bench, now_ns, peer.0),
            Output::Report(report) => self.checks.reported(now_ns, &report),
            // Not needed here: every proof is valid, no peer is cut off, and the relay's bounds are
            // generous.
            Output::MoveProof { .. }
            | Output::DropProof { .. }
            | Output::Reading { .. }
            | Output::Published { .. }
            | Output::Subscribed { .. }
            | Output::Deliver { from: None, .. }
            | Output::Connect { .. }
            | Output::Forgotten(_) => {}
        }
    }

    fn send(&mut self, bench: &mut Bench, now_ns: u64, place: u32, queued: QueuedFrame) {
        let conn = ConnIx(place);
        if !self.host.is_open(conn) {
            return;
        }
        if self.is_silent && queued.class == Class::Forward {
            return self.dropped(bench, now_ns, place, queued.handle);
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
            let coming = self.coming.keys().copied();
            let unheard = coming.filter(|place| router.score(PeerIx(*place)) < least);
            self.checks
                .asks(now_ns, impatiently, unheard, &queued.frame);
        }
        self.checks.sends(bench, now_ns, self.id, place, &queued);
        if !self.queues.contains_key(&place) && self.host.is_writable(conn) {
            return self.write(bench, now_ns, place, queued);
        }
        let handle = queued.handle;
        let queue = self.queues.entry(place);
        let pushed = queue.or_default().push(queued);
        if pushed == Err(Overflow::Message) {
            self.dropped(bench, now_ns, place, handle);
        }
    }

    /// Tells the relay that a message will not be sent.
    fn dropped(&mut self, bench: &mut Bench, now_ns: u64, place: u32, handle: SendHandle) {
        let (peer, progress) = (PeerIx(place), Progress::Dropped);
        let dropped = Input::Sent {
            peer,
            handle,
            progress,
        };
        self.relay_takes(bench, now_ns, dropped);
    }

    /// Hands a frame to the socket.
    fn write(&mut self, bench: &mut Bench, now_ns: u64, place: u32, queued: QueuedFrame) {
        let QueuedFrame {
            handle,
            class,
            frame,
        } = queued;
        let bytes = frame.len() as u64 + u64::from(self.mux_overhead_bytes);
        let write = link::Input::Write {
            conn: ConnIx(place),
            frame,
            bytes,
            priority: Priority::Normal,
        };
        self.host_takes(bench, now_ns, write);
        if class != Class::Control {
            let (peer, progress) = (PeerIx(place), Progress::Started);
            let started = Input::Sent {
                peer,
                handle,
                progress,
            };
            self.relay_takes(bench, now_ns, started);
        }
    }

    fn write_waiting(&mut self, bench: &mut Bench, now_ns: u64, place: u32) {
        while self.host.is_writable(ConnIx(place)) {
            let Some(queue) = self.queues.get_mut(&place) else {
                return;
            };
            match queue.pop() {
                Some(queued) => self.write(bench, now_ns, place, queued),
                None => {
                    self.queues.remove(&place);
                }
            }
        }
    }

    /// Closes a connection and notifies the other end.
    pub(super) fn hang_up(&mut self, world: &World, bench: &mut Bench, now_ns: u64, place: u32) {
        if !self.host.is_open(ConnIx(place)) {
            return;
        }
        let end = world.ends[self.id as usize][place as usize];
        let at_ns = now_ns + world.delay_ns(self.id, end.remote);
        self.cause(bench, at_ns, end.remote, What::Closed(end.remote_place));
        self.host_takes(bench, now_ns, link::Input::Close(ConnIx(place)));
        self.queues.remove(&place);
        self.coming.remove(&place);
        self.relay_takes(bench, now_ns, Input::Disconnected(PeerIx(place)));
    }

    fn prove(
        &mut self,
        world: &World,
        bench: &mut Bench,
        now_ns: u64,
        token: u64,
        epoch: undertone_rln::Epoch,
        x: undertone_rln::Fr,
    ) {
        let (Some(member), Some(rln)) = (&mut self.member, &world.scenario.rln) else {
            return;
        };
        match member.prove(GENERATION, epoch, x, self.spams) {
            Some(proof) => {
                let (at_ns, id) = (now_ns + rln.generation_ns, self.id);
                let proof = Box::new(proof);
                self.cause(bench, at_ns, id, What::Proved { token, proof });
            }
            None => {
                let limit = rln.message_limit;
                let result = Err(ProofFailure::Exhausted { limit, epoch });
                self.relay_takes(bench, now_ns, Input::Proved { token, result });
            }
        }
    }

    fn arrived(
        &mut self,
        world: &World,
        bench: &mut Bench,
        now_ns: u64,
        message: WakuMessage,
        from: PeerIx,
    ) {
        self.counters.accepted += 1;
        let parent = world.ends[self.id as usize][from.0 as usize].remote;
        let Some((reassembly, firsts)) = &mut self.reassembly else {
            return self.delivered(bench, now_ns, &message.payload, (from, parent));
        };
        // The timestamp is the same in every fragment, and unique among published messages.
        let moment = message.timestamp_ns();
        match reassembly.take(Time::from_nanos(now_ns), message) {
            Reassembled::Part { index: 0 } => {
                firsts.insert(moment, parent);
            }
            Reassembled::Part { .. } | Reassembled::Malformed(_) => {}
            Reassembled::Message(message) => {
                let first = firsts.remove(&moment).unwrap_or(parent);
                self.delivered(bench, now_ns, &message.payload, (from, first));
            }
        }
    }

    fn delivered(
        &mut self,
        bench: &mut Bench,
        now_ns: u64,
        payload: &[u8],
        (from, parent): (PeerIx, u32),
    ) {
        let number = payload[..8]
            .try_into()
            .map_or(UNCOUNTED, u64::from_le_bytes);
        self.mix([now_ns, number, u64::from(from.0)], &[]);
        if number == UNCOUNTED {
            return;
        }
        let message = number as u32;
        self.checks.delivers(bench, now_ns, self.id, message);
        bench.deliveries += 1;
        self.deliveries.push(Delivered {
            message,
            parent,
            at_ns: now_ns,
        });
    }
}
