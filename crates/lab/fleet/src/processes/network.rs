//! Configuration of the emulated network from a scenario's network.

use undertone_link::packet::{
    CoDel, Discipline, HostConfig, Jitter, LinkConfig, Path, Paths, Rate,
};
use undertone_sim::scenario::Qdisc;
use undertone_sim::{Plan, Scenario};
use undertone_testbed::{AddressPlan, Congestion, TestbedConfig, TestbedError};

use super::error::RunError;
use super::refuse;

/// Congestion control that the simulator's profile `linux` models best; see docs/design/network-model.md.
const CONGESTION: Congestion = Congestion::Reno;

const MILLION: f64 = 1e6;

/// Returns the testbed's configuration for a scenario whose plan was made with `seed`, for nodes of any program.
///
/// # Errors
/// Returns [`RunError`] when real networks or nodes cannot run the scenario.
pub fn emulated(scenario: &Scenario, plan: &Plan, seed: u64) -> Result<TestbedConfig, RunError> {
    refuse::check(scenario)?;
    Ok(config(scenario, plan, seed)?)
}

/// Returns the testbed's configuration for a scenario whose plan was made with `seed`.
pub(crate) fn config(
    scenario: &Scenario,
    plan: &Plan,
    seed: u64,
) -> Result<TestbedConfig, TestbedError> {
    let nodes = 0..scenario.nodes;
    let pairs = nodes
        .clone()
        .flat_map(|from| (0..scenario.nodes).map(move |to| (from, to)));
    let table = pairs.map(|(from, to)| path(scenario, plan, from, to));
    let mut full_seed = [0; 32];
    full_seed[..8].copy_from_slice(&seed.to_le_bytes());
    Ok(TestbedConfig {
        hosts: nodes.map(|node| host(scenario, plan.rates(node))).collect(),
        paths: Paths::per_pair(table.collect())?,
        addresses: AddressPlan::Private,
        congestion: Some(CONGESTION),
        slow_start_after_idle: scenario.network.slow_start_after_idle,
        seed: full_seed,
    })
}

fn path(scenario: &Scenario, plan: &Plan, from: u32, to: u32) -> Path {
    let jitter_ns = scenario.network.jitter_ns;
    // The scenario's jitter ranges from 0 to `jitter_ns`, the emulated path's from -spread to +spread.
    let spread_ns = jitter_ns / 2;
    let mut path = Path::constant(plan.one_way_ns(from, to) + spread_ns);
    path.jitter = match spread_ns {
        0 => Jitter::None,
        _ => Jitter::Uniform { spread_ns },
    };
    path.loss_ppm = (plan.loss(from, to) * MILLION).round() as u32;
    path
}

/// Returns a host's links. The uplink's queue is unlimited, as in the simulator; the downlink's queue
/// drops packets.
fn host(scenario: &Scenario, (up, down): (u64, u64)) -> HostConfig {
    // If rates are unlimited at first, the timeline sets them later.
    let is_limited = scenario.network.unlimited_until_ns == 0;
    let link = |bytes_per_s, queue_max_bytes, discipline| {
        let mut link = LinkConfig::UNLIMITED;
        link.rate = Rate::bytes_per_s(bytes_per_s).filter(|_| is_limited);
        link.queue_max_bytes = queue_max_bytes;
        link.discipline = discipline;
        link
    };
    let (queue_max_bytes, discipline) = match scenario.network.queue {
        Qdisc::Fifo { max_bytes } => (max_bytes, Discipline::Fifo),
        Qdisc::CoDel {
            target_ns,
            interval_ns,
        } => {
            let mut codel = CoDel::RFC_8289;
            codel.target_ns = target_ns;
            codel.interval_ns = interval_ns;
            (u64::MAX, Discipline::CoDel(codel))
        }
    };
    HostConfig {
        uplink: link(up, u64::MAX, Discipline::Fifo),
        downlink: link(down, queue_max_bytes, discipline),
    }
}

#[cfg(test)]
#[path = "tests/network.rs"]
mod tests;
