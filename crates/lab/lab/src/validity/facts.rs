//! Facts about a run, derived from its scenario, that the rules of validity use.

use undertone_gossip::{FloodPublish, PROTOCOLS};
use undertone_sim::Scenario;
use undertone_sim::scenario::{Publishers, Spacing, Topology};

/// Facts about one run.
#[derive(Clone, Copy, Debug)]
pub(super) struct RunFacts<'a> {
    pub(super) scenario: &'a Scenario,
    /// Longest payload, a fragment's if messages are fragmented, bytes.
    pub(super) longest_bytes: u64,
    /// Copies of its own message that a publisher sends.
    pub(super) copies: u64,
    /// Rate of the slowest uplink, bytes per second.
    pub(super) uplink_bytes_per_s: u64,
    /// Whether counted messages may find their publisher's connections cold.
    pub(super) has_cold_messages: bool,
    /// Whether peers send IDONTWANT.
    pub(super) has_idontwant: bool,
    /// Mean time between two messages, nanoseconds; `None` for a single message.
    pub(super) spacing_ns: Option<u64>,
}

impl<'a> RunFacts<'a> {
    pub(super) fn of(scenario: &'a Scenario) -> Self {
        let network = &scenario.network;
        let gossip = &scenario.relay.gossip;
        let payloads = scenario.traffic.payload_bytes.iter();
        let longest = u64::from(payloads.copied().max().unwrap_or(0));
        let connections = connections(scenario);
        let slowest = network.place_rates.iter().map(|(up, _)| *up).min();
        let warm_up = scenario.warm_up_messages;
        let publishers = match scenario.traffic.publishers {
            Publishers::One(_) => 1,
            Publishers::RoundRobin(count) => count,
            Publishers::Random => u32::MAX,
        };
        let protocol = PROTOCOLS
            .iter()
            .find(|known| known.id == scenario.relay.protocol);
        let spacing_ns = match scenario.traffic.spacing {
            Spacing::Constant(ns) | Spacing::Poisson(ns) => ns,
        };
        Self {
            scenario,
            longest_bytes: longest.div_ceil(u64::from(scenario.relay.fragments.max(1))),
            copies: match gossip.flood_publish {
                FloodPublish::Off => connections.min(gossip.degrees.d as u64),
                FloodPublish::On | FloodPublish::BoundedByRate { .. } => connections,
            },
            uplink_bytes_per_s: slowest.unwrap_or(network.uplink_bytes_per_s),
            has_cold_messages: warm_up < publishers || network.slow_start_after_idle,
            has_idontwant: protocol.is_some_and(|known| known.features.idontwant)
                && gossip.idontwant_threshold_bytes != usize::MAX,
            spacing_ns: (scenario.traffic.messages > 1).then_some(spacing_ns),
        }
    }

    /// Share of one uplink that all messages would take if one node published them; 1 is all of it.
    pub(super) fn load(&self) -> f64 {
        let sent =
            (self.longest_bytes * self.copies) as f64 / self.uplink_bytes_per_s.max(1) as f64;
        match self.spacing_ns {
            Some(ns) if ns > 0 => sent / (ns as f64 / 1e9),
            Some(_) => f64::INFINITY,
            None => 0.0,
        }
    }
}

fn connections(scenario: &Scenario) -> u64 {
    let nodes = u64::from(scenario.nodes);
    let all = nodes.saturating_sub(1);
    match &scenario.topology {
        Topology::Dials(dials) => (2 * u64::from(*dials)).min(all),
        Topology::Regular(degree) => u64::from(*degree),
        Topology::Line | Topology::Ring => 2,
        // The publisher is taken to be the centre of the star, which has all connections.
        Topology::Star | Topology::FullMesh => all,
        // Ten that a connection manager dials, and as many that dial the node.
        Topology::Discovery(_) => all.min(20),
        Topology::Edges(edges) => 2 * edges.len() as u64 / nodes.max(1),
    }
}
