//! Flow control of multiplexers: what a window costs a large message, and that no credit is ever lost.

use super::*;

fn with(flow_control: Option<FlowControl>) -> StackConfig {
    StackConfig {
        setup_packets: 4_000,
        flow_control,
        ..config(Profile::SHADOW)
    }
}

/// Time that a message of `bytes` takes over 100 ms one way and 100 Mbit/s, on a warm but silent connection,
/// milliseconds.
fn takes_ms(bytes: u64, flow_control: Option<FlowControl>) -> f64 {
    let mut pair = Pair::new(with(flow_control), 100 * MS);
    pair.now = 10_000 * MS;
    let start = pair.now;
    pair.write(0, 1, bytes);
    pair.run_until(start + 20_000 * MS);
    (pair.last_received_ns() - start) as f64 / 1e6
}

#[test]
fn a_window_that_does_not_grow_costs_a_round_trip_for_each_window() {
    for (bytes, windows) in [
        (262_144, 0),
        (262_145, 1),
        (600_000, 2),
        (1_000_000, 3),
        (1_800_000, 6),
    ] {
        let (free, bound) = (
            takes_ms(bytes, None),
            takes_ms(bytes, Some(FlowControl::YAMUX_NIM)),
        );
        let waits = (bound - free) / 200.0;
        assert_eq!(
            waits.round() as i64,
            windows,
            "{bytes}: {free} and {bound} ms"
        );
    }
}

#[test]
fn a_window_that_doubles_costs_fewer() {
    // Rust: 256 KiB, then 128 and 384 as the window has doubled with the second half, then more than is left.
    // Go: 256 KiB, then the 192 that the receiver had read in three frames, then 384 as the window doubles.
    let cells = [
        (FlowControl::YAMUX_RUST, [1, 2]),
        (FlowControl::YAMUX_GO, [2, 3]),
    ];
    for (rules, windows) in cells {
        let waits = |bytes| (takes_ms(bytes, Some(rules)) - takes_ms(bytes, None)) / 200.0;
        let waits = [700_000, 1_000_000].map(|bytes| waits(bytes).round() as i64);
        assert_eq!(waits, windows, "{rules:?}");
    }
}

#[test]
fn small_messages_are_as_fast_as_without() {
    for bytes in [1, 2_000, 100_000, 250_000] {
        let bound = takes_ms(bytes, Some(FlowControl::YAMUX_NIM));
        assert!((bound - takes_ms(bytes, None)).abs() < 0.001, "{bytes}");
    }
}

#[test]
fn all_credit_comes_back_even_if_packets_are_lost() {
    for (loss, rules) in [
        (0.0, FlowControl::YAMUX_NIM),
        (0.02, FlowControl::YAMUX_NIM),
        (0.05, FlowControl::YAMUX_GO),
        (0.05, FlowControl::YAMUX_RUST),
        (0.02, FlowControl::YAMUX_JS),
    ] {
        let mut pair = Pair::new(
            StackConfig {
                loss,
                ..with(Some(rules))
            },
            10 * MS,
        );
        let sizes = [3_000, 700_001, 1, 262_144, 50_000, 1_460, 999_999];
        for (frame, bytes) in (0..).zip(sizes) {
            pair.write(0, frame, bytes);
            pair.write(1, frame, bytes / 2);
        }
        pair.run_until(3_600_000 * MS);
        for host in [0, 1] {
            let got = pair.received.iter().filter(|(_, at, _)| *at == host);
            let got: Vec<_> = got.map(|(_, _, frame)| *frame).collect();
            assert_eq!(got, [0, 1, 2, 3, 4, 5, 6], "loss {loss}");
            let flow = |host: usize| pair.hosts[host].get(0).unwrap().flow.clone().unwrap();
            let (sender, receiver) = (flow(1 - host), flow(host));
            let known = sender.credit_bytes + receiver.read_bytes;
            match rules.doubling_loses_read {
                true => assert!(known <= receiver.window_bytes, "loss {loss}"),
                false => assert_eq!(known, receiver.window_bytes, "loss {loss}"),
            }
        }
    }
}

#[test]
fn a_message_that_waited_for_its_window_goes_on_behind_what_was_written_meanwhile() {
    let slow = StackConfig {
        uplink_bytes_per_s: 1_000_000,
        ..with(Some(FlowControl::YAMUX_NIM))
    };
    let mut pair = Pair::new(slow, 100 * MS);
    let more = [ConnIx(1), ConnIx(2)];
    for conn in more {
        for host in [0, 1] {
            let connect = Input::Connect {
                conn,
                remote: 1 - host as u32,
                remote_conn: conn,
                delay_ns: 100 * MS,
                reverse_delay_ns: 100 * MS,
                loss: 0.0,
                sent_before: None,
            };
            pair.input(host, connect);
        }
    }
    pair.now = 10_000 * MS;
    // The first window of message 0 takes 0.26 s, the next is granted 0.2 s later: while message 1 is leaving, and
    // message 2, which needs one window only, is in its socket.
    pair.write(0, 0, 500_000);
    for (conn, frame) in more.into_iter().zip([1, 2]) {
        let priority = Priority::Normal;
        let write = Input::Write {
            conn,
            frame,
            bytes: 260_000,
            priority,
        };
        pair.input(0, write);
    }
    pair.run_until(20_000 * MS);
    let order: Vec<u32> = pair.received.iter().map(|(_, _, frame)| *frame).collect();
    assert_eq!(order, [1, 2, 0]);
}
