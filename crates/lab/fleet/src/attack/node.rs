//! The attacker that runs as a node in a process of its own, and the places in which it may run.

use std::fs;

use thiserror::Error;
use undertone_node::assemble::MakeProofs;
use undertone_node::config::NodeConfig;
use undertone_testbed::DEVICE;

use super::spammer;

/// Name of the network whose members pay no deposit.
const NETWORK: &str = "local";

/// Reason why an attacker may not run with its configuration, or in this place.
#[derive(Debug, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum Harmful {
    /// The network is used by others.
    #[error("network {network}; take --network {NETWORK}")]
    Network {
        /// Name of the configured network.
        network: &'static str,
    },
    /// The members have paid deposits, which an attack makes public.
    #[error("its members are those of a contract, and pay deposits")]
    Deposits,
    /// Other machines can be reached.
    #[error("other machines are reached from here, by {}", devices.join(", "))]
    Routes {
        /// Devices through which a route leads elsewhere.
        devices: Vec<String>,
    },
}

/// Returns the factory of a node's proofs with reused message ids; `None` without a rate limit.
///
/// # Errors
/// Returns [`Harmful`] unless the node is on a network without deposits, and in a network namespace from
/// which no other machine can be reached.
pub fn spammers_proofs(config: &NodeConfig) -> Result<Option<MakeProofs>, Harmful> {
    check(config, ways_out())?;
    let Some(rln) = &config.rln else {
        return Ok(None);
    };
    let (epoch_size_s, folder) = (rln.params.epoch_size_s, config.data_dir.clone());
    Ok(Some(Box::new(move |member| {
        spammer::spammers_proofs(member, epoch_size_s, &folder)
    })))
}

/// Returns the devices with routes in this network namespace, except the loopback and the testbed's own.
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

/// Checks that the configured node cannot harm its member or others.
fn check(config: &NodeConfig, ways_out: Vec<String>) -> Result<(), Harmful> {
    let network = config.network.name;
    if network != NETWORK {
        return Err(Harmful::Network { network });
    }
    if config.rln.as_ref().is_some_and(|rln| rln.chain.is_some()) {
        return Err(Harmful::Deposits);
    }
    if !ways_out.is_empty() {
        return Err(Harmful::Routes { devices: ways_out });
    }
    Ok(())
}

#[cfg(test)]
#[path = "tests/node.rs"]
mod tests;
