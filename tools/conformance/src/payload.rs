//! Stamped payloads, which begin with a sequence number and a send time, so that any receiver on the
//! same machine can measure a message's latency.
//!
//! Layout: 8 bytes sequence number, 8 bytes [`monotonic_ns`](undertone_node_process::host::monotonic_ns) (both big
//! endian), then filling with the lowest byte of the sequence number.

use thiserror::Error;

use crate::protocol::Delivery;

#[cfg(test)]
#[path = "tests/payload.rs"]
mod tests;

/// Length of a stamp in bytes.
pub const STAMP_BYTES: usize = 16;
/// Number of payload bytes that a [`Delivery`] shows.
pub const HEAD_BYTES: usize = 32;
/// Longest payload that a peer program builds, in bytes: above every limit under test.
pub const MAX_BYTES: usize = 16 << 20;
/// Age in nanoseconds from which on a stamp is taken for unrelated data.
const MAX_AGE_NS: u64 = 600_000_000_000;
/// Largest integer that JavaScript keeps exactly.
const MAX_SEQ: u64 = (1 << 53) - 1;

/// Errors in building a stamped payload.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
pub enum StampError {
    /// The payload is too short for the stamp, or longer than [`MAX_BYTES`].
    #[error("payload of {size} bytes: give {STAMP_BYTES} to {MAX_BYTES}")]
    Size {
        /// Requested length, in bytes.
        size: usize,
    },
    /// The sequence number does not fit a JavaScript number.
    #[error("sequence number {seq}: give at most {MAX_SEQ}")]
    Sequence {
        /// Requested sequence number, too large.
        seq: u64,
    },
}

/// Parses the size of a stamped payload on a command line, bytes.
pub fn parse_size(text: &str) -> Result<usize, String> {
    match text.parse() {
        Ok(size) if (STAMP_BYTES..=MAX_BYTES).contains(&size) => Ok(size),
        _ => Err(format!("give {STAMP_BYTES} to {MAX_BYTES} bytes")),
    }
}

/// Builds a payload of `size` bytes with the send time `now_ns`.
pub fn stamped(seq: u64, size: usize, now_ns: u64) -> Result<Vec<u8>, StampError> {
    if !(STAMP_BYTES..=MAX_BYTES).contains(&size) {
        return Err(StampError::Size { size });
    }
    if seq > MAX_SEQ {
        return Err(StampError::Sequence { seq });
    }
    let filling = seq.to_be_bytes()[7];
    let mut payload = vec![filling; size];
    payload[..8].copy_from_slice(&seq.to_be_bytes());
    payload[8..STAMP_BYTES].copy_from_slice(&now_ns.to_be_bytes());
    Ok(payload)
}

/// Returns sequence number and age in nanoseconds, if the payload is stamped.
#[must_use]
pub fn read_stamp(payload: &[u8], now_ns: u64) -> Option<(u64, u64)> {
    let (seq, rest) = payload.split_first_chunk::<8>()?;
    let (sent_ns, _) = rest.split_first_chunk::<8>()?;
    let seq = u64::from_be_bytes(*seq);
    let age_ns = now_ns.checked_sub(u64::from_be_bytes(*sent_ns))?;
    (age_ns < MAX_AGE_NS && seq <= MAX_SEQ).then_some((seq, age_ns))
}

/// Builds the event for a payload that arrived at `now_ns`.
#[must_use]
pub fn delivery(topic: String, id: String, from: String, payload: &[u8], now_ns: u64) -> Delivery {
    let (seq, latency_ns) = read_stamp(payload, now_ns).unzip();
    let head = hex::encode(&payload[..payload.len().min(HEAD_BYTES)]);
    Delivery {
        topic,
        id,
        from,
        seq,
        latency_ns,
        bytes: payload.len(),
        head,
    }
}
