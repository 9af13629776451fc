//! Step and campaign that run one simulation on several processes of MPI, and compare the traces.

use std::env;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use super::{Outcome, apt, cargo, selection, target_folder};

/// Debian's packages: the library with its headers, the starter of processes, and what reads headers for Rust.
const PACKAGES: [&str; 3] = ["libopenmpi-dev", "openmpi-bin", "libclang-dev"];

/// Program whose subcommand `sim` runs a scenario on all processes that `mpirun` starts.
const PROGRAM: &str = "undertone";

/// Feature of it with which several processes share a simulation.
const FEATURE: &str = "undertone/mpi";

/// Scenarios that take seconds, with overrides that make them smaller: between them they have every kind of event that one
/// node causes at another, faults, losses, and proofs. Those with a delay of 0, such as `cities-line`, do not run on several processes.
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

/// Numbers of processes, each with its number of threads.
const SHAPES: [(usize, usize); 4] = [(1, 2), (2, 1), (2, 2), (4, 1)];

/// Runs the small scenarios.
pub(super) fn test(root: &Path) -> Outcome {
    match install() {
        Ok(()) => compare(root, "dev", &SMALL, &SHAPES),
        Err(reason) => Outcome::Skipped(reason),
    }
}

/// Runs a network of 100,000 nodes.
pub(crate) fn campaign(root: &Path) -> Outcome {
    match install() {
        Ok(()) => compare(root, "release", &[&["scale-100k"]], &SHAPES),
        Err(reason) => Outcome::Failed(reason),
    }
}

/// Installs what is missing, which only root may.
///
/// # Errors
/// The reason why it cannot be installed.
pub(super) fn install() -> Result<(), String> {
    let has_starter = Command::new("mpirun").arg("--version").output();
    let has_compiler = Command::new("mpicc").arg("--version").output();
    let is_there = [has_starter, has_compiler]
        .into_iter()
        .all(|output| output.is_ok_and(|output| output.status.success()));
    if is_there && has_libclang() {
        return Ok(());
    }
    for package in PACKAGES {
        apt::install(package)
            .map_err(|reason| format!("no MPI ({reason}): install {}", PACKAGES.join(", ")))?;
    }
    Ok(())
}

/// Whether the library that reads headers is there: where a variable names it, or where Debian has it.
fn has_libclang() -> bool {
    if env::var_os("LIBCLANG_PATH").is_some() {
        return true;
    }
    let folders = fs::read_dir("/usr/lib").into_iter().flatten().flatten();
    folders
        .filter(|folder| folder.file_name().to_string_lossy().starts_with("llvm-"))
        .any(|folder| folder.path().join("lib/libclang.so").exists())
}

/// Runs each scenario on one process with one thread, then in every shape; the traces must be equal.
fn compare(
    root: &Path,
    profile: &str,
    scenarios: &[&[&str]],
    shapes: &[(usize, usize)],
) -> Outcome {
    let program = match build(root, profile) {
        Ok(program) => program,
        Err(failed) => return failed,
    };
    for scenario in scenarios {
        let mut expected = None;
        for (processes, threads) in [(1, 1)].iter().chain(shapes) {
            let trace = match trace(&program, scenario, *processes, *threads) {
                Ok(trace) => trace,
                Err(reason) => return Outcome::Failed(reason),
            };
            let expected = expected.get_or_insert_with(|| trace.clone());
            if trace != *expected {
                let name = scenario.join(" ");
                let shape = format!("{processes} processes of {threads} threads");
                return Outcome::Failed(format!("{name}: {trace} on {shape}, not {expected}"));
            }
        }
        eprintln!("{}: one trace", scenario.join(" "));
    }
    Outcome::Passed
}

/// Builds the program with MPI, and returns the path of a copy: without MPI it has the same place, where other steps look for
/// it.
fn build(root: &Path, profile: &str) -> Result<PathBuf, Outcome> {
    let args = match profile {
        "dev" => selection::program_and(FEATURE),
        other => selection::program_with(PROGRAM, FEATURE, other),
    };
    match cargo(root, &args, &[]) {
        Outcome::Passed => {}
        failed => return Err(failed),
    }
    let target = target_folder(root);
    let folder = match profile {
        "dev" => "debug",
        other => other,
    };
    let copy = target.join("mpi").join(PROGRAM);
    let copied = fs::create_dir_all(target.join("mpi"))
        .and_then(|()| fs::copy(target.join(folder).join(PROGRAM), &copy));
    if let Err(error) = copied {
        return Err(Outcome::Failed(format!("{}: {error}", copy.display())));
    }
    if profile != "dev" {
        return Ok(copy);
    }
    match cargo(root, &selection::program(), &[]) {
        Outcome::Passed => Ok(copy),
        failed => Err(failed),
    }
}

/// Runs a scenario; returns its trace hash.
fn trace(
    program: &Path,
    scenario: &[&str],
    processes: usize,
    threads: usize,
) -> Result<String, String> {
    let mut command = match processes {
        1 => Command::new(program),
        _ => {
            let mut command = Command::new("mpirun");
            // More processes than processors, and root, are meant here.
            command.args([
                "--oversubscribe",
                "--bind-to",
                "none",
                "--allow-run-as-root",
            ]);
            command.args(["-n", &processes.to_string()]).arg(program);
            command
        }
    };
    let (name, keys) = scenario.split_first().expect("a scenario has a name");
    command.args(["sim", name, "--json", "--threads", &threads.to_string()]);
    command.args(keys.iter().flat_map(|key| ["--set", key]));
    let name = scenario.join(" ");
    let output = command
        .output()
        .map_err(|error| format!("{name} on {processes} processes: {error}"))?;
    let printed = String::from_utf8_lossy(&output.stdout);
    let said = String::from_utf8_lossy(&output.stderr);
    if !output.status.success() {
        return Err(format!("{name} on {processes} processes fails:\n{said}"));
    }
    if processes > 1 {
        eprint!("{said}");
    }
    hash(&printed)
        .map(str::to_owned)
        .ok_or_else(|| format!("{name} on {processes} processes prints no trace:\n{said}"))
}

/// Returns the trace hash in a summary.
fn hash(summary: &str) -> Option<&str> {
    let (_, rest) = summary.split_once("\"trace_hash\":\"")?;
    rest.split_once('"').map(|(hash, _)| hash)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_hash_is_read_from_a_summary() {
        let summary = "{\"seed\":1,\"trace_hash\":\"01fb\",\"violations\":[]}";
        assert_eq!(hash(summary), Some("01fb"));
        assert_eq!(hash("{}"), None);
    }
}
