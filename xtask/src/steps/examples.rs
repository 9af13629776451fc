//! Step that runs the examples of the libraries. Each of them fails if what it shows does not happen.

use std::path::Path;
use std::process::Command;

use super::{Outcome, built_file, cargo, selection};

#[cfg(test)]
mod tests;

/// Examples that are run, in alphabetical order.
pub(super) const RUN: &[&str] = &[
    "custom_strategy",
    "custom_validator",
    "embedded_node",
    "lossy_link",
    "reliable_channel",
    "rln_module",
    "run_scenario",
    "thousand_nodes",
    "two_nodes",
    "verify_message",
];

/// Builds the examples together, and runs each.
pub(super) fn run(root: &Path) -> Outcome {
    let built = cargo(root, &selection::examples(RUN), &[]);
    if built != Outcome::Passed {
        return built;
    }
    for name in RUN {
        eprintln!("example {name}");
        let program = built_file(root, &format!("examples/{name}"));
        match Command::new(&program).current_dir(root).status() {
            Ok(status) if status.success() => {}
            Ok(status) => return Outcome::Failed(format!("example {name}: {status}")),
            Err(error) => return Outcome::Failed(format!("{}: {error}", program.display())),
        }
    }
    Outcome::Passed
}
