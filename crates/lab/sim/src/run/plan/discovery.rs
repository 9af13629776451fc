//! Validation of discovery.

use crate::error::SimError;
use crate::run::plan::check;
use crate::scenario::{Discovery, Scenario};

/// Maximum number of nodes with discovery, as memory is needed for a connection between each pair of them.
const NODES_MAX: u32 = 2_000;

/// Minimum absence of a node, nanoseconds: its peers must have noticed that it is gone, and forgotten what they
/// announced to it.
const AWAY_NS_MIN: u64 = 30_000_000_000;

pub(super) fn validate(scenario: &Scenario, discovery: &Discovery) -> Result<(), SimError> {
    let few = "with discovery there are at most 2000";
    check(scenario.nodes <= NODES_MAX, "nodes", scenario.nodes, few)?;
    let alone = "services have no discovery";
    let has_services = scenario.services.is_some();
    check(!has_services, "discovery", "services", alone)?;
    let some = "it must be 1 to 100";
    let offered = discovery.offered;
    check(
        (1..=100).contains(&offered),
        "discovery.offered",
        offered,
        some,
    )?;
    let Some(churn) = &discovery.churn else {
        return Ok(());
    };
    let share = "it must be more than 0 and at most 1";
    let per_minute = churn.share_per_minute;
    let is_share = per_minute > 0.0 && per_minute <= 1.0;
    check(is_share, "discovery.churn", per_minute, share)?;
    let long = "it must be 30 seconds or more";
    let away_s = churn.away_ns / 1_000_000_000;
    check(churn.away_ns >= AWAY_NS_MIN, "discovery.away", away_s, long)?;
    // Otherwise no node may be left that can leave.
    let here = "fewer than half of the nodes may be away at a time";
    let away = per_minute * churn.away_ns as f64 / 60e9;
    check(away < 0.5, "discovery.away", away_s, here)
}
