//! Conversion of tables to a scenario, one file for each table.

mod faults;
mod network;
mod places;
mod relay;
mod rln;
mod score;
mod topology;
mod traffic;

use std::path::Path;

use undertone_gossip::Config;
use undertone_sim::Scenario;
use undertone_sim::scenario::{Cpu, Traffic};

use super::section::{S, Section, US};
use super::tree::Entry;
use super::{Loaded, ScenarioError};

/// Largest number of nodes that the reader accepts.
const MAX_NODES: u64 = 10_000_000;

const TABLES: &[&str] = &[
    "scenario", "topology", "network", "relay", "rln", "cpu", "traffic", "faults",
];
const SCENARIO: &[&str] = &["description", "nodes", "start_s", "start_spread_s"];
const CPU: &[&str] = &["per_frame_us", "per_kb_us"];

/// Reads a whole scenario file.
pub(super) fn read(
    root_entry: &Entry,
    name: &str,
    folder: Option<&Path>,
) -> Result<Loaded, ScenarioError> {
    let root = Section::new(root_entry, String::new(), TABLES)?;
    let general = root.below("scenario", SCENARIO)?;
    let nodes_expected = format!("a whole number from 2 to {MAX_NODES}");
    let nodes: u32 = general
        .whole("nodes", 2, MAX_NODES)?
        .ok_or_else(|| general.bad("nodes", nodes_expected))?;
    let traffic = traffic::read(&root, nodes)?;
    let relay = relay::read(&root)?;
    let (topology, dialling) = topology::read(&root, nodes)?;
    let mut scenario = Scenario::plain(nodes);
    scenario.name = name.to_owned();
    scenario.topology = topology;
    scenario.dialling = dialling;
    scenario.network = network::read(&root, folder)?;
    scenario.relay = relay;
    scenario.rln = rln::read(&root)?;
    scenario.cpu = cpu(&root)?;
    scenario.traffic = traffic.traffic;
    scenario.faults = faults::read(&root, nodes)?;
    scenario.start_ns = general.time("start_s", S)?.unwrap_or(0);
    scenario.start_spread_ns = general
        .time("start_spread_s", S)?
        .unwrap_or(DEFAULT_SPREAD_NS);
    scenario.drain_ns = traffic.drain_ns;
    scenario.warm_up_messages = traffic.warm_up_messages;
    let description = general.text("description", "one line of text")?;
    Ok(Loaded {
        description: description.unwrap_or_default().to_owned(),
        scenario,
        relay_parameters: relay::parameters_text(root_entry),
    })
}

/// Reads a file of router parameters only.
pub(super) fn relay_parameters(root: &Entry) -> Result<Config, ScenarioError> {
    relay::parameters(&Section::new(root, String::new(), &["relay"])?)
}

/// Default spread of start times: one heartbeat, so that the heartbeats of the nodes are spread evenly.
const DEFAULT_SPREAD_NS: u64 = 1_000_000_000;

fn cpu(root: &Section<'_>) -> Result<Cpu, ScenarioError> {
    let section = root.below("cpu", CPU)?;
    Ok(Cpu {
        per_frame_ns: section.time("per_frame_us", US)?.unwrap_or(0),
        per_kb_ns: section.time("per_kb_us", US)?.unwrap_or(0),
    })
}

/// Content of `[traffic]`, with the values that the scenario stores separately.
struct ReadTraffic {
    traffic: Traffic,
    drain_ns: u64,
    warm_up_messages: u32,
}
