//! Inputs of a node: connections, frames, timers and publishing.

use std::sync::Arc;

use bytes::Bytes;
use undertone_gossip::fragments::FragmentError;
use undertone_gossip::{Direction, NewPeer, PeerIx, RequestId, Time};
use undertone_link::{self as link, Arrival, ConnIx};
use undertone_message::WakuMessage;
use undertone_relay::{Input, Relay, split_message};
use undertone_rln::RateLimitProof;

use crate::light::channel_content;
use crate::member::roots;
use crate::node::Node;
use crate::node::event::{Event, Step};
use crate::seeds::derive;
use crate::services::io::ServiceInput;
use crate::world::UNIX_NS_AT_ZERO;

/// Content topic of all simulated messages.
pub(crate) const CONTENT_TOPIC: &str = "/undertone/1/sim/proto";

/// Number in the payload of messages that do not count in the statistics.
pub(crate) const UNCOUNTED: u64 = u64::MAX;

/// Bit position of the fragment index in a request number, above all numbers of messages and of spam.
const PART_SHIFT: u32 = 48;

/// Shortest payload, bytes; it holds just the message's number.
pub(crate) const PAYLOAD_BYTES_MIN: u32 = 8;

/// Payload of a message: its number, then zeros.
pub(crate) fn payload(number: u64, bytes: u32) -> Vec<u8> {
    let mut payload = vec![0; bytes.max(PAYLOAD_BYTES_MIN) as usize];
    payload[..8].copy_from_slice(&number.to_le_bytes());
    payload
}

/// Number in a payload, or in the content of a message of the channel; [`UNCOUNTED`] if there is none.
pub(crate) fn number_in(payload: &[u8]) -> u64 {
    let content = channel_content(payload);
    let payload = content.as_deref().unwrap_or(payload);
    let number = payload.get(..8).and_then(|bytes| bytes.try_into().ok());
    number.map_or(UNCOUNTED, u64::from_le_bytes)
}

impl Node {
    pub(super) fn start(&mut self, step: &mut Step<'_>) {
        if self.relay.is_some() {
            return;
        }
        let seed = derive(step.world.seed, "relay", u64::from(self.id));
        let mut relay = Relay::new(
            step.world.relay_of(self.id).clone(),
            seed,
            Time::from_nanos(step.now_ns),
        )
        .expect("the configuration was validated before the run")
        .with_message_ids(Box::new(step.scratch.ids.clone()))
        .with_signal_hashes(Box::new(step.scratch.signals.clone()))
        .with_external_nullifiers(&step.scratch.externals);
        let ends = step.world.ends(self.id);
        relay.reserve_peers(ends.len());
        self.host.reserve_connections(ends.len());
        self.relay = Some(Box::new(relay));
        let unix_ns_at_zero = UNIX_NS_AT_ZERO;
        self.relay_input(step, Input::ClockSet { unix_ns_at_zero });
        let newest = step.world.newest_root(step.now_ns);
        self.learn_root(step, newest);
        for topic in step.world.joined(self.id) {
            let topic = step.world.topics[usize::from(topic)].clone();
            self.relay_input(step, Input::Subscribe(topic));
        }
        if step.world.scenario.topology.discovery().is_some() {
            return self.start_finding(step);
        }
        let ends = step.world.ends(self.id).iter().enumerate();
        let mut to_connect: Vec<_> = ends
            .map(|(conn, end)| (step.world.connected_ns(self.id, end), ConnIx(conn as u32)))
            .filter(|(at, _)| *at < step.world.end_ns)
            .collect();
        to_connect.sort_unstable_by(|a, b| b.cmp(a));
        self.to_connect = to_connect;
        self.connect_next(step);
    }

    /// Accepts proofs with a new Merkle root, and waits for the next, if there are any.
    pub(super) fn learn_root(&mut self, step: &mut Step<'_>, number: u64) {
        self.relay_input(step, Input::Roots(roots(number)));
        if let Some(at_ns) = step.world.root_learnt_ns(self.id, number + 1) {
            self.schedule_own(step, at_ns, Event::Root(number + 1));
        }
    }

    fn connect_next(&mut self, step: &mut Step<'_>) {
        if let Some((at, _)) = self.to_connect.last() {
            let at = *at;
            self.schedule_own(step, at, Event::Connect);
        } else {
            self.to_connect = Vec::new();
        }
    }

    pub(super) fn connect_due(&mut self, step: &mut Step<'_>) {
        while let Some((at, conn)) = self.to_connect.last().copied()
            && at <= step.now_ns
        {
            self.to_connect.pop();
            // A node that has crashed or left answers no dial.
            let remote = step.world.ends(self.id)[conn.0 as usize].remote;
            if self.relay.is_some() && !step.world.has_ended(remote, step.now_ns) {
                self.connect(step, conn);
            }
        }
        self.connect_next(step);
    }

    fn connect(&mut self, step: &mut Step<'_>, conn: ConnIx) {
        let direction = match step.world.ends(self.id)[conn.0 as usize].outbound {
            true => Direction::Outbound,
            false => Direction::Inbound,
        };
        self.open(step, conn, direction);
    }

    /// Opens this end of a connection, and tells the relay.
    pub(super) fn open(&mut self, step: &mut Step<'_>, conn: ConnIx, direction: Direction) {
        let remote = step.world.ends(self.id)[conn.0 as usize].remote;
        let connect = step.world.connect_input(self.id, conn, direction);
        self.host_input(step, connect);
        let features = step.world.features(self.id, remote);
        let mut peer = NewPeer::new(PeerIx(conn.0), features, direction);
        peer.ip = step.world.address(remote);
        self.relay_input(step, Input::Connected(peer));
    }

    pub(super) fn closed(&mut self, step: &mut Step<'_>, conn: ConnIx) {
        if self.is_of_client(conn) {
            return self.for_service(ServiceInput::Closed(conn));
        }
        if self.host.is_open(conn) {
            self.host_input(step, link::Input::Close(conn));
            self.queues.remove(&conn);
            self.in_transit.remove(&conn);
            let gone = Input::Disconnected(PeerIx(conn.0));
            self.relay_input(step, gone);
            self.find_ended(step, conn);
        }
    }

    pub(super) fn arrival(&mut self, step: &mut Step<'_>, arrival: Arrival<Bytes>) {
        let remote = match step.world.ends(self.id).get(arrival.conn.0 as usize) {
            Some(end) => Some(end.remote),
            None => self.client_of(arrival.conn),
        };
        let cut = |remote| step.world.cut_until_ns(step.now_ns, self.id, remote);
        if let Some(remote) = remote
            && let Some(until_ns) = cut(remote)
        {
            // The transport would retransmit the packets until they get through, so they arrive after the
            // partition, or after their connection was closed.
            let at_ns = match step.world.noticed_cut_ns(until_ns) {
                Some(noticed_ns) if noticed_ns < step.now_ns => None,
                Some(noticed_ns) => Some(noticed_ns + 1),
                None => Some(until_ns + step.world.delay_ns(remote, self.id)),
            };
            if let Some(at_ns) = at_ns {
                return self.schedule_own(step, at_ns, Event::Arrival(arrival));
            }
        }
        self.host_input(step, link::Input::Arrival(arrival));
    }

    pub(super) fn wake(&mut self, step: &mut Step<'_>) {
        // Another wake event was scheduled for an earlier time.
        if self.wake_ns != step.now_ns {
            return;
        }
        self.wake_ns = u64::MAX;
        if self.host.next_timeout().is_some_and(|at| at <= step.now_ns) {
            self.host_input(step, link::Input::Tick);
        }
        let due = |relay: &Relay| relay.next_timeout().as_nanos() <= step.now_ns;
        if self.relay.as_deref().is_some_and(due) {
            self.relay_input(step, Input::Tick);
        }
        self.find_tick(step);
        if self.service.is_some() {
            self.for_service(ServiceInput::Tick);
        }
    }

    /// Accepts a complete frame, and delays it by the processing costs of the node.
    pub(super) fn received(&mut self, step: &mut Step<'_>, conn: ConnIx, frame: Bytes) {
        let cpu = step.world.scenario.cpu_of(self.id);
        let cost_ns = cpu.per_frame_ns + cpu.per_kb_ns * frame.len() as u64 / 1000;
        if cost_ns == 0 {
            return self.frame(step, conn, frame);
        }
        self.cpu_free_ns = self.cpu_free_ns.max(step.now_ns) + cost_ns;
        let at_ns = self.cpu_free_ns;
        self.schedule_own(step, at_ns, Event::Frame { conn, frame });
    }

    pub(super) fn frame(&mut self, step: &mut Step<'_>, conn: ConnIx, frame: Bytes) {
        if self.relay.is_none() || !self.host.is_open(conn) {
            return;
        }
        self.mix([step.now_ns, u64::from(conn.0), frame.len() as u64], &frame);
        if self.is_of_client(conn) {
            return self.for_service(ServiceInput::Frame { conn, frame });
        }
        if let Some(record) = &mut self.record {
            record.receives(step.now_ns, conn.0, &frame);
        }
        self.checks.heard(step.now_ns, conn, &frame);
        let (peer, is_long) = (PeerIx(conn.0), frame.len() as u64 > self.long_frame_bytes);
        if is_long {
            self.check_long(step, conn, &frame);
        }
        let received = Input::Frame {
            peer,
            frame: frame.into(),
        };
        self.relay_input(step, received);
        if is_long {
            self.transfer_ended(step, conn);
        }
    }

    /// Checks that the router sent no IWANT for the messages of a long frame while it was in transit.
    fn check_long(&mut self, step: &mut Step<'_>, conn: ConnIx, frame: &Bytes) {
        let begun_ns = self
            .in_transit
            .get(&conn)
            .and_then(|begun_ns| begun_ns.front());
        if let (Some(begun_ns), Some(relay)) = (begun_ns, &self.relay)
            && self.checks.has_asked_since(*begun_ns)
        {
            let wait = relay.router().config().large.transfer_wait;
            let until_ns = begun_ns.saturating_add(wait.as_nanos() as u64);
            let during_ns = *begun_ns + 1..step.now_ns.min(until_ns);
            self.checks
                .completed(step.scratch, step.now_ns, (self.id, conn), during_ns, frame);
        }
    }

    /// Ends the transfer of a long frame after the relay has processed the frame.
    fn transfer_ended(&mut self, step: &mut Step<'_>, conn: ConnIx) {
        let Some(begun_ns) = self.in_transit.get_mut(&conn) else {
            return;
        };
        begun_ns.pop_front();
        if begun_ns.is_empty() {
            self.in_transit.remove(&conn);
            self.relay_input(step, Input::TransferEnded(PeerIx(conn.0)));
        }
    }

    pub(super) fn publish(&mut self, step: &mut Step<'_>, number: u32) {
        let bytes = step.world.messages[number as usize].payload_bytes;
        let topic = step.world.topic_of(number);
        let content = step.world.content_topic(number);
        let content = content.map(|at| step.world.content_topics[at].clone());
        let number = u64::from(number);
        self.publish_payload(step, (number, number), bytes, (topic, content));
    }

    pub(super) fn spam(&mut self, step: &mut Step<'_>, interval_ns: u64, count: u64) {
        if self.relay.is_none() {
            return;
        }
        self.spams = true;
        // Request numbers above those of counted messages, so that both kinds can wait for proofs at once.
        let request = u64::from(u32::MAX) + 1 + count;
        let topic = step.world.joined(self.id).next().map_or(0, usize::from);
        self.publish_payload(step, (UNCOUNTED, request), 64, (topic, None));
        let at_ns = step.now_ns + interval_ns.max(1);
        let count = count + 1;
        self.schedule_own(step, at_ns, Event::Spam { interval_ns, count });
    }

    fn publish_payload(
        &mut self,
        step: &mut Step<'_>,
        (number, request): (u64, u64),
        bytes: u32,
        (topic, content): (usize, Option<Arc<str>>),
    ) {
        let content = content.unwrap_or_else(|| CONTENT_TOPIC.into());
        let message = WakuMessage::new(payload(number, bytes), content);
        let count = step.world.scenario.relay.fragments as usize;
        let parts = match split_message(&message, count) {
            Ok(Some(parts)) => parts,
            Ok(None) | Err(FragmentError::Count { .. }) => vec![message],
            Err(error) => unreachable!("splitting a message decodes nothing: {error}"),
        };
        for (part, message) in parts.into_iter().enumerate() {
            let topic = step.world.topics[topic].clone();
            let publish = Input::Publish {
                topic,
                message,
                request: RequestId(request | (part as u64) << PART_SHIFT),
            };
            self.relay_input(step, publish);
        }
    }

    pub(super) fn proved(
        &mut self,
        step: &mut Step<'_>,
        request: RequestId,
        proof: RateLimitProof,
    ) {
        let result = Ok(proof);
        self.relay_input(step, Input::Proved { request, result });
    }
}
