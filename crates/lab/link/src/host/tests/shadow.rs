//! Comparison with Shadow: one connection, one message, from the write to the last byte read.

use super::*;

/// Bytes of the message, and for one-way delays of 75, 100 and 150 ms the milliseconds on a cold
/// and on a warm connection. Measured with Shadow 3.3.0, two hosts at 100 Mbit/s.
const MEASURED: [(u64, [f64; 6]); 8] = [
    (2_000, [75.0, 75.0, 100.0, 100.0, 150.0, 150.0]),
    (10_000, [377.0, 75.0, 502.0, 100.0, 752.0, 150.0]),
    (25_000, [528.0, 75.5, 703.0, 100.5, 1053.0, 150.5]),
    (50_000, [679.0, 77.5, 904.0, 102.5, 1354.0, 152.5]),
    (100_000, [830.0, 82.5, 1105.0, 107.5, 1655.0, 157.5]),
    (250_000, [984.5, 94.5, 1309.5, 119.5, 1959.5, 169.5]),
    (500_000, [1139.5, 115.0, 1514.5, 140.0, 2264.5, 190.0]),
    (1_000_000, [1300.5, 157.0, 1725.5, 182.0, 2575.5, 232.0]),
];

#[test]
fn all_48_cells_agree_within_a_millisecond() {
    let mut wrong = Vec::new();
    for (bytes, row) in MEASURED {
        for (i, one_way_ms) in [75, 100, 150].into_iter().enumerate() {
            let mut pair = Pair::new(config(Profile::SHADOW), one_way_ms * MS);
            for (j, expected) in row[2 * i..2 * i + 2].iter().enumerate() {
                pair.now = 10_000_500_000 * (1 + j as u64);
                let start = pair.now;
                pair.write(0, j as u32, bytes);
                pair.run_until(start + 9_000 * MS);
                let took = (pair.last_received_ns() - start) as f64 / 1e6;
                if (took - expected).abs() > 1.0 {
                    wrong.push((bytes, one_way_ms, ["cold", "warm"][j], *expected, took));
                }
            }
        }
    }
    assert!(wrong.is_empty(), "{wrong:#?}");
}
