//! Inputs of a node: connections, frames, timers and publishing.

use bytes::Bytes;
use undertone_gossip::fragments::FragmentError;
use undertone_gossip::{Direction, NewPeer, PeerIx, Time};
use undertone_link::{self as link, Arrival, ConnIx};
use undertone_message::WakuMessage;
use undertone_relay::{Input, Relay, split_message};
use undertone_rln::RateLimitProof;

use crate::member::roots;
use crate::node::{Bench, Node, What};
use crate::seeds::derive;
use crate::world::{UNIX_NS_AT_ZERO, World};

/// Content topic of all simulated messages.
const CONTENT_TOPIC: &str = "/undertone/1/sim/proto";

/// Number in the payload of messages that do not count in the statistics.
pub(crate) const UNCOUNTED: u64 = u64::MAX;

/// Position of the fragment index in a request token, above all numbers of messages and of spam.
const PART_SHIFT: u32 = 48;

/// Length of the shortest payload, which holds just the message's number, bytes.
pub(crate) const PAYLOAD_BYTES_MIN: u32 = 8;

impl Node {
    pub(super) fn start(&mut self, world: &World, bench: &mut Bench, now_ns: u64) {
        if self.relay.is_some() {
            return;
        }
        let seed = derive(world.seed, "relay", u64::from(self.id));
        let relay = Relay::new(world.relay.clone(), seed, Time::from_nanos(now_ns))
            .expect("the configuration was validated before the run")
            .with_message_ids(Box::new(bench.ids.clone()))
            .with_signal_hashes(Box::new(bench.signals.clone()));
        self.relay = Some(Box::new(relay));
        let unix_ns_at_zero = UNIX_NS_AT_ZERO;
        self.relay_input(world, bench, now_ns, Input::ClockSet { unix_ns_at_zero });
        self.relay_input(world, bench, now_ns, Input::Roots(roots()));
        for topic in &world.topics {
            self.relay_input(world, bench, now_ns, Input::Subscribe(topic.clone()));
        }
        let ends = world.ends[self.id as usize].iter().enumerate();
        let mut to_connect: Vec<_> = ends
            .map(|(place, end)| (world.connected_ns(self.id, end), place as u32))
            .filter(|(at, _)| *at < world.end_ns)
            .collect();
        to_connect.sort_unstable_by(|a, b| b.cmp(a));
        self.to_connect = to_connect;
        self.connect_next(bench);
    }

    fn connect_next(&mut self, bench: &mut Bench) {
        if let Some((at, _)) = self.to_connect.last() {
            let (at, id) = (*at, self.id);
            self.cause(bench, at, id, What::Connect);
        } else {
            self.to_connect = Vec::new();
        }
    }

    pub(super) fn connect_due(&mut self, world: &World, bench: &mut Bench, now_ns: u64) {
        while let Some((at, place)) = self.to_connect.last().copied()
            && at <= now_ns
        {
            self.to_connect.pop();
            if self.relay.is_some() {
                self.connect(world, bench, now_ns, place);
            }
        }
        self.connect_next(bench);
    }

    fn connect(&mut self, world: &World, bench: &mut Bench, now_ns: u64, place: u32) {
        let end = world.ends[self.id as usize][place as usize];
        let connect = link::Input::Connect {
            conn: ConnIx(place),
            remote: end.remote,
            remote_conn: ConnIx(end.remote_place),
            delay_ns: world.delay_ns(self.id, end.remote),
            reverse_delay_ns: world.delay_ns(end.remote, self.id),
            loss: world.loss(self.id, end.remote),
        };
        self.host_input(world, bench, now_ns, connect);
        let direction = if end.outbound {
            Direction::Outbound
        } else {
            Direction::Inbound
        };
        let peer = NewPeer::new(PeerIx(place), world.features, direction);
        self.relay_input(world, bench, now_ns, Input::Connected(peer));
    }

    pub(super) fn closed(&mut self, world: &World, bench: &mut Bench, now_ns: u64, place: u32) {
        if self.host.is_open(ConnIx(place)) {
            self.host_input(world, bench, now_ns, link::Input::Close(ConnIx(place)));
            self.queues.remove(&place);
            self.coming.remove(&place);
            let gone = Input::Disconnected(PeerIx(place));
            self.relay_input(world, bench, now_ns, gone);
        }
    }

    pub(super) fn arrival(
        &mut self,
        world: &World,
        bench: &mut Bench,
        now_ns: u64,
        arrival: Arrival<Bytes>,
    ) {
        let end = world.ends[self.id as usize][arrival.conn.0 as usize];
        if let Some(until_ns) = world.cut_until_ns(now_ns, self.id, end.remote) {
            // The transport would retransmit the packets until they get through, so they arrive after the
            // partition.
            let (at_ns, id) = (until_ns + world.delay_ns(end.remote, self.id), self.id);
            return self.cause(bench, at_ns, id, What::Arrival(arrival));
        }
        self.host_input(world, bench, now_ns, link::Input::Arrival(arrival));
    }

    pub(super) fn wake(&mut self, world: &World, bench: &mut Bench, now_ns: u64) {
        // Another wake event was scheduled for an earlier time.
        if self.wake_ns != now_ns {
            return;
        }
        self.wake_ns = u64::MAX;
        if self.host.next_timeout().is_some_and(|at| at <= now_ns) {
            self.host_input(world, bench, now_ns, link::Input::Tick);
        }
        let due = |relay: &Relay| relay.next_timeout().as_nanos() <= now_ns;
        if self.relay.as_deref().is_some_and(due) {
            self.relay_input(world, bench, now_ns, Input::Tick);
        }
    }

    /// Accepts a complete frame, and delays it by the processing costs of the node.
    pub(super) fn received(
        &mut self,
        world: &World,
        bench: &mut Bench,
        now_ns: u64,
        place: u32,
        frame: Bytes,
    ) {
        let cpu = &world.scenario.cpu;
        let cost_ns = cpu.per_frame_ns + cpu.per_kb_ns * frame.len() as u64 / 1000;
        if cost_ns == 0 {
            return self.frame(world, bench, now_ns, place, frame);
        }
        self.cpu_free_ns = self.cpu_free_ns.max(now_ns) + cost_ns;
        let (at_ns, id) = (self.cpu_free_ns, self.id);
        self.cause(bench, at_ns, id, What::Frame { place, frame });
    }

    pub(super) fn frame(
        &mut self,
        world: &World,
        bench: &mut Bench,
        now_ns: u64,
        place: u32,
        frame: Bytes,
    ) {
        if self.relay.is_none() || !self.host.is_open(ConnIx(place)) {
            return;
        }
        self.mix([now_ns, u64::from(place), frame.len() as u64], &frame);
        self.checks.heard(now_ns, place, &frame);
        let (peer, is_long) = (PeerIx(place), frame.len() as u64 > self.long_frame_bytes);
        if is_long {
            self.check_long(bench, now_ns, place, &frame);
        }
        self.relay_input(
            world,
            bench,
            now_ns,
            Input::Frame {
                peer,
                frame: frame.into(),
            },
        );
        if is_long {
            self.arrived_whole(world, bench, now_ns, place);
        }
    }

    /// Checks that the router sent no IWANT for the messages of a long frame while it was in transit.
    fn check_long(&mut self, bench: &mut Bench, now_ns: u64, place: u32, frame: &Bytes) {
        let begun_ns = self.coming.get(&place).and_then(|coming| coming.front());
        if let (Some(begun_ns), Some(relay)) = (begun_ns, &self.relay)
            && self.checks.has_asked_since(*begun_ns)
        {
            let wait = relay.router().config().large.transfer_wait;
            let until_ns = begun_ns.saturating_add(wait.as_nanos() as u64);
            let during_ns = *begun_ns + 1..now_ns.min(until_ns);
            self.checks
                .came(bench, now_ns, (self.id, place), during_ns, frame);
        }
    }

    /// Ends the transfer of a long frame after the relay has processed the frame.
    fn arrived_whole(&mut self, world: &World, bench: &mut Bench, now_ns: u64, place: u32) {
        let Some(coming) = self.coming.get_mut(&place) else {
            return;
        };
        coming.pop_front();
        if coming.is_empty() {
            self.coming.remove(&place);
            self.relay_input(world, bench, now_ns, Input::TransferEnded(PeerIx(place)));
        }
    }

    pub(super) fn publish(&mut self, world: &World, bench: &mut Bench, now_ns: u64, number: u32) {
        let bytes = world.messages[number as usize].payload_bytes;
        let topic = number % world.scenario.relay.topics.max(1);
        let number = u64::from(number);
        self.publish_payload(world, bench, now_ns, (number, number), bytes, topic);
    }

    pub(super) fn spam(
        &mut self,
        world: &World,
        bench: &mut Bench,
        now_ns: u64,
        interval_ns: u64,
        count: u64,
    ) {
        if self.relay.is_none() {
            return;
        }
        self.spams = true;
        // Tokens above the numbers of counted messages, so that both kinds may wait for proofs at once.
        let token = u64::from(u32::MAX) + 1 + count;
        self.publish_payload(world, bench, now_ns, (UNCOUNTED, token), 64, 0);
        let (at_ns, id) = (now_ns + interval_ns.max(1), self.id);
        let count = count + 1;
        self.cause(bench, at_ns, id, What::Spam { interval_ns, count });
    }

    fn publish_payload(
        &mut self,
        world: &World,
        bench: &mut Bench,
        now_ns: u64,
        (number, token): (u64, u64),
        bytes: u32,
        topic: u32,
    ) {
        let mut payload = vec![0; bytes.max(PAYLOAD_BYTES_MIN) as usize];
        payload[..8].copy_from_slice(&number.to_le_bytes());
        let message = WakuMessage::new(payload, CONTENT_TOPIC);
        let count = world.scenario.relay.fragments as usize;
        let parts = match split_message(&message, count) {
            Ok(Some(parts)) => parts,
            Ok(None) | Err(FragmentError::Count { .. }) => vec![message],
            Err(error) => unreachable!("splitting a message decodes nothing: {error}"),
        };
        for (part, message) in parts.into_iter().enumerate() {
            let topic = world.topics[topic as usize].clone();
            let publish = Input::Publish {
                topic,
                message,
                token: token | (part as u64) << PART_SHIFT,
            };
            self.relay_input(world, bench, now_ns, publish);
        }
    }

    pub(super) fn proved(
        &mut self,
        world: &World,
        bench: &mut Bench,
        now_ns: u64,
        token: u64,
        proof: RateLimitProof,
    ) {
        let result = Ok(proof);
        self.relay_input(world, bench, now_ns, Input::Proved { token, result });
    }
}
