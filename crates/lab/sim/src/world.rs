//! Data shared by all nodes of a run, constant during it.

mod config;
mod groups;

use std::ops::Range;
use std::sync::Arc;

use bytes::Bytes;

use undertone_gossip::{Direction, Features};
use undertone_link::{self as link, ConnIx};
use undertone_message::PubsubTopic;
use undertone_relay::SharedRelayConfig;
use undertone_rln::Generation;

use crate::adversary::{self, Identity};
use crate::error::SimError;
use crate::layout::RankPart;
use crate::outcome::{Message, RecordOptions};
use crate::scenario::{Delay, Dialling, Fault, FaultKind, Group, Scenario};
use crate::seeds::SeededRng;
use crate::topology::ConnEnd;
use config::{begun_over_bytes, client_starts_ns, features, host, relay, shard, tcp_profile};

/// Wall-clock time at the start of every run, Unix nanoseconds, just after the beginning of an epoch.
pub(crate) const UNIX_NS_AT_ZERO: u64 = 1_699_999_800 * 1_000_000_000;

/// Cluster of the simulated network.
pub(crate) const CLUSTER: u16 = 66;

/// Round trips from dialling to the first frame: TCP, the choice of security, its handshake, the choice
/// of a muxer, the choice of the stream's protocol.
const CONNECTING_ROUND_TRIPS: u64 = 5;

/// Generation of external nullifiers used by all nodes; with only one network, any would do.
pub(crate) const GENERATION: Generation = Generation::Hashed;

/// Largest difference between a message's timestamp and a node's clock on a network with a rate limit, nanoseconds.
pub(crate) const MAX_CLOCK_GAP_NS: u64 = 20_000_000_000;

/// A time span in which no packets pass between the last nodes and the others.
#[derive(Clone, Copy, Debug)]
struct Partition {
    from_ns: u64,
    until_ns: u64,
    first_node: u32,
}

/// Scenario, connections and plan of a run.
#[derive(Debug)]
pub(crate) struct World {
    pub(crate) scenario: Scenario,
    pub(crate) seed: u64,
    /// Nodes that this process simulates.
    pub(crate) part: RankPart,
    /// Connections of those nodes.
    ends: Vec<Vec<ConnEnd>>,
    pub(crate) messages: Vec<Message>,
    /// Start time of each node.
    pub(crate) starts_ns: Vec<u64>,
    pub(crate) end_ns: u64,
    /// Features that nodes without a relay of their own have.
    features: Features,
    /// Relay and features of each group that has a relay of its own.
    group_relays: Vec<Option<(SharedRelayConfig, Features)>>,
    pub(crate) topics: Vec<PubsubTopic>,
    /// Names of `topics`.
    pub(crate) shards: Vec<Arc<str>>,
    /// Content topics of a scenario with services; empty without.
    pub(crate) content_topics: Vec<Arc<str>>,
    /// Adversarial identities, in the order of their numbers.
    adversaries: Vec<Identity>,
    /// Time from one change of the membership to the next, nanoseconds; 0 for none.
    root_spread_ns: u64,
    /// Start time of each light client.
    pub(crate) client_starts_ns: Vec<u64>,
    /// Time of the last message; after it, services and light clients have no trouble.
    calm_ns: u64,
    /// Configuration of the machines of nodes without rates of their own.
    host: Arc<link::StackConfig>,
    pub(crate) relay: SharedRelayConfig,
    /// Records to make besides deliveries.
    pub(crate) record: RecordOptions,
    partitions: Vec<Partition>,
}

impl World {
    pub(crate) fn new(
        scenario: &Scenario,
        seed: u64,
        (part, ends): (RankPart, Vec<Vec<ConnEnd>>),
        messages: Vec<Message>,
        starts_ns: Vec<u64>,
    ) -> Result<Self, SimError> {
        let features = features(&scenario.relay.protocol)?;
        let cluster = CLUSTER;
        let of_group = |group: &Group| {
            let Some(own) = &group.relay else {
                return Ok(None);
            };
            let config = relay(scenario, &own.gossip, cluster);
            Ok(Some((config.into(), config::features(&own.protocol)?)))
        };
        let group_relays: Result<_, SimError> = scenario.groups.iter().map(of_group).collect();
        let topics: Option<Vec<_>> = (0..scenario.relay.topics)
            .map(|n| u16::try_from(n).ok().and_then(|n| shard(cluster, n)))
            .collect();
        let topics = topics.ok_or_else(|| SimError::Invalid {
            what: "relay.topics",
            value: scenario.relay.topics.to_string(),
            rule: "there are at most 1024 shards",
        })?;
        let last_ns = messages.iter().map(|m| m.published_ns).max().unwrap_or(0);
        let faults_ns = scenario.faults.iter().map(|f| f.at_ns).max().unwrap_or(0);
        let partitions = scenario.faults.iter().filter_map(|fault| match fault.kind {
            FaultKind::Partition { for_ns } => Some(Partition {
                from_ns: fault.at_ns,
                until_ns: fault.at_ns.saturating_add(for_ns),
                first_node: scenario.nodes.saturating_sub(fault.nodes),
            }),
            _ => None,
        });
        let setup = scenario.services.as_ref();
        let content_topics = (0..setup.map_or(0, |setup| setup.content_topics))
            .map(|number| format!("/undertone/1/sim-{number}/proto").into());
        Ok(Self {
            shards: topics.iter().map(|t| t.to_string().into()).collect(),
            content_topics: content_topics.collect(),
            adversaries: adversary::identities(scenario, seed),
            root_spread_ns: Self::root_spread_ns(scenario),
            client_starts_ns: client_starts_ns(scenario, seed),
            calm_ns: last_ns,
            end_ns: last_ns.max(faults_ns).saturating_add(scenario.drain_ns),
            features,
            group_relays: group_relays?,
            topics,
            host: Arc::new(host(scenario)),
            relay: relay(scenario, &scenario.relay.gossip, cluster).into(),
            record: RecordOptions::NONE,
            partitions: partitions.collect(),
            scenario: scenario.clone(),
            seed,
            part,
            ends,
            messages,
            starts_ns,
        })
    }

    /// Connections of a node that this process simulates.
    pub(crate) fn ends(&self, node: u32) -> &[ConnEnd] {
        &self.ends[self.part.slot(node)]
    }

    /// One-way delay from one node to another, nanoseconds. It is never 0: no packet may arrive at the
    /// time at which its connection opens, as the other end may not have opened yet.
    pub(crate) fn delay_ns(&self, from: u32, to: u32) -> u64 {
        let delay_ns = match &self.scenario.network.delay {
            Delay::Constant { one_way_ns } => *one_way_ns,
            Delay::Places { one_way_ns } => {
                let place = |node: u32| node as usize % one_way_ns.len().max(1);
                one_way_ns[place(from)][place(to)]
            }
            Delay::Uniform { min_ns, max_ns } => {
                let pair = u64::from(from) << 32 | u64::from(to);
                min_ns + SeededRng::new(self.seed, "delay", pair).below(max_ns - min_ns + 1)
            }
        };
        let added = [from, to].map(|node| self.group(node).map_or(0, |g| g.added_delay_ns));
        delay_ns
            .saturating_add(added[0])
            .saturating_add(added[1])
            .max(1)
    }

    /// Probability that a packet from one node to another is lost.
    pub(crate) fn loss(&self, from: u32, to: u32) -> f64 {
        let network = &self.scenario.network;
        let places = network.place_loss.len();
        let loss = match places {
            0 => network.loss,
            _ => network.place_loss[from as usize % places][to as usize % places],
        };
        let groups = [from, to].map(|node| self.group(node));
        let groups = groups.into_iter().flatten();
        groups.fold(loss, |loss, group| {
            1.0 - (1.0 - loss) * (1.0 - group.added_loss)
        })
    }

    /// Rates of the uplink and the downlink of a node, bytes per second.
    pub(crate) fn rates(&self, node: u32) -> (u64, u64) {
        let network = &self.scenario.network;
        let is_client = (self.scenario.nodes..self.first_adversary()).contains(&node);
        if let Some(rates) = self.scenario.services.as_ref().and_then(|s| s.client_rates)
            && is_client
        {
            return rates;
        }
        let places = network.place_rates.len();
        let (up, down) = match places {
            0 => (network.uplink_bytes_per_s, network.downlink_bytes_per_s),
            _ => network.place_rates[node as usize % places],
        };
        let group = self.group(node);
        let own = group.map_or((None, None), |g| {
            (g.uplink_bytes_per_s, g.downlink_bytes_per_s)
        });
        (own.0.unwrap_or(up), own.1.unwrap_or(down))
    }

    /// Input that opens a node's end of a connection.
    pub(crate) fn connect_input(
        &self,
        node: u32,
        conn: ConnIx,
        direction: Direction,
    ) -> link::Input<Bytes> {
        let end = self.ends(node)[conn.0 as usize];
        link::Input::Connect {
            conn,
            remote: end.remote,
            remote_conn: end.remote_conn,
            delay_ns: self.delay_ns(node, end.remote),
            reverse_delay_ns: self.delay_ns(end.remote, node),
            loss: self.loss(node, end.remote),
            sent_before: self.sent_before(direction == Direction::Outbound),
        }
    }

    /// Configuration of a node's machine.
    pub(crate) fn host(&self, node: u32) -> Arc<link::StackConfig> {
        let (uplink_bytes_per_s, downlink_bytes_per_s) = self.rates(node);
        let mut host = *self.host;
        host.uplink_bytes_per_s = uplink_bytes_per_s;
        host.downlink_bytes_per_s = downlink_bytes_per_s;
        host.begun_over_bytes = begun_over_bytes(&self.scenario, self.scenario.gossip_of(node));
        match host == *self.host {
            true => Arc::clone(&self.host),
            false => Arc::new(host),
        }
    }

    /// The shortest delay between any two nodes: the lookahead of a thread.
    pub(crate) fn shortest_delay_ns(&self) -> u64 {
        match &self.scenario.network.delay {
            Delay::Constant { one_way_ns } => *one_way_ns,
            Delay::Uniform { min_ns, .. } => *min_ns,
            Delay::Places { one_way_ns } => {
                let all = one_way_ns.iter().flatten().copied();
                all.min().unwrap_or(0)
            }
        }
    }

    /// Time at which a connection is ready for frames at both ends, nanoseconds: after both nodes have
    /// started, and after the connections that the dialler made before.
    pub(crate) fn connected_ns(&self, node: u32, end: &ConnEnd) -> u64 {
        let takes_ns = self.connecting_ns(node, end.remote);
        self.dialled_ns(node, end).saturating_add(takes_ns)
    }

    /// Time at which the dialler of a connection begins to make it, nanoseconds.
    pub(crate) fn dialled_ns(&self, node: u32, end: &ConnEnd) -> u64 {
        let (from, to) = if end.outbound {
            (node, end.remote)
        } else {
            (end.remote, node)
        };
        let before = match self.scenario.dialling {
            Dialling::AtOnce => 0,
            Dialling::OneByOne => u64::from(end.dialled_before),
        };
        let starts_ns = [from, to].map(|node| self.started_ns(node));
        let turn_ns = starts_ns[0].saturating_add(before * self.connecting_ns(from, to));
        turn_ns.max(starts_ns[1])
    }

    /// Packets and bytes that an end of a connection has sent during its set-up; `None` if the scenario has a constant
    /// number.
    pub(crate) fn sent_before(&self, is_dialler: bool) -> Option<link::SentBefore> {
        let handshake = self.scenario.network.handshake?;
        Some(handshake.sent_before(&tcp_profile(&self.scenario), is_dialler))
    }

    /// Time from a dial until the dialled node has its end of the connection, nanoseconds.
    pub(crate) fn dial_ns(&self, from: u32, to: u32) -> u64 {
        self.connecting_ns(from, to) - self.delay_ns(to, from)
    }

    fn connecting_ns(&self, a: u32, b: u32) -> u64 {
        let handshake = self.scenario.network.handshake;
        let round_trips = handshake.map_or(CONNECTING_ROUND_TRIPS, |known| known.round_trips);
        round_trips * (self.delay_ns(a, b) + self.delay_ns(b, a))
    }

    /// Nodes that are affected by a fault.
    pub(crate) fn afflicted(&self, fault: &Fault) -> Range<u32> {
        self.scenario.nodes.saturating_sub(fault.nodes)..self.scenario.nodes
    }

    /// Time at which a node crashes or leaves, if it does. A crash or leave before the node's
    /// start has no effect.
    pub(crate) fn ends_ns(&self, node: u32) -> Option<u64> {
        let starts_ns = self.starts_ns[node as usize];
        let ends = self.scenario.faults.iter().filter(|fault| {
            matches!(fault.kind, FaultKind::Crash { .. } | FaultKind::Leave)
                && self.afflicted(fault).contains(&node)
                && fault.at_ns >= starts_ns
        });
        ends.map(|fault| fault.at_ns).min()
    }

    /// Whether a relay has crashed or left by now, or an adversary has left.
    pub(crate) fn has_ended(&self, node: u32, now_ns: u64) -> bool {
        let ends_ns = match node < self.scenario.nodes {
            true => self.ends_ns(node),
            false => self.policy(node).leaves_ns,
        };
        ends_ns.is_some_and(|at_ns| at_ns <= now_ns)
    }

    /// Deliveries that a network without faults would make.
    pub(crate) fn expected(&self) -> u64 {
        let nodes = self.scenario.nodes;
        // A light client's message is received by every relay.
        let of_topic: Vec<u32> = (0..self.topics.len())
            .map(|topic| self.subscribers(topic))
            .collect();
        let receivers = |(number, message): (u32, &Message)| {
            let topic = self.topic_of(number);
            let has_it = message.publisher < nodes && self.joins(message.publisher, topic);
            u64::from(of_topic[topic] - u32::from(has_it))
        };
        (0..).zip(&self.messages).map(receivers).sum()
    }

    /// Number of nodes that subscribe to a topic.
    pub(crate) fn subscribers(&self, topic: usize) -> u32 {
        let (setup, nodes) = (&self.scenario.relay, self.scenario.nodes);
        let joins = |node: &u32| self.joins(*node, topic);
        if !self.scenario.groups.is_empty() {
            return (0..nodes).filter(joins).count() as u32;
        }
        // Nodes whose numbers are equal modulo the number of topics subscribe to the same ones.
        let alike = setup.topics.max(1);
        let all_alike = (0..alike).filter(joins).count() as u32 * (nodes / alike);
        all_alike + (0..nodes % alike).filter(joins).count() as u32
    }

    /// Indices of the topics that a node subscribes to.
    pub(crate) fn joined(&self, node: u32) -> impl Iterator<Item = u16> {
        let joins = move |topic: &u16| self.joins(node, usize::from(*topic));
        (0..).take(self.topics.len()).filter(joins)
    }

    fn joins(&self, node: u32, topic: usize) -> bool {
        self.scenario.joins(node, topic as u32)
    }

    /// Number of light clients.
    pub(crate) fn clients(&self) -> u32 {
        let setup = self.scenario.services.as_ref();
        setup.map_or(0, |setup| setup.light_clients)
    }

    /// Nodes that serve light clients.
    pub(crate) fn service_nodes(&self) -> Range<u32> {
        let setup = self.scenario.services.as_ref();
        let nodes = self.scenario.nodes;
        nodes.saturating_sub(setup.map_or(0, |setup| setup.service_nodes))..nodes
    }

    /// Content topic of a message, by its number; `None` without services.
    pub(crate) fn content_topic(&self, message: u32) -> Option<usize> {
        let setup = self.scenario.services.as_ref()?;
        let number = message / setup.publish_one_in.max(1);
        Some(number as usize % self.content_topics.len().max(1))
    }

    /// Index of a message's pubsub topic in `topics`. With services, a content topic belongs to one pubsub topic.
    pub(crate) fn topic_of(&self, message: u32) -> usize {
        if let Some(listed) = self.scenario.listed.get(message as usize) {
            return listed.topic as usize;
        }
        let topics = self.scenario.relay.topics.max(1);
        let publisher = self.messages[message as usize].publisher;
        if let Some(own) = self
            .scenario
            .group_topics(publisher)
            .filter(|own| !own.is_empty())
        {
            return own[message as usize % own.len()] as usize;
        }
        if self.scenario.relay.topics_per_node.is_some() {
            return (publisher % topics) as usize;
        }
        match self.content_topic(message) {
            Some(content) => content % self.topics.len().max(1),
            None => (message % topics) as usize,
        }
    }

    /// Probability that a stream of a light client breaks now.
    pub(crate) fn stream_loss(&self, now_ns: u64) -> f64 {
        let setup = self.scenario.services.as_ref();
        match self.is_calm(now_ns) {
            true => 0.0,
            false => setup.map_or(0.0, |setup| setup.stream_loss),
        }
    }

    /// Whether the last message has been published.
    pub(crate) fn is_calm(&self, now_ns: u64) -> bool {
        now_ns > self.calm_ns
    }

    /// Numbers of partitions, each with the time at which its dead connections are noticed. Only scenarios with
    /// discovery have any.
    pub(crate) fn noticed_cuts_ns(&self) -> impl Iterator<Item = (u32, u64)> {
        let after_ns = self.scenario.topology.discovery();
        let after_ns = after_ns.map(|discovery| discovery.cut_noticed_after_ns);
        let numbered = (0..).zip(&self.partitions);
        numbered.filter_map(move |(number, cut)| {
            let noticed_ns = cut.from_ns.saturating_add(after_ns?);
            (noticed_ns < cut.until_ns).then_some((number, noticed_ns))
        })
    }

    /// Time at which the dead connections of the partition with this end are noticed, if they are.
    pub(crate) fn noticed_cut_ns(&self, until_ns: u64) -> Option<u64> {
        let mut cuts = self.noticed_cuts_ns();
        let of = |number: u32| self.partitions[number as usize].until_ns == until_ns;
        cuts.find(|(number, _)| of(*number))
            .map(|(_, noticed_ns)| noticed_ns)
    }

    /// Nodes on the other side of a partition.
    pub(crate) fn beyond(&self, partition: u32, node: u32) -> Range<u32> {
        let (first, nodes) = (
            self.partitions[partition as usize].first_node,
            self.scenario.nodes,
        );
        match node < first {
            true => first..nodes,
            false => 0..first,
        }
    }

    /// Absences of nodes as (node, time it leaves, time it returns), in order of time. The absences of a node do not
    /// overlap.
    pub(crate) fn absences(&self) -> Vec<(u32, u64, u64)> {
        let churn = self.scenario.topology.discovery();
        let churn = churn.and_then(|discovery| discovery.churn);
        let Some(churn) = churn else {
            return Vec::new();
        };
        let nodes = u64::from(self.scenario.nodes);
        let per_minute = churn.share_per_minute * nodes as f64;
        let pause_ns = ((60e9 / per_minute) as u64).max(1);
        let mut rng = SeededRng::new(self.seed, "churn", 0);
        let mut absences: Vec<(u32, u64, u64)> = Vec::new();
        let mut at_ns = churn.from_ns;
        while at_ns < churn.until_ns {
            let node = 1 + rng.below(nodes - 1) as u32;
            let starts_ns = self.starts_ns[node as usize];
            let last = absences.iter().rev().find(|(who, ..)| *who == node);
            let is_here = starts_ns < at_ns && last.is_none_or(|(.., back_ns)| *back_ns < at_ns);
            if is_here {
                absences.push((node, at_ns, at_ns.saturating_add(churn.away_ns)));
                at_ns += pause_ns;
            } else {
                // Another node leaves a moment later.
                at_ns += 1;
            }
        }
        absences
    }

    /// End of the partition between two nodes, if there is one now.
    pub(crate) fn cut_until_ns(&self, now_ns: u64, a: u32, b: u32) -> Option<u64> {
        let cut = self.partitions.iter().filter(|p| {
            let apart = (a >= p.first_node) != (b >= p.first_node);
            apart && (p.from_ns..p.until_ns).contains(&now_ns)
        });
        cut.map(|p| p.until_ns).max()
    }
}
