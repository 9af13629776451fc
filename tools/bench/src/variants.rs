//! The peers that a benchmark compares, as given on its command line.

use thiserror::Error;

use undertone_conformance::PeerCommand;
use undertone_conformance::programs::{self, ResolveError};

#[cfg(test)]
#[path = "tests/variants.rs"]
mod tests;

/// Options of a benchmark that compares peers: `--peer`, `--label`, `--json`.
#[derive(Clone, Debug, clap::Args)]
pub struct Variants {
    /// A peer's command line (no quoting inside), or @undertone, @rust-gossipsub, @js-gossipsub,
    /// @js-waku-relay with options. Repeat it to compare variants; ratios are against the first.
    #[arg(long = "peer", required = true, value_name = "COMMAND")]
    peers: Vec<String>,
    /// Name of a variant; give none, or one for each --peer in the same order.
    #[arg(long = "label", value_name = "NAME")]
    labels: Vec<String>,
    /// Print JSON instead of a table.
    #[arg(long)]
    pub json: bool,
}

/// Errors in the options `--peer` and `--label`.
#[derive(Debug, Error)]
pub enum VariantsError {
    /// The numbers of labels and peers differ.
    #[error("{labels} --label for {peers} --peer: give one for each, or none")]
    Count {
        /// Number of labels given.
        labels: usize,
        /// Number of peers given.
        peers: usize,
    },
    /// Two variants have the same name.
    #[error("--label {label} is given twice: rows could not be told apart")]
    Twice {
        /// Name that was given twice.
        label: String,
    },
    /// The command line of a peer is invalid.
    #[error(transparent)]
    Program(#[from] ResolveError),
}

impl Variants {
    /// Returns the command of every variant, labelled with its name or its number.
    pub fn commands(&self) -> Result<Vec<PeerCommand>, VariantsError> {
        if !self.labels.is_empty() && self.labels.len() != self.peers.len() {
            return Err(VariantsError::Count {
                labels: self.labels.len(),
                peers: self.peers.len(),
            });
        }
        for (index, label) in self.labels.iter().enumerate() {
            if self.labels[..index].contains(label) {
                let label = label.clone();
                return Err(VariantsError::Twice { label });
            }
        }
        let numbered = self.peers.iter().enumerate().map(|(index, line)| {
            let label = match self.labels.get(index) {
                Some(label) => label.clone(),
                None => format!("variant {}", index + 1),
            };
            Ok(programs::resolve(&label, line)?)
        });
        numbered.collect()
    }
}
