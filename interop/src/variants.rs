//! The peers that a benchmark compares, as its options name them.

use thiserror::Error;

use crate::process::PeerCommand;
use crate::programs::{self, ResolveError};

#[cfg(test)]
mod tests;

/// The options `--peer` and `--label`.
#[derive(Clone, Debug, clap::Args)]
pub struct Variants {
    /// A peer's command line (no quoting inside), or @undertone, @rust-gossipsub, @js-gossipsub,
    /// @js-waku-relay with options. Repeat it to compare variants; ratios are against the first.
    #[arg(long = "peer", required = true, value_name = "COMMAND")]
    peers: Vec<String>,
    /// Name of a variant, as often as --peer and in the same order.
    #[arg(long = "label", value_name = "NAME")]
    labels: Vec<String>,
}

/// Why the variants cannot be told.
#[derive(Debug, Error)]
pub enum VariantsError {
    /// The labels do not fit the peers.
    #[error("{labels} --label for {peers} --peer: give one for each, or none")]
    Count {
        /// Labels given.
        labels: usize,
        /// Peers given.
        peers: usize,
    },
    /// Two variants have one name.
    #[error("--label {label} is given twice: rows could not be told apart")]
    Twice {
        /// The name.
        label: String,
    },
    /// A command line is not understood.
    #[error(transparent)]
    Program(#[from] ResolveError),
}

impl Variants {
    /// The command of every variant, under its label or its number.
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
