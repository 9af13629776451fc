//! Check that the nodes fit into this machine's memory.

use std::fs;

use super::error::RunError;

/// Memory of an idle node, with proofs and a dozen connections; docs/measurements/testbed.md has the measurement.
const NODE_BYTES: u64 = 40 << 20;

/// Refuses more nodes than fit into available memory. If the system does not report its memory, any number
/// is accepted.
pub(crate) fn check(nodes: u32) -> Result<(), RunError> {
    let available = fs::read_to_string("/proc/meminfo").ok();
    let available_bytes = available.and_then(|said| available_bytes(&said));
    available_bytes.map_or(Ok(()), |bytes| fit(nodes, bytes))
}

fn fit(nodes: u32, available_bytes: u64) -> Result<(), RunError> {
    let fit = available_bytes / NODE_BYTES;
    match u64::from(nodes) <= fit {
        true => Ok(()),
        false => Err(RunError::Memory { nodes, fit }),
    }
}

/// Returns `MemAvailable` of Linux's `/proc/meminfo`, in bytes.
fn available_bytes(meminfo: &str) -> Option<u64> {
    let line = meminfo
        .lines()
        .find_map(|line| line.strip_prefix("MemAvailable:"))?;
    let kib: u64 = line.trim().strip_suffix(" kB")?.parse().ok()?;
    kib.checked_mul(1 << 10)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn as_many_nodes_as_there_is_memory_for() {
        fit(25, 25 * NODE_BYTES).unwrap();
        let refused = fit(26, 26 * NODE_BYTES - 1).unwrap_err();
        assert!(refused.is_usage());
        let refused = refused.to_string();
        assert!(refused.contains("scenario.nodes = 26"), "{refused}");
        assert!(refused.contains("--set scenario.nodes=25"), "{refused}");
    }

    #[test]
    fn the_kernel_says_what_is_available() {
        let said = "MemTotal:       24000000 kB\nMemAvailable:   20000000 kB\nBuffers: 5 kB\n";
        assert_eq!(available_bytes(said), Some(20_000_000 << 10));
        assert_eq!(available_bytes("MemAvailable: much"), None);
        check(2).unwrap();
    }
}
