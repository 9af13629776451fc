//! A scenario from its name to its result: `run_scenario SCENARIO [KEY=VALUE]...`, such as `run_scenario small network.loss=0.01`.
//! Built with `--features mpi`, it also runs as several processes: `mpirun -n 4 run_scenario small`. `UNDERTONE_THREADS` is the
//! number of threads of each.

use std::error::Error;
use std::ops::ControlFlow;

use undertone_lab::report::{DatasetChoice, write_run};
use undertone_lab::run::{RunRequest, threads};
use undertone_lab::scenario;

fn main() -> Result<(), Box<dyn Error>> {
    let mut args = std::env::args().skip(1);
    let name = args.next().unwrap_or("small".to_owned());
    let loaded = scenario::load(&name, &args.collect::<Vec<_>>())?;
    let asked = std::env::var("UNDERTONE_THREADS").ok();
    let asked = asked.and_then(|count| count.parse().ok());
    let request = RunRequest {
        loaded: &loaded,
        seed: 1,
        threads: threads(asked),
        commit: "unknown",
        datasets: DatasetChoice::default(),
    };
    let folder = std::env::temp_dir().join("undertone-run");
    #[cfg(feature = "mpi")]
    if let Some(ranks) = undertone_lab::ranks::MpiRanks::join() {
        return on_ranks(ranks, request, asked, &folder);
    }
    let run = request.run(&mut |_| ControlFlow::Continue(()))?;
    println!("{:?}", run.summary.latency_ms);
    println!("{:?}", run.summary.trace_hash);
    write_run(&folder, &run.outcome, &run.summary)?;
    println!("{}", folder.display());
    Ok(())
}

/// Runs as one of several processes. An error of one ends all.
#[cfg(feature = "mpi")]
fn on_ranks(
    mut ranks: undertone_lab::ranks::MpiRanks,
    mut request: RunRequest<'_>,
    asked: Option<std::num::NonZeroUsize>,
    folder: &std::path::Path,
) -> Result<(), Box<dyn Error>> {
    use undertone_lab::ranks::MpiRanks;
    use undertone_lab::report::write_rank;
    use undertone_sim::ranks::Ranks;

    let (rank, count) = (ranks.rank(), ranks.count());
    request.threads = MpiRanks::threads(asked);
    let run = request.run_on_ranks(&mut ranks, &mut |_| ControlFlow::Continue(()));
    let written = run.map_err(|error| error.to_string()).and_then(|run| {
        let (outcome, summary) = (&run.outcome, &run.summary);
        let written = write_rank(folder, (rank, count), outcome, summary);
        written.map(|()| run).map_err(|error| error.to_string())
    });
    let run = written.unwrap_or_else(|error| {
        eprintln!("rank {rank}: {error}");
        ranks.abort()
    });
    eprint!("{}", ranks.cost(&run.summary));
    if rank == 0 {
        println!("{:?}", run.summary.latency_ms);
        println!("{:?}", run.summary.trace_hash);
        println!("{}", folder.display());
    }
    Ok(())
}
