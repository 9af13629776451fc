//! Campaigns of `cargo xtask campaign`: measurements that take minutes and need an otherwise idle machine.

use std::path::Path;

use crate::steps::{Outcome, cargo};

/// Measurement campaign. All campaigns build with the release profile, to measure the installed program.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Campaign {
    Hostile,
}

impl Campaign {
    /// All campaigns in the order in which they run.
    pub(crate) const ALL: [Self; 1] = [Self::Hostile];

    /// Returns the campaign's name in `--only`.
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Hostile => "hostile",
        }
    }

    /// Returns a short description of what the campaign measures.
    pub(crate) fn about(self) -> &'static str {
        match self {
            Self::Hostile => {
                "attacks on a real node and the restart matrix, half an hour; -- --list names the attacks"
            }
        }
    }

    /// Returns the campaign's cargo commands, of which the last one gets the arguments.
    fn commands(self) -> &'static [&'static [&'static str]] {
        match self {
            Self::Hostile => &[
                &["build", "--release", "--package", "undertone"],
                &[
                    "run",
                    "--release",
                    "--package",
                    "undertone-interop",
                    "--bin",
                    "hostile",
                    "--",
                ],
            ],
        }
    }

    /// Runs the campaign in the workspace at `root`, and prints its commands.
    pub(crate) fn run(self, root: &Path, arguments: &[String]) -> Outcome {
        let commands = self.commands();
        for (index, command) in commands.iter().enumerate() {
            let mut words = command.to_vec();
            if index + 1 == commands.len() {
                words.extend(arguments.iter().map(String::as_str));
            }
            eprintln!("cargo {}", words.join(" "));
            match cargo(root, &words, &[]) {
                Outcome::Passed => {}
                failed => return failed,
            }
        }
        Outcome::Passed
    }
}
