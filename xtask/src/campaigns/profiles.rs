//! Campaign `profiles`: nodes of other implementations on an emulated network, beside simulated nodes.

use std::path::Path;
use std::process::Command;

use crate::steps::{Outcome, built_file, cargo};

/// Programs that the campaign runs: the comparison, and nodes of two implementations. The third is of npm.
const PROGRAMS: [&str; 3] = ["profiles", "gossipsub-peer", "undertone-peer"];

/// Builds the programs with the features that the suite builds them with, and compares.
pub(super) fn run(root: &Path, arguments: &[String]) -> Outcome {
    let chosen = PROGRAMS.iter().flat_map(|name| ["--bin", name]);
    let build: Vec<_> = ["build", "--workspace"].into_iter().chain(chosen).collect();
    eprintln!("cargo {}", build.join(" "));
    match cargo(root, &build, &[]) {
        Outcome::Passed => {}
        failed => return failed,
    }
    let program = built_file(root, "profiles");
    match Command::new(&program).args(arguments).status() {
        Ok(status) if status.success() => Outcome::Passed,
        Ok(status) => Outcome::Failed(format!("{}: {status}", program.display())),
        Err(error) => Outcome::Failed(format!("{}: {error}", program.display())),
    }
}
