//! `undertone sim` as one of several processes started by `mpirun`.

use std::ops::ControlFlow;

use undertone_lab::ranks::MpiRanks;
use undertone_lab::report::{Campaign, DatasetChoice, ProgressLine, write_rank};
use undertone_lab::run::RunRequest;
use undertone_sim::ranks::Ranks;

use super::request::SimRequest;
use super::{Args, COMMIT, unwritten};
use crate::commands::{Failure, output};

/// Runs every seed on all ranks; rank 0 prints the result. If one rank fails, all end.
pub(super) fn run(args: &Args, mut ranks: MpiRanks) -> Result<(), Failure> {
    let rank = ranks.rank();
    if let Err(failure) = simulate(args, &mut ranks) {
        eprintln!("rank {rank} fails, and all ranks end:");
        failure.report();
        ranks.abort();
    }
    Ok(())
}

fn simulate(args: &Args, ranks: &mut MpiRanks) -> Result<(), Failure> {
    // Each of these needs all deliveries or records of a run, or several runs, in one process.
    let refused = [
        ("--compare", args.compare),
        ("--html", args.html.is_some()),
        ("--netviz", args.netviz.is_some()),
        (
            "--record",
            args.datasets.choice() != DatasetChoice::default(),
        ),
        ("--bench", args.bench),
        ("--list", args.list),
    ];
    if let Some((flag, _)) = refused.iter().find(|(_, is_given)| *is_given) {
        let text = format!("{flag} needs one process: start undertone without mpirun");
        return Err(Failure::usage(text));
    }
    let asked = SimRequest::read(args)?;
    let place = (ranks.rank(), ranks.count());
    let is_first = place.0 == 0;
    let mut runs = Vec::new();
    for seed in &asked.seeds {
        let name = &asked.loaded.scenario.name;
        let line = ProgressLine::new(&format!("{name}, seed {seed}"), is_first && !args.json);
        let request = RunRequest {
            loaded: &asked.loaded,
            seed: *seed,
            datasets: DatasetChoice::default(),
            threads: MpiRanks::threads(args.threads),
            commit: COMMIT,
        };
        let run = request.run_on_ranks(ranks, &mut |progress| {
            line.update(progress);
            ControlFlow::Continue(())
        });
        line.finish();
        let run = run.map_err(|error| Failure::new(format!("{name}: {error}")))?;
        if let Some(folder) = &args.out {
            let folder = match asked.seeds.as_slice() {
                [_] => folder.clone(),
                _ => folder.join(format!("seed-{seed}")),
            };
            write_rank(&folder, place, &run.outcome, &run.summary).map_err(unwritten)?;
        }
        if !args.json {
            eprint!("{}", ranks.cost(&run.summary));
        }
        runs.push(run.summary);
    }
    if is_first {
        let campaign = Campaign::new(runs);
        output::print(&campaign, args.json)?;
        asked.check(&campaign)?;
    }
    Ok(())
}
