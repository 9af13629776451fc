//! Conversion of links and transport to `[network]`.

use undertone_settings::{MS, S, TomlValue};
use undertone_sim::scenario::{Delay, Network, Qdisc};

use super::values::{WrittenTable, count, list, matrix, named, shortest, text, time};
use crate::scenario::read::{BYTES_PER_MBIT, SEND_BUFFERS, TCP_PROFILES};

pub(super) fn write(network: &Network) -> TomlValue {
    let mut table = WrittenTable::default();
    table.set("uplink_mbit_per_s", mbit(network.uplink_bytes_per_s));
    table.set("downlink_mbit_per_s", mbit(network.downlink_bytes_per_s));
    table.time("unlimited_until_s", network.unlimited_until_ns, S);
    match &network.delay {
        Delay::Constant { one_way_ns } => table.time("one_way_ms", *one_way_ns, MS),
        Delay::Uniform { min_ns, max_ns } => {
            table.time("min_one_way_ms", *min_ns, MS);
            table.time("max_one_way_ms", *max_ns, MS);
        }
        Delay::Places { one_way_ns } => table.set("places", places(network, one_way_ns)),
    }
    table.time("jitter_ms", network.jitter_ns, MS);
    if network.place_loss.is_empty() {
        table.set("loss", shortest(network.loss));
    }
    match network.queue {
        Qdisc::Fifo { max_bytes } => {
            table.set("queue", text("fifo"));
            table.set("fifo_max_bytes", count(max_bytes));
        }
        Qdisc::CoDel {
            target_ns,
            interval_ns,
        } => {
            table.set("queue", text("codel"));
            table.time("codel_target_ms", target_ns, MS);
            table.time("codel_interval_ms", interval_ns, MS);
        }
    }
    table.set("tcp", named(&network.tcp, TCP_PROFILES));
    table.set(
        "send_buffer",
        named(&network.tuned_send_buffers, SEND_BUFFERS),
    );
    let shrinks = TomlValue::Bool(network.slow_start_after_idle);
    table.set("slow_start_after_idle", shrinks);
    let handshake = network.handshake.map(|known| known.name);
    table.set("handshake", text(handshake.unwrap_or("constant")));
    if handshake.is_none() {
        table.set("setup_packets", count(network.setup_packets));
    }
    table.set("mux_overhead_bytes", count(network.mux_overhead_bytes));
    table.set("mux_piece_bytes", count(network.mux_piece_bytes));
    table.set("mux", text(network.mux.0.name));
    table.finish()
}

/// Delays between places, with what differs from place to place.
fn places(network: &Network, one_way_ns: &[Vec<u64>]) -> TomlValue {
    let mut table = WrittenTable::default();
    table.set("one_way_ms", matrix(one_way_ns, |ns| time(ns, MS)));
    let rates = &network.place_rates;
    if !rates.is_empty() {
        let (up, down) = (rates.iter().map(|r| r.0), rates.iter().map(|r| r.1));
        table.set("uplink_mbit_per_s", list(up.map(mbit)));
        table.set("downlink_mbit_per_s", list(down.map(mbit)));
    }
    if !network.place_loss.is_empty() {
        table.set("loss", matrix(&network.place_loss, shortest));
    }
    table.finish()
}

/// A rate in megabits per second.
pub(super) fn mbit(bytes_per_s: u64) -> TomlValue {
    shortest(bytes_per_s as f64 / BYTES_PER_MBIT)
}
