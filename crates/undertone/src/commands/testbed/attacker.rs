//! `undertone testbed attacker-node`: a node that publishes without regard to its limit.
//!
//! Its second message under one message id makes its member's secret public, and with it the member's
//! deposit. So it starts where nothing is at stake and from where nothing real is reached, or not at all.

use std::fs;

use undertone_node::assemble::MakeProofs;
use undertone_node::config::NodeConfig;
use undertone_testbed::DEVICE;

use crate::commands::lab::spammers_proofs;
use crate::commands::{Failure, node};

/// The network whose members have paid nothing.
const NETWORK: &str = "local";

/// Runs it until it is told to stop.
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

/// Devices, other than the loopback and the testbed's, that routes of this network namespace lead to.
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

/// Why the configured node could harm its member or others.
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

/// What makes a spammer's proofs; its secret gives way with the first of them. None without a limit.
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
