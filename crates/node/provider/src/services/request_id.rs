//! Ids of requests to service peers.

use std::fmt::Write as _;

/// Returns a random id. It tells the peer neither why this node asks, nor how much it has asked before.
pub(super) fn random() -> String {
    let mut bytes = [0_u8; 10];
    // Each answer comes on the stream of its request, so ids that repeat, without a source of random bytes, do no harm.
    let _ = getrandom::fill(&mut bytes);
    let mut id = String::with_capacity(2 * bytes.len());
    for byte in bytes {
        // Writing to a string cannot fail.
        let _ = write!(id, "{byte:02x}");
    }
    id
}
