//! How many files the nodes of one process may open.

use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};

use super::error::NodesError;

/// Of a node: its listener, connections, the runtime's own, counter.
const EACH: u64 = 48;
/// Of the process.
const SHARED: u64 = 100;

/// Raises the soft limit as far as needed, and not beyond the hard one.
pub(super) fn allow_for(nodes: usize) -> Result<(), NodesError> {
    let needed = SHARED + EACH * nodes as u64;
    let limit = getrlimit(Resource::Nofile);
    // No limit is stated as none.
    let allows = |allowed: Option<u64>| allowed.is_none_or(|allowed| allowed >= needed);
    if allows(limit.current) {
        return Ok(());
    }
    let raised = Rlimit {
        current: Some(needed),
        maximum: limit.maximum,
    };
    if allows(limit.maximum) && setrlimit(Resource::Nofile, raised).is_ok() {
        return Ok(());
    }
    Err(NodesError::Files {
        needed,
        allowed: limit.maximum.or(limit.current).unwrap_or(u64::MAX),
    })
}
