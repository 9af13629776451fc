//! The campaigns of `cargo xtask campaign`: measurements that take minutes and want a quiet machine.

use std::path::Path;

use crate::steps::{Outcome, cargo};

/// One campaign. All of them build with the release profile: what they measure is what is installed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Campaign {
    Hostile,
}

impl Campaign {
    /// All campaigns in their order.
    pub(crate) const ALL: [Self; 1] = [Self::Hostile];

    /// Name of the campaign in `--only`.
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Hostile => "hostile",
        }
    }

    /// What it measures, in a few words.
    pub(crate) fn about(self) -> &'static str {
        match self {
            Self::Hostile => {
                "attacks on a real node and the restart matrix, half an hour; -- --list names the attacks"
            }
        }
    }

    /// The cargo commands that it consists of; the last one gets the arguments.
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

    /// Runs the campaign in the workspace at `root`, and says which commands it consists of.
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
