//! Conversion of a scenario to a file that states every key, the reverse of `read`.

mod network;
mod relay;
mod services;
mod traffic;
pub(super) mod values;

use undertone_settings::{MS, S, TomlValue, US};
use undertone_sim::Scenario;
use undertone_sim::scenario::{Dialling, Rln, Topology, Verification};

use super::read::DIALLING;
use values::{WrittenTable, count, list, named, shortest, text};

/// Writes a scenario with every key. Places of a network graph or of cities become a matrix.
pub(super) fn write(scenario: &Scenario, description: &str) -> TomlValue {
    let mut root = WrittenTable::default();
    let mut general = WrittenTable::default();
    if !description.is_empty() {
        general.set("description", text(description));
    }
    general.set("nodes", count(scenario.nodes));
    general.time("start_s", scenario.start_ns, S);
    general.time("start_spread_s", scenario.start_spread_ns, S);
    root.set("scenario", general.finish());
    root.set("topology", topology(&scenario.topology, scenario.dialling));
    root.set("network", network::write(&scenario.network));
    root.set("relay", relay::write(&scenario.relay));
    if let Some(limit) = &scenario.rln {
        root.set("rln", rln(limit));
    }
    let mut cpu = WrittenTable::default();
    cpu.time("per_frame_us", scenario.cpu.per_frame_ns, US);
    cpu.time("per_kb_us", scenario.cpu.per_kb_ns, US);
    root.set("cpu", cpu.finish());
    if let Some(setup) = &scenario.services {
        root.set("services", services::write(setup));
    }
    root.set("traffic", traffic::write(scenario));
    if !scenario.faults.is_empty() {
        root.set("faults", list(scenario.faults.iter().map(traffic::fault)));
    }
    root.finish()
}

fn topology(topology: &Topology, dialling: Dialling) -> TomlValue {
    let mut table = WrittenTable::default();
    let kind = match topology {
        Topology::Dials(dials) => {
            table.set("dials", count(*dials));
            "dials"
        }
        Topology::Regular(degree) => {
            table.set("degree", count(*degree));
            "regular"
        }
        Topology::Line => "line",
        Topology::Ring => "ring",
        Topology::Star => "star",
        Topology::FullMesh => "full-mesh",
        Topology::Edges(edges) => {
            let pair = |(from, to): &(u32, u32)| list([count(*from), count(*to)]);
            table.set("edges", list(edges.iter().map(pair)));
            "edges"
        }
        Topology::Discovery(found) => {
            table.set("offered", count(found.offered));
            table.time("answer_ms", found.answer_ns, MS);
            table.time("cut_noticed_s", found.cut_noticed_after_ns, S);
            if let Some(churn) = &found.churn {
                table.set("churn_per_minute", shortest(churn.share_per_minute));
                table.time("away_s", churn.away_ns, S);
                table.time("churn_from_s", churn.from_ns, S);
                table.time("churn_until_s", churn.until_ns, S);
            }
            "discovery"
        }
    };
    table.set("kind", text(kind));
    // Where the nodes find each other, their connection managers decide.
    if topology.discovery().is_none() {
        table.set("dialling", named(&dialling, DIALLING));
    }
    table.finish()
}

fn rln(rln: &Rln) -> TomlValue {
    let mut table = WrittenTable::default();
    table.set("message_limit", count(rln.message_limit));
    table.set("epoch_s", count(rln.epoch_s));
    table.time("generation_ms", rln.generation_ns, MS);
    match rln.verification {
        Verification::Wait { ns } => {
            table.set("verification", text("wait"));
            table.time("verification_ms", ns, MS);
        }
        Verification::Batches {
            single_ns,
            batch_base_ns,
            batch_per_proof_ns,
        } => {
            table.set("verification", text("batches"));
            table.time("single_ms", single_ns, MS);
            table.time("batch_base_ms", batch_base_ns, MS);
            table.time("batch_per_proof_ms", batch_per_proof_ns, MS);
        }
    }
    table.finish()
}
