//! Errors of a scenario that cannot be run.

use crate::ranks::RankError;

/// Reason why a scenario cannot be run.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum SimError {
    /// A parameter has a value that is not allowed.
    #[error("{what} is {value}, but {rule}")]
    Invalid {
        /// Name of the parameter.
        what: &'static str,
        /// Value of the parameter.
        value: String,
        /// Rule that the value violates.
        rule: &'static str,
    },
    /// The run has several ranks, which cannot go on together.
    #[error(transparent)]
    Ranks(#[from] RankError),
    /// The router's parameters contradict each other.
    #[error(transparent)]
    Gossip(#[from] undertone_gossip::ConfigError),
}
