//! `undertone testbed attacker-node`: a node that publishes without regard to its limit.
//!
//! The node's second message with one message id makes its member's secret public, and with it the member's
//! deposit. So it starts only on a network without deposits and without a route to other machines.

use std::fs;

use undertone_node::assemble::MakeProofs;
use undertone_node::config::NodeConfig;
use undertone_testbed::DEVICE;

use crate::commands::lab::spammers_proofs;
use crate::commands::{Failure, node};

/// Name of the network whose members have paid no deposit.
const NETWORK: &str = "local";

/// Runs the attacker until SIGTERM or SIGINT.
pub(super) fn run(args: &node::Args) -> Result<(), Failure> {
    node::run_with(args, |config| {
        harmless(config, &ways_out()).map_err(|reason| {
            Failure::usage(format!(
                "an attacker is for `undertone testbed` only: {reason}"
            ))
        })?;
        Ok(make_spam(config))
    })
}

/// Returns the devices of this network namespace's routes, except the loopback and the testbed's own.
fn ways_out() -> Vec<String> {
    let read = |path| fs::read_to_string(path).unwrap_or_default();
    let (four, six) = (
        read("/proc/self/net/route"),
        read("/proc/self/net/ipv6_route"),
    );
    let four = four.lines().skip(1);
    let four = four.filter_map(|line| line.split_whitespace().next());
    let six = six
        .lines()
        .filter_map(|line| line.split_whitespace().last());
    let mut devices: Vec<_> = four
        .chain(six)
        .filter(|device| !["lo", DEVICE].contains(device))
        .map(str::to_owned)
        .collect();
    devices.sort_unstable();
    devices.dedup();
    devices
}

/// Checks that the configured node cannot harm its member or others; otherwise returns the reason.
fn harmless(config: &NodeConfig, ways_out: &[String]) -> Result<(), String> {
    let network = config.network.name;
    if network != NETWORK {
        return Err(format!("network {network}; take --network {NETWORK}"));
    }
    if config.rln.as_ref().is_some_and(|rln| rln.chain.is_some()) {
        return Err("its members are those of a contract, and pay deposits".into());
    }
    if !ways_out.is_empty() {
        let devices = ways_out.join(", ");
        return Err(format!(
            "other machines are reached from here, by {devices}"
        ));
    }
    Ok(())
}

/// Returns the factory of a spammer's proofs; `None` without a rate limit.
fn make_spam(config: &NodeConfig) -> Option<MakeProofs> {
    let (epoch_size_s, folder) = (
        config.rln.as_ref()?.params.epoch_size_s,
        config.data_dir.clone(),
    );
    Some(Box::new(move |member| {
        spammers_proofs(member, epoch_size_s, &folder)
    }))
}

#[cfg(test)]
mod tests;
