use std::time::Duration;

use undertone_link::packet::Rate;

use super::*;
use crate::Congestion;

#[test]
fn windows_double_from_ten() {
    let of = [1, 10, 11, 30, 31, 70, 71, 691].map(rounds);
    let expected = [
        (0, 1),
        (0, 10),
        (1, 1),
        (1, 20),
        (2, 1),
        (2, 40),
        (3, 1),
        (6, 61),
    ];
    assert_eq!(of, expected);
}

#[test]
fn as_by_hand() {
    let case = Case {
        size_bytes: 25_000,
        one_way_ms: 75,
        rate: Rate::mbit_per_s(100).unwrap(),
        congestion: Congestion::Cubic,
        idle: Duration::ZERO,
        send_buffer_bytes: None,
        sockets: false,
    };
    // 18 segments: 10, then 8. 225 ms of path, and 0.12 ms for each of 2 + 8 + 1 packets.
    let [cold, warm, idle] = slow_start_ms(&case);
    assert!((cold - 226.32).abs() < 1e-9, "{cold}");
    assert_eq!(cold.to_bits(), idle.to_bits());
    // 75 ms of path, and 18 + 1 packets.
    assert!((warm - 77.28).abs() < 1e-9, "{warm}");
}
