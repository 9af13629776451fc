use undertone_lab::report::DatasetChoice;
use undertone_lab::run::{RunRequest, threads};
use undertone_lab::scenario::Loaded;
use undertone_sim::SimError;

use std::ops::ControlFlow;

use crate::profiles::figures::{ProfileFigures, RunTotals};

/// Simulates the scenario with a seed.
pub(crate) fn run(loaded: &Loaded, seed: u64) -> Result<ProfileFigures, SimError> {
    let mut datasets = DatasetChoice::default();
    datasets.links = true;
    let request = RunRequest {
        loaded,
        seed,
        threads: threads(None),
        commit: "unknown",
        datasets,
    };
    let outcome = request.run(&mut |_| ControlFlow::Continue(()))?.outcome;
    let mut totals = RunTotals {
        expected: outcome.expected,
        mesh_mean: outcome.mesh_degree.mean,
        mesh_max: outcome.mesh_degree.max,
        links: outcome.recorded.as_ref().map(|recorded| {
            let used = recorded.links.iter().filter(|link| link.messages.count > 0);
            used.count() as u64
        }),
        ..RunTotals::default()
    };
    for node in &outcome.nodes {
        totals.copies += node.first_copies + node.duplicates;
        totals.idontwant += node.idontwant.count;
        totals.ihave += node.ihave.count;
        totals.iwant += node.iwant.count;
        totals.graft += node.graft.count;
        totals.prune += node.prune.count;
    }
    let nodes = loaded.scenario.nodes;
    Ok(ProfileFigures::new(
        nodes,
        &outcome.messages,
        &outcome.deliveries,
        totals,
    ))
}
