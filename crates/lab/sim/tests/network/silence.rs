//! What a pause between messages does to connections.

use undertone_sim::scenario::{Spacing, TcpProfile, Topology};

use crate::support::{S, latency_ms, simulate, with_messages};

/// Latencies of 500 KB messages between two nodes, ten seconds apart, milliseconds.
fn latencies_ms(tcp: TcpProfile, slow_start_after_idle: bool) -> Vec<u64> {
    let mut scenario = with_messages(2, 6);
    scenario.topology = Topology::Line;
    scenario.relay.max_message_bytes = 600_000;
    scenario.traffic.payload_bytes = vec![500_000];
    scenario.traffic.spacing = Spacing::Constant(10 * S);
    scenario.drain_ns = 10 * S;
    scenario.network.tcp = tcp;
    scenario.network.slow_start_after_idle = slow_start_after_idle;
    let outcome = simulate(&scenario);
    let deliveries = outcome.deliveries.iter();
    deliveries
        .map(|delivery| latency_ms(&outcome, delivery).round() as u64)
        .collect()
}

/// 500 KB at 100 Mbit/s, headers and all: 42 ms, and 50 ms of delay.
const ONE_WAY_MS: std::ops::Range<u64> = 90..96;

#[test]
fn a_window_that_is_kept_needs_no_round_trips() {
    for tcp in [TcpProfile::Linux, TcpProfile::Shadow] {
        let kept = latencies_ms(tcp, false);
        assert_eq!(kept.len(), 6);
        assert!(ONE_WAY_MS.contains(&kept[5]), "{tcp:?}: {kept:?}");
    }
}

#[test]
fn a_window_that_is_lost_opens_anew_for_every_message() {
    for tcp in [TcpProfile::Linux, TcpProfile::Shadow] {
        let lost = latencies_ms(tcp, true);
        assert!(
            lost.iter().all(|ms| *ms > 2 * ONE_WAY_MS.end),
            "{tcp:?}: {lost:?}"
        );
    }
}
