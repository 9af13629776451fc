//! Prediction of the transfer time by slow start alone, for a connection whose path is constant and
//! idle.

use undertone_link::packet::Rate;

use super::{Case, Moment};

/// Data of a full segment in bytes: 1500 minus IPv4 (20), TCP (20) and timestamps (12).
const SEGMENT_BYTES: u64 = 1448;

/// Length of a full segment's packet, in bytes.
const PACKET_BYTES: u64 = 1500;

/// Initial window in segments, on a fresh connection and again after a pause (RFC 6928).
const INITIAL_WINDOW: u64 = 10;

/// Predicts the milliseconds from the write to the last byte read, in the order of [`Moment::ALL`].
///
/// Windows of 10, 20, 40 … segments are sent one round trip after another; a round takes twice the
/// delay of the path, and the time in which one packet passes the two links. The last window is
/// sent at the links' rate. A warm message is one window, because the message before it was as
/// long. All segments are taken as full, which is right to within one packet.
pub fn slow_start_ms(case: &Case) -> [f64; 3] {
    transfer_ms(case.size_bytes as u64, case.one_way_ms as f64, case.rate)
}

/// Predicts the same for a message on any path whose two links have one rate.
pub fn transfer_ms(size_bytes: u64, one_way_ms: f64, rate: Rate) -> [f64; 3] {
    let packet_ms = PACKET_BYTES as f64 * 1000.0 / rate.as_bytes_per_s() as f64;
    let segments = size_bytes.div_ceil(SEGMENT_BYTES).max(1);
    let window_ms = |segments: u64| one_way_ms + packet_ms * (segments as f64 + 1.0);
    let (rounds, last) = rounds(segments);
    let slow_ms = rounds as f64 * 2.0 * (one_way_ms + packet_ms) + window_ms(last);
    Moment::ALL.map(|moment| match moment {
        Moment::Cold | Moment::Idle => slow_ms,
        Moment::Warm => window_ms(segments),
    })
}

/// Returns the number of full windows before the last one, and the segments in the last.
fn rounds(segments: u64) -> (u32, u64) {
    let (mut rounds, mut left, mut window) = (0, segments, INITIAL_WINDOW);
    while left > window {
        left -= window;
        window = window.saturating_mul(2);
        rounds += 1;
    }
    (rounds, left)
}

#[cfg(test)]
#[path = "tests/formula.rs"]
mod tests;
