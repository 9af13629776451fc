//! Tree synchronisation: following the members of a contract from the beginning.

use super::super::{Context, Experiment, ExperimentError, Findings};
use crate::record::{Criterion, Figure};

pub(super) const EXPERIMENT: Experiment = Experiment {
    id: "tree-sync",
    title: "A node follows the membership contract from nothing",
    source: "Waku research, RLN Key Benchmarks",
    run,
};

fn run(context: &mut Context<'_>) -> Result<Findings, ExperimentError> {
    let mut findings = Findings::default();
    let members = context.by_scale(500, 10_000);
    let line = context.say("a chain with members");
    let sync = context.real_nodes().tree_sync(members);
    line.finish();
    let (time, size, requests) = match sync {
        Ok(sync) => {
            findings.note(format!(
                "{} members in {} blocks of a development chain on this machine; {} bytes received.",
                sync.members, sync.blocks, sync.bytes
            ));
            (
                vec![sync.wall_s],
                vec![sync.tree_bytes as f64 / 1e6],
                vec![sync.requests as f64],
            )
        }
        Err(error) => {
            findings.note(format!("No chain was run: {error}."));
            (Vec::new(), Vec::new(), Vec::new())
        }
    };
    findings.figures = vec![
        Figure::stated(
            "time to the root",
            "s",
            "less than 4 min",
            &time,
            Criterion::AtMost(5.0),
        ),
        Figure::published("tree", "MB", 2.0, &size, Criterion::AtMost(1.0)),
        Figure::stated(
            "requests",
            "",
            "520 for a year at 5,000 blocks each",
            &requests,
            Criterion::AtMost(520.0),
        ),
    ];
    findings.note("Published for 10,000 members on a public network; time and requests there are those of its chain.");
    Ok(findings)
}
