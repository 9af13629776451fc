//! Memory with and without RLN, each measured in a new child process.

use std::process::Command;
use std::sync::Arc;

use serde::Serialize;
use undertone_node_process::host::vm_rss;
use undertone_rln::{Identity, Key, Prover, Verifier};

use super::{MeasureError, tree};

/// Resident memory with and without RLN, 10^6 bytes.
#[derive(Clone, Copy, Debug, Serialize)]
pub struct Memory {
    /// Memory of the program alone.
    pub without_rln_mb: f64,
    /// Memory with key, tables, a member, a verifier and a tree of 10,000 members.
    pub with_rln_mb: f64,
}

/// Measures two children, which print their [`resident_bytes`]: one while it does nothing, the other in
/// [`with_rln`]. `None` where the operating system does not report resident memory.
///
/// # Errors
/// Returns [`MeasureError::Child`] when a child cannot be started.
pub fn measure(without: Command, with: Command) -> Result<Option<Memory>, MeasureError> {
    let (without, with) = (ask(without)?, ask(with)?);
    Ok(without.zip(with).map(|(without, with)| Memory {
        without_rln_mb: without as f64 / 1e6,
        with_rln_mb: with as f64 / 1e6,
    }))
}

fn ask(mut child: Command) -> Result<Option<u64>, MeasureError> {
    let output = child.output().map_err(MeasureError::Child)?;
    let text = String::from_utf8_lossy(&output.stdout);
    Ok(text.trim().parse().ok())
}

/// Calls `work` while RLN is in use: key, tables, a member, a verifier and a tree of 10,000 members.
///
/// # Errors
/// Returns [`MeasureError`] when the key cannot be loaded or the member's tables cannot be made.
pub fn with_rln<T>(work: impl FnOnce() -> T) -> Result<T, MeasureError> {
    let tree = tree::build(&tree::leaves());
    let path = tree.path(5).expect("5 is an index of the tree");
    let key = Key::load()?;
    let prover = Prover::new(Arc::clone(&key));
    let identity = Identity::from_seed(b"undertone rln bench");
    let member = prover.member(&identity, 20, &path)?;
    let held = (tree, prover, member, Verifier::new(&key));
    let done = work();
    drop(held);
    Ok(done)
}

/// Returns this process's resident memory in bytes; `None` where the system has no `/proc`.
pub fn resident_bytes() -> Option<u64> {
    let status = std::fs::read_to_string("/proc/self/status").ok()?;
    Some(vm_rss(&status)? * 1024)
}
