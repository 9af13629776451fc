//! Runs a scenario by its name: `run_scenario SCENARIO [KEY=VALUE]...`, such as `run_scenario small network.loss=0.01`.
//! `UNDERTONE_THREADS` is the number of threads. To run on several MPI processes, use `undertone sim`.

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
    let run = request.run(&mut |_| ControlFlow::Continue(()))?;
    println!("{:?}", run.summary.latency_ms);
    println!("{:?}", run.summary.trace_hash);
    write_run(&folder, &run.outcome, &run.summary)?;
    println!("{}", folder.display());
    Ok(())
}
