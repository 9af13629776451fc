//! `undertone testbed attacker-node`: a node that publishes regardless of its limit.

use undertone_fleet::attack::spammers_proofs;

use crate::commands::{Failure, node};

/// Runs the attacker until SIGTERM or SIGINT.
pub(super) fn run(args: &node::Args) -> Result<(), Failure> {
    node::run_with(args, |config| {
        spammers_proofs(config).map_err(|reason| {
            Failure::usage(format!(
                "an attacker is for `undertone testbed` only: {reason}"
            ))
        })
    })
}
