//! What a scenario promises once its faults are over: which nodes get a message, and by when.
//!
//! A node that has a message either pushes it to a peer, as the peer is in its mesh, or may announce it to the peer by
//! IHAVE at each of the next `history_gossip` heartbeats. Which peers are in the mesh is known only where all are;
//! elsewhere every peer counts as one of those among which the announcements are shared out. A node is expected to get
//! a message if it does so by such links, except for a chance of one in 10^6 ([`reach`](super::reach)), and the meshes
//! make that rarer still.

use std::collections::{BTreeMap, BTreeSet};

use undertone_gossip::{Config, StrategyKind};
use undertone_sim::scenario::{Policy, Topology};
use undertone_sim::{Plan, Scenario};

use super::fate::{Fate, fate};
use super::reach::{self, ENOUGH, Links, Piece, SURE};
use super::times::{
    DOUBLINGS_MAX, from_ns, longest_delay_ns, patience_ns, policies, slowest_bytes_per_s,
};
use crate::support::{MS, S};

/// Chance of a run of losses of one packet that is not allowed for, as the campaign sends some 10^9 packets.
const LOST_IN_A_ROW: f64 = 1e-10;

/// Difference between a message's time and a node's clock from which the message is dropped on networks with a rate
/// limit.
const CLOCK_GAP_NS: u64 = 20 * S;

/// Chance that a node that is not in a peer's mesh is taken into it just when the peer has a message: after the peer has
/// pushed it to the mesh, and before it announces it to the others. The node then gets neither. That can happen once in a
/// backoff of 60 s or more, within a heartbeat.
const GRAFTED: f64 = 1.0 / 60.0;

/// Announcing peers that an implementation asks at once.
const ALL_AT_ONCE: usize = 1_000;

/// A network after its faults.
pub(crate) struct Healed<'a> {
    scenario: &'a Scenario,
    pub(crate) plan: Plan,
    fates: Vec<Fate>,
    /// Peers of each node that live to the end.
    peers: Vec<Vec<u32>>,
    /// Adversaries that stay, each of which may be a peer of any node.
    adversaries: u32,
    /// Whether they announce messages.
    do_announce: bool,
    /// Time from which messages are expected to arrive.
    pub(crate) from_ns: u64,
    hop: Hop,
    /// Time that each node may lose by asking peers that announce and do not send.
    asked_ns: Vec<u64>,
    /// Time for which a message can be asked for after its last announcement.
    kept_ns: u64,
    /// By topic, once they are needed.
    pieces: BTreeMap<u32, (Links, Vec<Piece>)>,
}

/// Time that a message takes from a node to its peer, and until the peer has checked it.
#[derive(Clone, Copy, Debug, Default)]
struct Hop {
    /// If it is announced at the last heartbeat, packets are lost again and again, and others are asked first.
    longest_ns: u64,
    /// If it is announced at the first heartbeat, and no packet is lost.
    likely_ns: u64,
    /// From the first to the last announcement.
    announced_ns: u64,
}

/// Hops within which a node has a message.
#[derive(Clone, Copy, Debug)]
struct Hops {
    most: u64,
    likely: u64,
}

impl Hops {
    fn next(self) -> Self {
        let (most, likely) = (self.most + 1, self.likely + 1);
        Self { most, likely }
    }

    fn max(self, other: Self) -> Self {
        Self {
            most: self.most.max(other.most),
            likely: self.likely.max(other.likely),
        }
    }
}

/// The longest time within which a message is expected anywhere.
pub(crate) fn latest_ns(scenario: &Scenario, seed: u64) -> u64 {
    let mut healed = Healed::new(scenario, seed);
    let mut latest_ns = 0;
    let all =
        (0..scenario.nodes).flat_map(|node| (0..scenario.relay.topics).map(move |t| (node, t)));
    let mut pairs: BTreeSet<_> = scenario
        .listed
        .iter()
        .map(|m| (m.publisher, m.topic))
        .collect();
    if pairs.is_empty() {
        pairs = all.collect();
    }
    for (publisher, topic) in pairs {
        if healed.is_heard(publisher) {
            let expected = healed.expected(publisher, topic).into_iter();
            latest_ns = expected.flatten().fold(latest_ns, u64::max);
        }
    }
    latest_ns + S
}

impl<'a> Healed<'a> {
    pub(crate) fn new(scenario: &'a Scenario, seed: u64) -> Self {
        // Nodes that look for peers have no connections in the plan.
        let mut planned = scenario.clone();
        if scenario.topology.discovery().is_some() {
            planned.topology = Topology::Ring;
        }
        let plan = Plan::new(&planned, seed).expect("the scenario is valid");
        let fates: Vec<_> = (0..scenario.nodes)
            .map(|node| fate(scenario, &plan, node))
            .collect();
        let mut peers = vec![Vec::new(); scenario.nodes as usize];
        for dial in plan.dials() {
            let (a, b) = (dial.from, dial.to);
            if a.max(b) < scenario.nodes && [a, b].iter().all(|node| fates[*node as usize].lives) {
                peers[a as usize].push(b);
                peers[b as usize].push(a);
            }
        }
        let stay = policies(scenario).filter(|(policy, _)| policy.leaves_ns.is_none());
        let stay: Vec<_> = stay.collect();
        let announce = |policy: &Policy| policy.announce > 0.0 || policy.announce_false > 0;
        let mut healed = Self {
            scenario,
            plan,
            peers,
            adversaries: stay.iter().map(|(_, count)| count).sum(),
            do_announce: stay.iter().any(|(policy, _)| announce(policy)),
            from_ns: from_ns(scenario),
            hop: Hop::default(),
            asked_ns: Vec::new(),
            kept_ns: 0,
            pieces: BTreeMap::new(),
            fates,
        };
        healed.asked_ns = (0..scenario.nodes).map(|node| healed.asked(node)).collect();
        healed.kept_ns = healed.kept();
        healed.hop = healed.hop();
        healed
    }

    fn is_found(&self) -> bool {
        self.scenario.topology.discovery().is_some()
    }

    fn gossip(&self, node: u32) -> &Config {
        let group = self.scenario.group_of(node);
        let own = group.and_then(|group| self.scenario.groups[group].relay.as_ref());
        own.map_or(&self.scenario.relay.gossip, |own| &own.gossip)
    }

    /// Time for an announcement, a request and a message to a peer, and to check the message there.
    fn hop(&self) -> Hop {
        let scenario = self.scenario;
        let degree = self.peers.iter().map(Vec::len).max().unwrap_or(0) as u64;
        let degree = match self.is_found() {
            true => u64::from(scenario.nodes),
            false => degree + u64::from(self.adversaries),
        };
        let bytes = scenario.traffic.payload_bytes.iter().max().copied();
        // Proof, envelope and framing.
        let bytes = u64::from(bytes.unwrap_or(0)) + 1_000 * u64::from(scenario.relay.fragments);
        let slow = self.fates.iter().map(|fate| fate.slow).fold(1.0, f64::min);
        let rate = slowest_bytes_per_s(scenario) as f64 * slow;
        // The sender's copies for all of its peers, and those of all of the receiver's peers.
        let copies_ns = ((2 * degree * bytes) as f64 / rate * 1e9) as u64;
        let windows = u64::from((bytes / 14_480 + 1).ilog2());
        let delay_ns = longest_delay_ns(scenario);
        // Runs of lost packets, and one loss in a full queue.
        let loss = self.loss();
        let run = match loss > 0.0 {
            true => (LOST_IN_A_ROW.ln() / loss.ln()).ceil() as i32,
            false => 0,
        };
        let lost_ns = patience_ns(scenario) << (run.min(DOUBLINGS_MAX) + 1);
        let groups = scenario.groups.iter().filter_map(|group| group.cpu);
        let cpus = groups.chain([scenario.cpu]);
        let cpu_ns = cpus.map(|cpu| cpu.per_frame_ns + cpu.per_kb_ns * (bytes / 1000 + 1));
        let cpu_ns = cpu_ns.max().unwrap_or(0) * 4 * degree;
        let checked_ns = scenario.rln.as_ref().map_or(0, |_| 200 * MS);
        let configs = (0..scenario.nodes).map(|node| self.gossip(node));
        let waits = configs.clone().map(|config| {
            config.large.transfer_wait.max(config.large.iwant_delay) + config.large.iwant_retry
        });
        let wait_ns = waits.max().unwrap_or_default().as_nanos() as u64;
        let heartbeats = configs.clone().map(|config| config.heartbeat);
        let heartbeat_ns = heartbeats.max().unwrap_or_default().as_nanos() as u64;
        let history = configs.map(|config| config.history_gossip).max();
        let announced_ns = heartbeat_ns * history.unwrap_or(1).saturating_sub(1) as u64;
        let asked = self.asked_ns.iter().copied();
        let asked_ns = asked.filter(|ns| *ns <= self.kept_ns).max().unwrap_or(0);
        let delays_ns = (3 + 2 * windows) * delay_ns;
        let likely_ns = heartbeat_ns + delays_ns + copies_ns + cpu_ns + checked_ns + asked_ns;
        Hop {
            longest_ns: likely_ns + announced_ns + lost_ns + wait_ns,
            likely_ns,
            announced_ns,
        }
    }

    /// The largest probability that a packet is lost between two nodes.
    fn loss(&self) -> f64 {
        let groups = self.scenario.groups.iter().map(|group| group.added_loss);
        let group = groups.fold(0.0, f64::max);
        let own = self.fates.iter().map(|fate| fate.loss).fold(0.0, f64::max);
        let kept = (1.0 - self.scenario.network.loss)
            * (1.0 - group)
            * (1.0 - group)
            * (1.0 - own)
            * (1.0 - own);
        1.0 - kept
    }

    /// Whether a message of a node is expected to arrive anywhere.
    pub(crate) fn is_heard(&self, publisher: u32) -> bool {
        let fate = self.fates.get(publisher as usize);
        fate.is_some_and(Fate::carries)
    }

    pub(crate) fn has_adversaries(&self) -> bool {
        self.adversaries > 0
    }

    /// The number of peers that a node has at the end, with and without those that are banned.
    pub(crate) fn connections(&self, node: u32) -> Option<std::ops::RangeInclusive<u32>> {
        if self.is_found() || self.has_adversaries() || !self.fates[node as usize].is_sound() {
            return None;
        }
        let peers = &self.peers[node as usize];
        let kept = peers
            .iter()
            .filter(|peer| self.fates[**peer as usize].is_sound());
        Some(kept.count() as u32..=peers.len() as u32)
    }

    /// Time within which each node has a message of this publisher and topic; `None` for nodes that need not have it.
    pub(crate) fn expected(&mut self, publisher: u32, topic: u32) -> Vec<Option<u64>> {
        if self.is_found() {
            return self.expected_of_found(publisher, topic);
        }
        if !self.pieces.contains_key(&topic) {
            let known = self.linked(topic);
            self.pieces.insert(topic, known);
        }
        let (links, pieces) = &self.pieces[&topic];
        let mut weights = vec![0.0; self.scenario.nodes as usize];
        // The soonest by a link that works for certain, and the latest by the others.
        let mut sure: Vec<Option<Hops>> = vec![None; weights.len()];
        let mut others: Vec<Option<Hops>> = vec![None; weights.len()];
        let mut hops: Vec<Option<Hops>> = vec![None; weights.len()];
        let mut known = vec![false; weights.len()];
        let mut open: Vec<_> = pieces.iter().collect();
        let mut new = vec![(publisher, Hops { most: 0, likely: 0 })];
        while !new.is_empty() {
            for (node, at) in std::mem::take(&mut new) {
                if std::mem::replace(&mut known[node as usize], true) || !self.is_in_time(at) {
                    continue;
                }
                hops[node as usize] = Some(at);
                if node != publisher && !self.fates[node as usize].carries() {
                    continue;
                }
                for (to, weight) in &links[node as usize] {
                    let (to, weight) = (*to as usize, *weight);
                    weights[to] += weight;
                    let next = at.next();
                    match weight >= SURE {
                        true if sure[to].is_none() => sure[to] = Some(next),
                        true => {}
                        false => others[to] = Some(others[to].map_or(next, |last| last.max(next))),
                    }
                }
            }
            let reached = (0..)
                .zip(&weights)
                .filter(|(node, weight)| !known[*node as usize] && **weight >= ENOUGH);
            let at = |node: u32| sure[node as usize].or(others[node as usize]);
            new.extend(reached.filter_map(|(node, _)| Some((node, at(node)?))));
            open.retain(|piece| {
                let inside = piece.nodes.iter().filter_map(|node| hops[*node as usize]);
                let weight: f64 = piece.nodes.iter().map(|node| weights[*node as usize]).sum();
                let outside = piece.nodes.iter().filter_map(|node| at(*node));
                let begun = match inside.min_by_key(|hops| hops.most) {
                    None if weight >= ENOUGH => outside.reduce(Hops::max),
                    begun => begun,
                };
                let Some(begun) = begun else { return true };
                // Where a shortest way fails, there are others.
                let diameter = u64::from(piece.diameter);
                let all = Hops {
                    most: begun.most + 2 * diameter + 2,
                    likely: begun.likely + diameter + 1,
                };
                new.extend(piece.nodes.iter().map(|node| (*node, all)));
                false
            });
        }
        hops[publisher as usize] = None;
        let within = |hops: Hops| self.proved_ns() + hops.most * self.hop.longest_ns;
        hops.into_iter().map(|hops| hops.map(within)).collect()
    }

    /// The same for nodes that look for peers: each has ten or more, chosen at random.
    fn expected_of_found(&self, publisher: u32, topic: u32) -> Vec<Option<u64>> {
        let hops = Hops { most: 8, likely: 4 };
        let is_reached = |node: u32| {
            let fate = &self.fates[node as usize];
            node != publisher
                && fate.receives()
                && self.joins(node, topic)
                && self.is_in_time(hops)
                && self.asked_ns[node as usize] == 0
        };
        let within_ns = self.proved_ns() + hops.most * self.hop.longest_ns;
        (0..self.scenario.nodes)
            .map(|node| is_reached(node).then_some(within_ns))
            .collect()
    }

    fn joins(&self, node: u32, topic: u32) -> bool {
        self.scenario.joins(node, topic)
    }

    fn proved_ns(&self) -> u64 {
        self.scenario
            .rln
            .as_ref()
            .map_or(0, |rln| rln.generation_ns)
    }

    /// All links of a topic, and the pieces that those who pass messages on form.
    fn linked(&self, topic: u32) -> (Links, Vec<Piece>) {
        let receives =
            |node: &u32| self.fates[*node as usize].receives() && self.joins(*node, topic);
        let nodes = 0..self.scenario.nodes;
        let links: Links = nodes
            .map(|node| self.links(node, topic, receives))
            .collect();
        let carries = |node: u32| self.fates[node as usize].carries() && self.joins(node, topic);
        let carried = (0..).zip(&links).map(|(node, links)| {
            let links = links.iter().copied();
            links
                .filter(|(to, _)| carries(node) && carries(*to))
                .collect()
        });
        let pieces = reach::pieces(&carried.collect());
        (links, pieces)
    }

    /// Links from a node to those of its peers that a condition holds for.
    fn links(&self, node: u32, topic: u32, to: impl Fn(&u32) -> bool) -> Vec<(u32, f64)> {
        let share = self.announced(node, topic);
        let missed = (1.0 - share).powi(self.gossip(node).history_gossip as i32);
        let peers = self.peers[node as usize].iter().copied().filter(to);
        // Nodes that are announced too much that is not sent may ask too late, and nodes that flood ask for nothing.
        let floods = |node: u32| self.gossip(node).strategy == StrategyKind::Flood;
        let peers = peers.filter(|peer| {
            self.asked_ns[*peer as usize] <= self.kept_ns && (floods(node) || !floods(*peer))
        });
        let weight = |peer: u32| match floods(node) || self.is_lasting(node, peer, topic) {
            true => SURE,
            false => -(missed + GRAFTED).ln(),
        };
        peers.map(|peer| (peer, weight(peer))).collect()
    }

    /// Whether two peers are in each other's meshes for good, once no backoff is left: one of them wants all of its
    /// peers, and the other never has too many.
    fn is_lasting(&self, a: u32, b: u32, topic: u32) -> bool {
        let [one, other] = [a, b].map(|node| {
            let degrees = &self.gossip(node).degrees;
            let peers = self.subscribers(node, topic);
            (peers <= degrees.d_low, peers <= degrees.d_high)
        });
        self.joins(a, topic) && self.joins(b, topic) && (one.0 && other.1 || one.1 && other.0)
    }

    /// Number of a node's peers that subscribe to a topic, with adversaries.
    fn subscribers(&self, node: u32, topic: u32) -> usize {
        let peers = self.peers[node as usize].iter();
        let peers = peers.filter(|peer| self.joins(**peer, topic));
        peers.count() + self.adversaries as usize
    }

    /// Whether a node accepts a message by its clock.
    fn is_in_time(&self, hops: Hops) -> bool {
        if self.scenario.rln.is_none() {
            return true;
        }
        let heard = self.fates.iter().filter(|fate| fate.receives());
        let skews = heard.map(|fate| fate.skew_ns);
        let apart_ns = skews.clone().max().unwrap_or(0) - skews.min().unwrap_or(0);
        let once_ns = self.proved_ns() + self.hop.announced_ns + patience_ns(self.scenario);
        let age_ns = once_ns + hops.likely * self.hop.likely_ns;
        age_ns + apart_ns as u64 <= CLOCK_GAP_NS
    }

    /// Time that a node may lose by asking peers that announce and do not send, one after another.
    fn asked(&self, node: u32) -> u64 {
        let config = self.gossip(node);
        let give_up = config.iwant_give_up.max(config.large.iwant_retry);
        match config.iwant_in_flight_max < ALL_AT_ONCE {
            true => give_up.as_nanos() as u64 * u64::from(self.unanswered(node)),
            false => 0,
        }
    }

    /// Time for which a message can be asked for after its last announcement.
    fn kept(&self) -> u64 {
        let configs = (0..self.scenario.nodes).map(|node| self.gossip(node));
        let kept =
            configs.map(|own| own.heartbeat * (own.history_length - own.history_gossip) as u32);
        kept.min().unwrap_or_default().as_nanos() as u64
    }

    /// Peers that may announce a message and not send it.
    fn unanswered(&self, node: u32) -> u32 {
        let is_silent = |peer: &&u32| {
            let fate = &self.fates[**peer as usize];
            fate.lives && fate.is_silent
        };
        let everybody: Vec<u32> = (0..self.scenario.nodes).collect();
        let peers = match self.is_found() {
            true => &everybody,
            false => &self.peers[node as usize],
        };
        let silent = peers.iter().filter(is_silent).count() as u32;
        silent
            + if self.do_announce {
                self.adversaries
            } else {
                0
            }
    }

    /// The smallest share of its peers to which a node announces a message at a heartbeat.
    fn announced(&self, node: u32, topic: u32) -> f64 {
        let config = self.gossip(node);
        if config.strategy == StrategyKind::Flood {
            return 1.0;
        }
        let peers = self.subscribers(node, topic);
        let share = (peers as f64 * config.gossip_factor) as usize;
        (share.max(config.degrees.d_lazy) as f64 / peers.max(1) as f64).min(1.0)
    }
}
