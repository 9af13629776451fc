//! Comparison with a Linux kernel: Linux 6.18, cubic, two namespaces joined by TUN devices at 100 Mbit/s.
//! The testbed prints these figures; see docs/design/network-model.md.

use super::*;

/// Bytes of the message, and for one-way delays of 75, 100 and 150 ms the milliseconds on a fresh
/// connection, on a warm one, and on the same connection after ten seconds of silence.
const MEASURED: [(u64, [f64; 9]); 8] = [
    (
        2_000,
        [75.4, 75.4, 75.6, 100.3, 100.4, 100.6, 150.4, 150.4, 150.4],
    ),
    (
        10_000,
        [76.1, 76.1, 76.1, 101.0, 101.1, 101.3, 151.1, 151.0, 151.1],
    ),
    (
        25_000,
        [226.4, 77.3, 226.7, 301.5, 102.3, 301.5, 451.5, 152.4, 451.6],
    ),
    (
        50_000,
        [376.4, 79.4, 376.7, 501.6, 104.4, 501.9, 751.7, 154.5, 751.9],
    ),
    (
        100_000,
        [380.6, 83.5, 380.9, 505.7, 108.5, 506.7, 755.7, 158.5, 755.9],
    ),
    (
        250_000,
        [
            679.8, 96.0, 679.5, 905.0, 121.0, 905.0, 1354.8, 171.0, 1355.0,
        ],
    ),
    (
        500_000,
        [
            831.5, 116.7, 831.9, 1107.4, 141.7, 1106.6, 1657.0, 191.7, 1656.6,
        ],
    ),
    (
        1_000_000,
        [
            985.3, 158.4, 985.6, 1310.8, 183.2, 1310.8, 1960.9, 233.1, 1960.6,
        ],
    ),
];

#[test]
fn all_72_cells_agree_within_a_hundredth_or_a_millisecond_and_a_half() {
    let mut wrong = Vec::new();
    for (bytes, row) in MEASURED {
        for (i, one_way_ms) in [75, 100, 150].into_iter().enumerate() {
            let mut pair = Pair::new(config(Profile::LINUX), one_way_ms * MS);
            // Warm: sent as soon as the first message has arrived and is acknowledged; then after a
            // silence.
            let mut start = MS;
            for (j, expected) in row[3 * i..3 * i + 3].iter().enumerate() {
                pair.run_until(start);
                pair.write(0, j as u32, bytes);
                pair.run_until(start + 4_000 * MS);
                let took = (pair.last_received_ns() - start) as f64 / 1e6;
                let pause = if j == 0 { 200 } else { 10_000 };
                start = pair.last_received_ns() + pause * MS;
                if (took - expected).abs() > (expected / 100.0).max(1.5) {
                    wrong.push((
                        bytes,
                        one_way_ms,
                        ["cold", "warm", "idle"][j],
                        *expected,
                        took,
                    ));
                }
            }
        }
    }
    assert!(wrong.is_empty(), "{wrong:#?}");
}

/// Bytes and milliseconds on a warm connection, 40 ms one way, with a send buffer that holds the message.
/// A window that was filled once still grows by the acknowledgements of the last, partly filled one.
const WARM_AT_40_MS: [(u64, f64); 6] = [
    (110_000, 49.5),
    (140_000, 51.8),
    (160_000, 53.5),
    (200_000, 56.8),
    (350_000, 69.3),
    (700_000, 98.3),
];

#[test]
fn a_second_message_of_the_same_size_fits_the_window_that_the_first_opened() {
    for (bytes, expected) in WARM_AT_40_MS {
        let mut pair = Pair::new(config(Profile::LINUX), 40 * MS);
        let mut start = MS;
        for frame in 0..2 {
            pair.run_until(start);
            pair.write(0, frame, bytes);
            pair.run_until(start + 4_000 * MS);
            let took = (pair.last_received_ns() - start) as f64 / 1e6;
            start = pair.last_received_ns() + 200 * MS;
            if frame == 1 {
                let error = (took - expected).abs();
                assert!(error < 1.5, "{bytes} bytes: {took} ms, {expected} measured");
            }
        }
    }
}

/// 16 414 bytes are 12 packets, the last of them not full; pieces that have to wait are
/// joined into full packets.
#[test]
fn pieces_that_leave_at_once_end_with_a_packet_of_their_own() {
    let pieces = StackConfig {
        piece_bytes: 16_414,
        ..config(Profile::LINUX)
    };
    let packets = |config: StackConfig, bytes: &[u64]| {
        let mut pair = Pair::new(config, 10 * MS);
        let mut sent = 0;
        for (frame, bytes) in bytes.iter().enumerate() {
            sent = pair.hosts[0].totals().sent_packets;
            pair.write(0, frame as u32, *bytes);
            pair.run_until(pair.now + 150 * MS);
        }
        pair.hosts[0].totals().sent_packets - sent
    };
    let whole = config(Profile::LINUX);
    assert_eq!(packets(whole, &[25_700]), 18);
    assert_eq!(
        packets(pieces, &[25_700]),
        18,
        "a first window has no room for a piece"
    );
    assert_eq!(packets(pieces, &[25_700, 25_700]), 19, "a second one has");
}
