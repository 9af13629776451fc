//! One run: starts nodes, publishes messages, gathers logs and stops the nodes.

use std::collections::BTreeSet;
use std::sync::mpsc;
use std::thread;
use std::time::{Duration, Instant};

use serde::Serialize;
use undertone_lab::report::{Stopwatch, Summary};
use undertone_lab::scenario::Loaded;
use undertone_node::delivery_log::MonotonicNs;
use undertone_sim::{Dial, Plan};
use undertone_testbed::{PumpReport, Testbed, can_run};

use super::error::RunError;
use super::folder::{self, RunFolder};
use super::gather::{self, Observed};
use super::nodes::{self, Setup};
use super::timeline::{lead_ns, timeline};
use super::traffic::UnsentMessages;
use super::{faults, memory, network, refuse, traffic};
use crate::Progress;

/// Scenario to run, and how to run it.
pub(crate) struct TestbedRunner<'a> {
    pub(crate) loaded: &'a Loaded,
    pub(crate) setup: &'a Setup,
    pub(crate) progress: &'a dyn Progress,
    /// Commit that the program was built from, for the summary.
    pub(crate) commit: &'a str,
}

/// Results of one run.
#[derive(Debug)]
pub(crate) struct RunResult {
    pub(crate) plan: Plan,
    pub(crate) observed: Observed,
    pub(crate) summary: Summary,
    pub(crate) packets: Packets,
    /// Numbers of the messages that did not leave their publishers.
    pub(crate) unsent: BTreeSet<u32>,
    /// Notes on differences from the plan.
    pub(crate) notes: Vec<String>,
}

fn notes(unsent: &UnsentMessages, undialled: &[Dial]) -> Vec<String> {
    let dials = undialled.iter();
    let dials = dials.map(|dial| format!("node {} did not connect to node {}", dial.from, dial.to));
    let mut notes: Vec<_> = dials.collect();
    if !unsent.messages.is_empty() {
        let count = unsent.messages.len();
        notes.push(format!("{count} messages did not leave their publishers"));
    }
    // One refusal represents all, because they differ only in their numbers.
    let refusal = unsent.refusals.first();
    notes.extend(
        refusal.map(|first| format!("refused, the first of {}: {first}", unsent.refusals.len())),
    );
    notes
}

/// Packet counts and lateness of the emulated network.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Packets {
    /// Number of packets delivered.
    pub delivered: u64,
    /// Number of packets lost by chance.
    pub lost: u64,
    /// Number of packets dropped at a partition.
    pub cut: u64,
    /// Number of packets dropped by queues.
    pub queue_dropped: u64,
    /// Mean delay between a packet's due time and its delivery, microseconds.
    pub late_mean_us: f64,
    /// Largest delay between a packet's due time and its delivery, microseconds.
    pub late_max_us: f64,
}

impl From<PumpReport> for Packets {
    fn from(report: PumpReport) -> Self {
        Self {
            delivered: report.delivered,
            lost: report.lost,
            cut: report.cut,
            queue_dropped: report.queue_dropped,
            late_mean_us: report.late_mean_ns() as f64 / 1e3,
            late_max_us: report.late_max_ns as f64 / 1e3,
        }
    }
}

impl TestbedRunner<'_> {
    /// Runs the scenario with a seed, which determines connections, delays and messages as in the simulator.
    pub(crate) fn run(&self, seed: u64) -> Result<RunResult, RunError> {
        let scenario = &self.loaded.scenario;
        let flags = nodes::flags(scenario, self.setup);
        refuse::check(scenario)?;
        // A configuration that a node would refuse is reported before any node starts.
        nodes::config(&flags)?;
        let plan = Plan::new(scenario, seed)?;
        memory::check(scenario.nodes)?;
        can_run()?;
        let watch = Stopwatch::start();
        let progress = self.progress;
        let say = |what: &str| progress.step(&format!("{}, seed {seed}: {what}", scenario.name));
        say(&format!("starting {} nodes", scenario.nodes));
        // Dropped in reverse order: processes, namespaces, files.
        let folder = RunFolder::make(&folder::base())?;
        let testbed = Testbed::start(&network::config(scenario, &plan, seed)?)?;
        let flags = nodes::command_line(&flags, &self.loaded.relay_parameters, &folder)?;
        let mut nodes = nodes::start(scenario, &plan, self.setup, &flags, (&testbed, &folder))?;
        let (ready, ready_at) = (Instant::now(), MonotonicNs::now());
        let lead_ns = lead_ns(scenario);
        let zero_ns = ready_at.as_ns().saturating_sub(lead_ns);
        say("nodes are connected");
        let timeline = timeline(scenario, &plan);
        let (unsent, undialled) = thread::scope(|scope| {
            // Dropped when this block ends, also by an error, which cancels the rest of the timeline.
            let (running, is_running) = mpsc::channel();
            let (nodes, testbed) = (&mut nodes, &testbed);
            let acting = scope.spawn(move || {
                let zero = (ready, lead_ns);
                faults::carry_out(timeline, nodes, testbed, zero, &is_running)
            });
            let unsent = traffic::publish(scenario, &plan, testbed, ready, |message| {
                say(&format!(
                    "message {} of {}",
                    message + 1,
                    scenario.traffic.messages
                ));
            })?;
            say("waiting for the last deliveries");
            let drained = Instant::now() + Duration::from_nanos(scenario.drain_ns);
            let end = ready + Duration::from_nanos(plan.end_ns().saturating_sub(lead_ns));
            traffic::sleep_until(drained.max(end));
            drop(running);
            let undialled = acting.join().expect("faults do not panic")?;
            Ok::<_, RunError>((unsent, undialled))
        })?;
        for node in &mut nodes {
            node.check()?;
        }
        let mut ends = gather::ask(&nodes, &testbed)?;
        ends.unsent.clone_from(&unsent.messages);
        let packets = testbed.report();
        let dropped = packets.lost + packets.cut + packets.queue_dropped;
        let observed = gather::gather(
            scenario,
            &plan,
            seed,
            &nodes,
            ends,
            (zero_ns, MonotonicNs::now().as_ns()),
            (packets.delivered, dropped),
        )?;
        progress.finish();
        let summary = Summary::new(scenario, &observed.outcome, watch.read(), self.commit)
            .resolved(self.loaded.resolved.clone());
        Ok(RunResult {
            plan,
            observed,
            summary,
            packets: packets.into(),
            notes: notes(&unsent, &undialled),
            unsent: unsent.messages,
        })
    }
}
