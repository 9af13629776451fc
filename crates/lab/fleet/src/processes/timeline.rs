//! Timeline of a run, besides its messages: faults, nodes that join late, and link rates that take effect. It is
//! derived from scenario and plan.

use undertone_link::packet::{Change, Rate};
use undertone_sim::scenario::{Dialling, Fault, FaultKind};
use undertone_sim::{Dial, Plan, Scenario};

/// Parts per million in 1, for the unit of [`Change::Loss`].
const MILLION: f64 = 1e6;

/// Returns the scenario time at which all nodes count as connected, nanoseconds.
pub(crate) fn lead_ns(scenario: &Scenario) -> u64 {
    scenario.start_ns.saturating_add(scenario.start_spread_ns)
}

/// Single act on the network or on a node.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Act {
    /// Change the emulated network.
    Change(Change),
    /// Start a node's process.
    Start(u32),
    /// Make a node connect to another.
    Dial(Dial),
    /// Kill a node's process.
    Kill(u32),
    /// Ask a node's process to end, with SIGTERM.
    Leave(u32),
    /// Make a node publish until the run ends.
    Spam {
        node: u32,
        /// Time between two messages, nanoseconds.
        interval_ns: u64,
    },
}

/// Act with its time, in scenario time.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Planned {
    pub(crate) at_ns: u64,
    pub(crate) act: Act,
}

/// Period in which a node's process runs, in scenario time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Life {
    /// Start of the process; `None` if it starts before all nodes are connected.
    pub(crate) joins_ns: Option<u64>,
    /// End of the process; `None` if it runs to the end of the scenario.
    pub(crate) ends_ns: Option<u64>,
}

impl Life {
    /// Returns a node's life. An end before all nodes are connected is moved to that moment.
    pub(crate) fn of(scenario: &Scenario, plan: &Plan, node: u32) -> Self {
        let lead_ns = lead_ns(scenario);
        Self {
            joins_ns: Some(plan.starts_ns(node)).filter(|at_ns| *at_ns > lead_ns),
            ends_ns: plan.ends_ns(node).map(|at_ns| at_ns.max(lead_ns)),
        }
    }

    /// Whether the process runs at a time.
    pub(crate) fn covers(self, at_ns: u64) -> bool {
        self.joins_ns.is_none_or(|joins_ns| joins_ns <= at_ns)
            && self.ends_ns.is_none_or(|ends_ns| at_ns < ends_ns)
    }
}

/// Returns the connections between nodes that run from the beginning, which are made before the run's
/// messages.
pub(crate) fn early_dials(scenario: &Scenario, plan: &Plan) -> Vec<Dial> {
    let mut dials = plan.dials();
    dials.retain(|dial| is_early(scenario, plan, dial.from) && is_early(scenario, plan, dial.to));
    dials
}

/// Whether the dialling node makes this connection by itself, as one of its configured peers.
pub(crate) fn is_configured(scenario: &Scenario, plan: &Plan, dial: &Dial) -> bool {
    scenario.dialling == Dialling::AtOnce && is_early(scenario, plan, dial.to)
}

fn is_early(scenario: &Scenario, plan: &Plan, node: u32) -> bool {
    Life::of(scenario, plan, node).joins_ns.is_none()
}

/// Whether a fault makes this node a spammer; a node that does not run at the fault's time stays honest.
pub(crate) fn spams(plan: &Plan, fault: &Fault, node: u32) -> bool {
    let is_there = plan.starts_ns(node) <= fault.at_ns
        && plan
            .ends_ns(node)
            .is_none_or(|ends_ns| fault.at_ns < ends_ns);
    matches!(fault.kind, FaultKind::Spam { .. })
        && plan.afflicted(fault).contains(&node)
        && is_there
}

/// Returns all acts to execute once all nodes are connected, in order. Earlier acts of the scenario are moved to
/// that moment; acts after the scenario's end are left out.
pub(crate) fn timeline(scenario: &Scenario, plan: &Plan) -> Vec<Planned> {
    let mut timeline = Builder {
        scenario,
        plan,
        lead_ns: lead_ns(scenario),
        planned: Vec::new(),
        ended: vec![false; scenario.nodes as usize],
    };
    timeline.limit_rates();
    timeline.join();
    let mut faults: Vec<_> = (0..).zip(&scenario.faults).collect();
    faults.sort_by_key(|(_, fault)| fault.at_ns);
    for (number, fault) in faults {
        timeline.fault(number, fault);
    }
    let mut planned = timeline.planned;
    planned.retain(|planned| planned.at_ns <= plan.end_ns());
    // The sort is stable, so simultaneous acts keep the order of the scenario.
    planned.sort_by_key(|planned| planned.at_ns);
    planned
}

struct Builder<'a> {
    scenario: &'a Scenario,
    plan: &'a Plan,
    lead_ns: u64,
    planned: Vec<Planned>,
    /// Whether a fault has ended the node already, by node.
    ended: Vec<bool>,
}

impl Builder<'_> {
    fn at(&mut self, at_ns: u64, act: Act) {
        let at_ns = at_ns.max(self.lead_ns);
        self.planned.push(Planned { at_ns, act });
    }

    fn limit_rates(&mut self) {
        let until_ns = self.scenario.network.unlimited_until_ns;
        if until_ns > 0 {
            for host in 0..self.scenario.nodes {
                self.rates(until_ns, host, 1.0);
            }
        }
    }

    fn rates(&mut self, at_ns: u64, host: u32, factor: f64) {
        let (uplink, downlink) = self.plan.rates(host);
        let scaled = |rate: u64| Rate::bytes_per_s(((rate as f64 * factor) as u64).max(1));
        let change = Change::Rates {
            host,
            uplink: scaled(uplink),
            downlink: scaled(downlink),
        };
        self.at(at_ns, Act::Change(change));
    }

    fn join(&mut self) {
        for node in 0..self.scenario.nodes {
            let life = Life::of(self.scenario, self.plan, node);
            if let Some(joins_ns) = life.joins_ns {
                self.at(joins_ns, Act::Start(node));
            }
        }
        let early = early_dials(self.scenario, self.plan);
        for dial in self.plan.dials() {
            if !early.contains(&dial) && !is_configured(self.scenario, self.plan, &dial) {
                self.at(dial.at_ns, Act::Dial(dial));
            }
        }
    }

    fn fault(&mut self, number: u32, fault: &Fault) {
        let nodes = self.plan.afflicted(fault);
        let at_ns = fault.at_ns;
        match fault.kind {
            FaultKind::Crash { noticed_after_ns } => {
                for host in nodes {
                    if self.ends(host, at_ns) {
                        // The host's packets are held back, so that peers notice the closed connections only later.
                        self.at(at_ns, Act::Change(Change::Hold { host }));
                        self.at(at_ns, Act::Kill(host));
                        let noticed_ns = at_ns.saturating_add(noticed_after_ns);
                        self.at(noticed_ns, Act::Change(Change::Release { host }));
                    }
                }
            }
            FaultKind::Leave => {
                for node in nodes {
                    if self.ends(node, at_ns) {
                        self.at(at_ns, Act::Leave(node));
                    }
                }
            }
            FaultKind::Partition { for_ns } => {
                let (cut, hosts) = (number, nodes.collect());
                self.at(at_ns, Act::Change(Change::Cut { cut, hosts }));
                let until_ns = at_ns.saturating_add(for_ns);
                self.at(until_ns, Act::Change(Change::Heal { cut }));
            }
            FaultKind::Slow { factor } => {
                let binds_ns = self.scenario.network.unlimited_until_ns;
                for host in nodes {
                    self.rates(at_ns.max(binds_ns), host, factor);
                }
            }
            FaultKind::Lossy { loss } => {
                let ppm = (loss * MILLION).round() as u32;
                for host in nodes {
                    self.at(at_ns, Act::Change(Change::Loss { host, ppm }));
                }
            }
            FaultKind::Spam { interval_ns } => {
                for node in nodes {
                    if spams(self.plan, fault, node) {
                        self.at(at_ns, Act::Spam { node, interval_ns });
                    }
                }
            }
            // Joins follow from the plan, clocks are set when processes start, and silent nodes are refused before.
            FaultKind::Join | FaultKind::ClockSkew { .. } | FaultKind::Silent => {}
        }
    }

    /// Whether the fault at this time is the one that ends the node.
    fn ends(&mut self, node: u32, at_ns: u64) -> bool {
        let ended = &mut self.ended[node as usize];
        let ends = !*ended && self.plan.ends_ns(node) == Some(at_ns);
        *ended |= ends;
        ends
    }
}

#[cfg(test)]
#[path = "tests/timeline.rs"]
mod tests;
