//! Memory that a run needs, and memory that is available.

use std::fs;

use undertone_sim::Scenario;
use undertone_sim::scenario::Topology;

/// Memory of a node without connections, bytes.
const NODE_BYTES: u64 = 9_000;
/// Memory of one end of a connection, bytes: state of the router and of TCP per peer (measured in
/// docs/measurements/benchmarks.md: 17 kB for a node with twenty).
const END_BYTES: u64 = 380;
/// Memory of a light client with both ends of its connections, bytes.
const CLIENT_BYTES: u64 = 27_000;
/// Memory of a message at a node that has it, bytes.
const DELIVERY_BYTES: u64 = 200;

/// Estimates the memory of a run, bytes, within a factor of two. Serves to warn before a run that would exhaust
/// memory.
pub fn estimated_bytes(scenario: &Scenario) -> u64 {
    let nodes = u64::from(scenario.nodes);
    let ends = match &scenario.topology {
        Topology::Dials(dials) => nodes * u64::from(*dials) * 2,
        Topology::Regular(degree) => nodes * u64::from(*degree),
        Topology::Line | Topology::Ring | Topology::Star => nodes * 2,
        Topology::FullMesh | Topology::Discovery(_) => nodes * (nodes - 1),
        Topology::Edges(edges) => edges.len() as u64 * 2,
    };
    let clients = scenario.services.as_ref();
    let clients = clients.map_or(0, |services| u64::from(services.light_clients));
    let deliveries = (nodes + clients).saturating_mul(u64::from(scenario.traffic.messages));
    let parts = [
        nodes * NODE_BYTES,
        ends * END_BYTES,
        clients * CLIENT_BYTES,
        deliveries.saturating_mul(DELIVERY_BYTES),
    ];
    parts.into_iter().fold(0, u64::saturating_add)
}

/// Memory that the system can give without swapping, bytes; `None` where it does not say.
pub fn available_bytes() -> Option<u64> {
    mem_available_bytes(&fs::read_to_string("/proc/meminfo").ok()?)
}

/// Parses `MemAvailable` of `/proc/meminfo`, bytes.
pub(super) fn mem_available_bytes(meminfo: &str) -> Option<u64> {
    let mut lines = meminfo.lines();
    let line = lines.find_map(|line| line.strip_prefix("MemAvailable:"))?;
    let kib: u64 = line.trim().strip_suffix("kB")?.trim().parse().ok()?;
    Some(kib * 1024)
}
