//! Campaigns of `cargo xtask campaign`: tests and measurements that take minutes, too slow for
//! `cargo xtask test`.

use std::path::Path;

use crate::steps::{Outcome, cargo};

/// Name of the test that derives the vendored tables.
const DERIVATION: &str = "the_vendored_file_can_be_derived";

/// Test that measures store synchronisation.
const SYNC_SPEED: &str = "sync_speed";

/// Campaign by name. Measurements build with the profile `dist`, that of the installed program; tests with
/// `release`, because they are long.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Campaign {
    Tables,
    RandomProofs,
    Sync,
    Hostile,
}

impl Campaign {
    /// All campaigns in the order in which they run: the quickest first.
    pub(crate) const ALL: [Self; 4] = [Self::Tables, Self::RandomProofs, Self::Sync, Self::Hostile];

    /// Returns the campaign's name in `--only`.
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Tables => "tables",
            Self::RandomProofs => "random-proofs",
            Self::Sync => "sync",
            Self::Hostile => "hostile",
        }
    }

    /// Returns a short description of what the campaign tests or measures.
    pub(crate) fn about(self) -> &'static str {
        match self {
            Self::Tables => "the vendored tables derived again from the proving key, a minute",
            Self::RandomProofs => {
                "proofs of random members against zerokit, minutes; UNDERTONE_PROOF_CASES=200 are made"
            }
            Self::Sync => {
                "two stores of 100,000 messages that differ in 1,000 are made equal, a minute"
            }
            Self::Hostile => {
                "attacks on a real node and the restart matrix, half an hour; -- --list names the attacks"
            }
        }
    }

    /// Returns the campaign's cargo commands, of which the last one gets the arguments.
    fn commands(self) -> &'static [&'static [&'static str]] {
        match self {
            Self::Tables => &[&[
                "test",
                "--release",
                "--package",
                "undertone-rln",
                "--lib",
                "--",
                "--ignored",
                DERIVATION,
            ]],
            Self::RandomProofs => &[&[
                "test",
                "--release",
                "--package",
                "undertone-rln",
                "--test",
                "random_proofs",
                "--",
                "--ignored",
                "--nocapture",
            ]],
            Self::Sync => &[&[
                "test",
                "--profile",
                "dist",
                "--package",
                "undertone-node",
                "--test",
                SYNC_SPEED,
                "--",
                "--ignored",
                "--nocapture",
            ]],
            Self::Hostile => &[
                &["build", "--profile", "dist", "--package", "undertone"],
                &[
                    "run",
                    "--profile",
                    "dist",
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

#[cfg(test)]
mod tests;
