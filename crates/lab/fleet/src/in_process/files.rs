//! Limit on the number of files that the nodes of one process may open.

use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};

use super::error::NodesError;

/// Open files per node: its listener, its connections, the runtime's own files and its counter.
const EACH: u64 = 48;
/// Open files of the process besides those of its nodes.
const SHARED: u64 = 100;

/// Raises the soft limit of open files as far as `nodes` nodes need, at most to the hard limit.
pub(crate) fn allow_for(nodes: usize) -> Result<(), NodesError> {
    let needed = SHARED + EACH * nodes as u64;
    let limit = getrlimit(Resource::Nofile);
    // `None` stands for "unlimited".
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
