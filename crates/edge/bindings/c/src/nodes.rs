//! The nodes of this process by number.

use std::collections::BTreeMap;
use std::sync::Arc;

use parking_lot::Mutex;
use undertone_bindings::{NodeError, UndertoneNode};

use crate::boundary::argument;

/// Number of a node. No number is given twice, and 0 is none.
pub type NodeHandle = u64;

static NODES: Mutex<NumberedNodes> = Mutex::new(NumberedNodes {
    last: 0,
    nodes: BTreeMap::new(),
});

struct NumberedNodes {
    last: NodeHandle,
    nodes: BTreeMap<NodeHandle, Arc<UndertoneNode>>,
}

/// Keeps a node until it is removed, and returns its number.
pub(crate) fn add(node: Arc<UndertoneNode>) -> NodeHandle {
    let mut all = NODES.lock();
    all.last += 1;
    let number = all.last;
    all.nodes.insert(number, node);
    number
}

/// Returns a node, which stays while it is used, even if another thread destroys it.
///
/// # Errors
/// [`NodeError::Argument`] if there is none with this number.
pub(crate) fn get(number: NodeHandle) -> Result<Arc<UndertoneNode>, NodeError> {
    let node = NODES.lock().nodes.get(&number).cloned();
    node.ok_or_else(|| missing(number))
}

/// Removes a node and returns it.
///
/// # Errors
/// [`NodeError::Argument`] if there is none with this number.
pub(crate) fn remove(number: NodeHandle) -> Result<Arc<UndertoneNode>, NodeError> {
    let node = NODES.lock().nodes.remove(&number);
    node.ok_or_else(|| missing(number))
}

fn missing(number: NodeHandle) -> NodeError {
    let reason =
        format!("{number} is no node: it was destroyed, or undertone_start did not give it");
    argument("node", reason)
}
