//! Compares runs of a simulation on one and on several MPI processes: the traces must be equal.

use std::io;
use std::path::Path;
use std::process::Command;

use serde::Deserialize;

/// Short scenarios, with overrides that make them smaller. Together they have every kind of event that one node
/// causes at another, faults, losses, and proofs. Scenarios with a delay of 0, such as `cities-line`, cannot run on
/// several processes.
const SMALL: [&[&str]; 13] = [
    &["small"],
    &["churn"],
    &["hops"],
    &["light-clients"],
    &["partition"],
    &["request-floods"],
    &["rln-100", "traffic.messages=200"],
    &["silent"],
    &["store-while-messages-arrive"],
    &["stores-synchronise"],
    &["clients-find-peers"],
    &["reliable-channel", "traffic.messages=40"],
    &["testbed-random"],
];
const LARGE: [&[&str]; 1] = [&["scale-100k"]];

/// Numbers of processes, each with its number of threads. All are compared with the first.
const SHAPES: [(usize, usize); 5] = [(1, 1), (1, 2), (2, 1), (2, 2), (4, 1)];

/// Part of a run's summary that is compared.
#[derive(Debug, Deserialize)]
struct Summary {
    trace_hash: String,
}

/// Reason why the traces differ or cannot be compared.
#[derive(Debug, thiserror::Error)]
pub(crate) enum TracesError {
    #[error("{run} cannot be started: {source}")]
    Start { run: String, source: io::Error },
    #[error("{run} fails:\n{said}")]
    Failed { run: String, said: String },
    #[error("{run} prints no trace: {source}")]
    Silent {
        run: String,
        source: serde_json::Error,
    },
    #[error("{run} has the trace {found}, not {expected}")]
    Differs {
        run: String,
        found: String,
        expected: String,
    },
}

/// Runs each scenario in every shape, with the program built with the feature `mpi`: small scenarios with the profile
/// `dev`, the large one with `release`.
pub(crate) fn compare(target: &Path, large: bool) -> Result<(), TracesError> {
    let (folder, scenarios): (_, &[&[&str]]) = match large {
        true => ("release", &LARGE),
        false => ("debug", &SMALL),
    };
    let program = target.join(folder).join("undertone");
    for scenario in scenarios {
        let mut expected = None;
        for (processes, threads) in SHAPES {
            let run = format!(
                "{} on {processes} processes of {threads} threads",
                scenario.join(" ")
            );
            let found = trace(&program, scenario, processes, threads, &run)?;
            let expected = expected.get_or_insert_with(|| found.clone());
            if found != *expected {
                let expected = expected.clone();
                return Err(TracesError::Differs {
                    run,
                    found,
                    expected,
                });
            }
        }
        eprintln!("{}: one trace", scenario.join(" "));
    }
    Ok(())
}

/// Runs a scenario; returns its trace hash.
fn trace(
    program: &Path,
    scenario: &[&str],
    processes: usize,
    threads: usize,
    run: &str,
) -> Result<String, TracesError> {
    let run = run.to_owned();
    let mut command = Command::new("mpirun");
    // Running as root and with more processes than processors is intended.
    command.args([
        "--oversubscribe",
        "--bind-to",
        "none",
        "--allow-run-as-root",
        "-n",
    ]);
    command.arg(processes.to_string()).arg(program);
    if processes == 1 {
        command = Command::new(program);
    }
    let (name, keys) = scenario.split_first().expect("a scenario has a name");
    command.args(["sim", name, "--json", "--threads", &threads.to_string()]);
    command.args(keys.iter().flat_map(|key| ["--set", key]));
    let output = match command.output() {
        Ok(output) => output,
        Err(source) => return Err(TracesError::Start { run, source }),
    };
    if !output.status.success() {
        let said = String::from_utf8_lossy(&output.stderr).into_owned();
        return Err(TracesError::Failed { run, said });
    }
    match serde_json::from_slice::<Summary>(&output.stdout) {
        Ok(summary) => Ok(summary.trace_hash),
        Err(source) => Err(TracesError::Silent { run, source }),
    }
}
