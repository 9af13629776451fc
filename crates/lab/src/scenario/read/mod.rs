//! Conversion of tables to a scenario, one file for each table.

mod faults;
pub(super) mod key_table;
mod listed;
mod network;
mod places;
mod relay;
mod rln;
mod score;
mod services;
mod topology;
mod traffic;

use std::path::Path;

use undertone_gossip::Config;
use undertone_settings::{Error, S, Section, SectionKey, TomlEntry, US, keys};
use undertone_sim::Scenario;
use undertone_sim::scenario::Cpu;

use super::error::ScenarioError;

pub(super) use network::{SEND_BUFFERS, TCP_PROFILES};
pub(super) use places::BYTES_PER_MBIT;
pub(super) use relay::{LARGE, LIMITS, ROUTER};
pub(super) use score::{SCORE, THRESHOLDS, TOPIC};
pub(super) use services::{FLOODED, LIGHTPUSH, TROUBLES};
pub(super) use topology::DIALLING;

/// Default spread of start times: one heartbeat, so that the heartbeats of the nodes are spread evenly.
const DEFAULT_SPREAD_NS: u64 = 1_000_000_000;
/// Place where the keys are listed.
const REFERENCE: &str = "see docs/scenarios.md";

/// Content of a scenario file.
pub(super) struct ReadScenario {
    pub(super) scenario: Scenario,
    pub(super) description: String,
    /// Router parameters that the file sets.
    pub(super) relay_parameters: String,
}

/// Reads a whole scenario file.
pub(super) fn read(
    root_entry: &TomlEntry,
    name: &str,
    folder: Option<&Path>,
) -> Result<ReadScenario, ScenarioError> {
    let root = Section::new(root_entry, "", REFERENCE)?;
    keys!(root => scenario, topology, network, relay, rln, cpu, services, traffic, faults);
    let general = scenario.table()?;
    keys!(general => description, nodes, start_s, start_spread_s);
    const MAX_NODES: u64 = undertone_sim::MAX_NODES as u64;
    let nodes_expected = format!("a whole number from 2 to {MAX_NODES}");
    let nodes: u32 = nodes
        .whole(2, MAX_NODES)?
        .ok_or_else(|| nodes.bad(nodes_expected))?;
    let traffic = traffic::read(traffic, nodes)?;
    let setup = relay::read(relay)?;
    let (topology, dialling) = topology::read(topology, nodes)?;
    let mut scenario = Scenario::plain(nodes);
    scenario.name = name.to_owned();
    scenario.topology = topology;
    scenario.dialling = dialling;
    scenario.network = network::read(network, folder)?;
    scenario.relay = setup;
    scenario.rln = rln::read(rln)?;
    scenario.cpu = read_cpu(cpu)?;
    scenario.services = services::read(services, nodes)?;
    scenario.traffic = traffic.traffic;
    scenario.listed = traffic.listed;
    scenario.faults = faults::read(faults, nodes)?;
    scenario.start_ns = start_s.time(S)?.unwrap_or(0);
    scenario.start_spread_ns = start_spread_s.time(S)?.unwrap_or(DEFAULT_SPREAD_NS);
    scenario.drain_ns = traffic.drain_ns;
    scenario.warm_up_messages = traffic.warm_up_messages;
    scenario.warm_up_spacing_ns = traffic.warm_up_spacing_ns;
    let description = description.text("one line of text")?;
    Ok(ReadScenario {
        description: description.unwrap_or_default().to_owned(),
        scenario,
        relay_parameters: relay::parameters_text(relay.entry()),
    })
}

/// Reads a file of router parameters only.
pub(super) fn relay_parameters(root: &TomlEntry) -> Result<Config, ScenarioError> {
    let root = Section::new(root, "", REFERENCE)?;
    keys!(root => relay);
    relay::parameters(relay)
}

fn read_cpu(cpu: SectionKey<'_>) -> Result<Cpu, Error> {
    let section = cpu.table()?;
    keys!(section => per_frame_us, per_kb_us);
    Ok(Cpu {
        per_frame_ns: per_frame_us.time(US)?.unwrap_or(0),
        per_kb_ns: per_kb_us.time(US)?.unwrap_or(0),
    })
}
