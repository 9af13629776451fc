//! Runs a scenario and checks it.

use std::collections::BTreeMap;
use std::fmt;
use std::panic::{AssertUnwindSafe, catch_unwind};

use undertone_sim::scenario::{FaultKind, TroubleKind};
use undertone_sim::{Outcome, RunOptions, Scenario, run};

use super::healed::Healed;

/// What was checked.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Verdict {
    pub(crate) runs: u64,
    /// Runs that were repeated on several threads.
    repeated: u64,
    /// Messages that were published after the faults.
    messages: u64,
    /// Deliveries of these messages that were required.
    pub(crate) required: u64,
    /// Deliveries that a network without faults would make of them.
    possible: u64,
    /// Deliveries to light clients that were required.
    light: u64,
    events: u64,
    virtual_s: u64,
}

impl Verdict {
    pub(crate) fn add(&mut self, other: &Self) {
        self.runs += other.runs;
        self.repeated += other.repeated;
        self.messages += other.messages;
        self.required += other.required;
        self.possible += other.possible;
        self.light += other.light;
        self.events += other.events;
        self.virtual_s += other.virtual_s;
    }
}

impl fmt::Display for Verdict {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "{} runs, {} of them repeated; {} messages after the faults, {} of {} deliveries required; {} deliveries \
             to light clients required; {} events in {} virtual hours",
            self.runs,
            self.repeated,
            self.messages,
            self.required,
            self.possible,
            self.light,
            self.events,
            self.virtual_s / 3600
        )
    }
}

fn ran(scenario: &Scenario, seed: u64, threads: usize) -> Result<Outcome, String> {
    let options = RunOptions::new(seed).threads(threads);
    let result = catch_unwind(AssertUnwindSafe(|| run(scenario, options, &mut |_| {})));
    let result = result.map_err(|panic| {
        let text = panic.downcast_ref::<String>().cloned();
        let text = text.or(panic.downcast_ref::<&str>().map(|text| (*text).to_owned()));
        format!("panic: {}", text.unwrap_or_default())
    })?;
    result.map_err(|error| format!("not a valid scenario: {error}"))
}

/// Runs a scenario, a second time on several threads if `repeats`.
pub(crate) fn judge(scenario: &Scenario, seed: u64, repeats: bool) -> Result<Verdict, String> {
    let outcome = ran(scenario, seed, 1)?;
    if let Some(first) = outcome.violations.first() {
        let count = outcome.violations.len();
        return Err(format!("{count} violations of rules, first {first:?}"));
    }
    if repeats {
        let threads = 2 + seed as usize / 10 % 2;
        let again = ran(scenario, seed, threads)?;
        let is_same = again.trace_hash == outcome.trace_hash
            && again.deliveries == outcome.deliveries
            && again.nodes == outcome.nodes
            && again.services == outcome.services
            && again.attack == outcome.attack;
        if !is_same {
            return Err(format!("another outcome on {threads} threads"));
        }
    }
    let mut verdict = Verdict {
        runs: 1,
        repeated: u64::from(repeats),
        events: outcome.events,
        virtual_s: outcome.virtual_ns / 1_000_000_000,
        ..Verdict::default()
    };
    check_healed(scenario, seed, &outcome, &mut verdict)?;
    check_light(scenario, &outcome, &mut verdict)?;
    Ok(verdict)
}

fn check_healed(
    scenario: &Scenario,
    seed: u64,
    outcome: &Outcome,
    verdict: &mut Verdict,
) -> Result<(), String> {
    let mut healed = Healed::new(scenario, seed);
    let received = outcome.deliveries.iter();
    let received: BTreeMap<_, _> = received
        .map(|d| ((d.message, d.receiver), d.received_ns))
        .collect();
    let mut known = BTreeMap::new();
    for message in &outcome.messages {
        let (number, publisher) = (message.index, message.publisher);
        if message.published_ns < healed.from_ns || !healed.is_heard(publisher) {
            continue;
        }
        let topic = healed.plan.topic(number);
        let shard = topic
            .rsplit('/')
            .next()
            .and_then(|shard| shard.parse().ok());
        let topic: u32 = shard.expect("the name of a shard ends in its number");
        let expected = known
            .entry((publisher, topic))
            .or_insert_with(|| healed.expected(publisher, topic));
        verdict.messages += 1;
        verdict.possible += u64::from(scenario.nodes - 1);
        for (node, within_ns) in (0..).zip(&*expected) {
            let Some(within_ns) = within_ns else { continue };
            let by_ns = message.published_ns + within_ns;
            if by_ns > outcome.virtual_ns {
                return Err(format!("the run ends before message {number} is due"));
            }
            verdict.required += 1;
            let received_ns = received.get(&(number, node)).copied();
            if received_ns.is_none_or(|at_ns| at_ns > by_ns) {
                let s = |ns: u64| ns as f64 / 1e9;
                return Err(format!(
                    "message {number} of node {publisher} on topic {topic} at {:.3} s, healed since {:.3} s, is due \
                     at node {node} by {:.3} s and came at {:.3?}",
                    s(message.published_ns),
                    s(healed.from_ns),
                    s(by_ns),
                    received_ns.map(s)
                ));
            }
        }
    }
    for (node, connections) in (0..).zip(&outcome.connections) {
        // Connections may be on their way in a run that was made shorter.
        let is_over = outcome.virtual_ns >= healed.from_ns;
        let kept = healed.connections(node).filter(|_| is_over);
        if let Some(kept) = kept.filter(|kept| !kept.contains(connections)) {
            return Err(format!(
                "node {node} has {connections} connections at the end, not {kept:?}"
            ));
        }
    }
    Ok(())
}

/// Whether light clients get every message in the end: their own faults and those of relays end, and the last service
/// node has all history and is known to all.
pub(crate) fn is_light_served(scenario: &Scenario) -> bool {
    let Some(setup) = &scenario.services else {
        return false;
    };
    let is_gentle =
        |kind: &FaultKind| matches!(kind, FaultKind::Slow { .. } | FaultKind::Lossy { .. });
    let is_true =
        |peer: u32, kind: TroubleKind| peer + 1 < setup.service_nodes || kind == TroubleKind::Mute;
    scenario.adversaries() == 0
        && setup.store
        && setup.peers_per_client == setup.service_nodes
        && scenario.faults.iter().all(|fault| is_gentle(&fault.kind))
        && setup.troubles.iter().all(|t| is_true(t.peer, t.kind))
}

fn check_light(
    scenario: &Scenario,
    outcome: &Outcome,
    verdict: &mut Verdict,
) -> Result<(), String> {
    let Some(light) = outcome.services.as_ref() else {
        return Ok(());
    };
    if !is_light_served(scenario) {
        return Ok(());
    }
    verdict.light += light.expected;
    match light.missing {
        0 => Ok(()),
        missing => Err(format!(
            "{missing} of {} deliveries to light clients were not made",
            light.expected
        )),
    }
}
