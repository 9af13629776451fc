//! The tables of a scenario, one file for each. The same code reads a table from a file and writes it back with every
//! key.

mod faults;
mod groups;
mod key;
mod listed;
mod network;
mod places;
mod policy;
mod relay;
mod rln;
mod score;
mod services;
mod topology;
mod traffic;
mod values;

use std::path::Path;

use undertone_gossip::Config;
use undertone_settings::{S, Section, SectionKey, TomlEntry, TomlValue, US, keys};
use undertone_sim::scenario::{Cpu, Spacing};
use undertone_sim::{MAX_NODES, Scenario};

use super::error::ScenarioError;
use key::{FieldKey, Table, fields, write};
use values::text;

/// Advice in error messages: where the keys are listed.
const REFERENCE: &str = "see docs/use/scenarios.md";

const GENERAL: &[FieldKey<Scenario>] = fields![
    time(S): start_s = start_ns, start_spread_s = start_spread_ns;
];

const CPU: &[FieldKey<Cpu>] = fields![time(US): per_frame_us = per_frame_ns, per_kb_us = per_kb_ns];

/// Content of a scenario file.
pub(super) struct ReadScenario {
    pub(super) scenario: Scenario,
    pub(super) description: String,
    /// Router parameters that the file sets.
    pub(super) relay_parameters: String,
}

/// Reads a whole scenario file.
pub(super) fn read_scenario(
    root_entry: &TomlEntry,
    name: &str,
    folder: Option<&Path>,
) -> Result<ReadScenario, ScenarioError> {
    let root = Table::Read(Section::new(root_entry, "", REFERENCE)?);
    let mut scenario = Scenario::plain(2);
    scenario.name = name.to_owned();
    scenario.network.setup_packets = 0;
    scenario.traffic.spacing = Spacing::Constant(0);
    let mut description = String::new();
    tables(&root, &mut scenario, &mut description, folder)?;
    let relay = root_entry.as_table().and_then(|root| root.get("relay"));
    Ok(ReadScenario {
        scenario,
        description,
        relay_parameters: relay::parameters_text(relay),
    })
}

/// Writes a scenario with every key. A network graph or cities are written as a matrix of places.
pub(super) fn write_scenario(scenario: &Scenario, description: &str) -> TomlValue {
    let (mut scenario, mut description) = (scenario.clone(), description.to_owned());
    let written = write(|root| tables(root, &mut scenario, &mut description, None));
    written.expect("only what is read can be refused")
}

fn tables(
    root: &Table<'_>,
    content: &mut Scenario,
    about: &mut String,
    folder: Option<&Path>,
) -> Result<(), ScenarioError> {
    keys!(root => scenario, topology, network, relay, rln, cpu, services, traffic, faults, groups);
    scenario.table(|general| {
        keys!(general, GENERAL => description, nodes);
        let most = u64::from(MAX_NODES);
        let nodes = nodes.required(format!("a whole number from 2 to {most}"))?;
        nodes.whole(2, most, &mut content.nodes)?;
        general.fill(GENERAL, content)?;
        let read = |key: SectionKey<'_>| Ok(key.text("one line of text")?.map(str::to_owned));
        description.both(about, read, |about| {
            (!about.is_empty()).then(|| text(about.as_str()))
        })
    })?;
    let nodes = content.nodes;
    traffic.table(|table| traffic::traffic(table, content))?;
    relay::relay(relay, &mut content.relay)?;
    topology.table(|table| topology::topology(table, content))?;
    network.table(|table| network::network(table, &mut content.network, folder))?;
    rln::rln(rln, &mut content.rln)?;
    cpu.fields(CPU, &mut content.cpu)?;
    services::services(services, &mut content.services, nodes)?;
    faults::faults(faults, &mut content.faults, nodes)?;
    groups::groups(groups, content)?;
    Ok(())
}

/// Reads a file that has only router parameters.
pub(super) fn relay_parameters(root: &TomlEntry) -> Result<Config, ScenarioError> {
    let root = Table::Read(Section::new(root, "", REFERENCE)?);
    keys!(root => relay);
    relay::read_parameters(relay)
}
