//! The network for which a proof is made, and the present time.

use std::time::{SystemTime, UNIX_EPOCH};

use undertone_message::{NetworkPreset, UnknownNetwork};
use undertone_relay::{RelayConfig, RlnConfig};
use undertone_rln::prover::MAX_LIMIT;

use super::Failure;

/// Parses the value of `--network`.
pub(super) fn parse(name: &str) -> Result<NetworkPreset, UnknownNetwork> {
    NetworkPreset::by_name(name)
}

/// Returns the network's requirements on a proof, as a relay applies them.
pub(super) fn rln(network: &NetworkPreset) -> Result<RlnConfig, Failure> {
    RelayConfig::for_network(network)
        .rln
        .ok_or_else(|| without_rln(network))
}

/// Returns the maximum limit of a member of the network, messages per epoch.
pub(super) fn max_limit(network: &NetworkPreset) -> Result<u32, Failure> {
    let params = network.rln.ok_or_else(|| without_rln(network))?;
    let limit = u32::try_from(params.user_message_limit).unwrap_or(MAX_LIMIT);
    Ok(limit.min(MAX_LIMIT))
}

fn without_rln(network: &NetworkPreset) -> Failure {
    Failure::new(format!("network {}: has no rate limit", network.name))
        .with_help("choose another --network")
}

/// Returns the Unix time by the system's clock, nanoseconds.
pub(crate) fn unix_now_ns() -> Result<u64, Failure> {
    let since_1970 = SystemTime::now().duration_since(UNIX_EPOCH).ok();
    since_1970
        .and_then(|age| u64::try_from(age.as_nanos()).ok())
        .ok_or_else(|| {
            Failure::new("the system's clock is before 1970 or after 2554")
                .with_help("set the clock right")
        })
}
