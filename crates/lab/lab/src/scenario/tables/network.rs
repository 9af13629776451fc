//! `[network]`: links and transport.

use std::path::Path;

use undertone_settings::{Error, MS, S, SectionKey, keys};
use undertone_sim::scenario::{
    Delay, HANDSHAKES, HandshakeProfile, Multiplexer, Network, Qdisc, TcpProfile,
};

use super::key::{FieldKey, Key, Table, fields};
use super::places::{MAX_MBIT, PlaceMatrix, places as place_matrix, rate, read_cities};
use crate::scenario::error::ScenarioError;
use crate::scenario::file::read_bounded;
use crate::scenario::gml::{self, GmlGraph};

const TCP_PROFILES: &[(&str, TcpProfile)] = &[
    ("linux", TcpProfile::Linux),
    ("linux-device", TcpProfile::LinuxDevice),
    ("shadow", TcpProfile::Shadow),
];

/// Names of the send buffers, and whether the stack tunes their size.
const SEND_BUFFERS: &[(&str, bool)] = &[("fixed", false), ("tuned", true)];

/// Queues. RFC 8289 recommends a target of 5 ms; Shadow uses 10 ms.
const QUEUES: &[(&str, Qdisc)] = &[
    (
        "codel",
        Qdisc::CoDel {
            target_ns: 5_000_000,
            interval_ns: 100_000_000,
        },
    ),
    ("fifo", Qdisc::Fifo { max_bytes: 0 }),
];

const LINKS: &[FieldKey<Network>] = fields![
    time(S): unlimited_until_s = unlimited_until_ns;
    time(MS): jitter_ms = jitter_ns;
    variant(QUEUES): queue;
    word(TCP_PROFILES): tcp;
    whole(0, 10_000): mux_overhead_bytes;
    whole(0, 1 << 20): mux_piece_bytes;
    word(&Multiplexer::all()): mux;
];

pub(super) fn network(
    table: &Table<'_>,
    network: &mut Network,
    folder: Option<&Path>,
) -> Result<(), ScenarioError> {
    keys!(table, LINKS => uplink_mbit_per_s, downlink_mbit_per_s, one_way_ms, min_one_way_ms, max_one_way_ms, cities, gml,
          places, loss, codel_target_ms, codel_interval_ms, fifo_max_bytes, send_buffer, slow_start_after_idle, setup_packets,
          handshake);
    table.fill(LINKS, network)?;
    let mut matrix = PlaceMatrix::of(network);
    let (mut uplinks, mut downlinks) = (Vec::new(), Vec::new());
    if let Some(key) = gml.source() {
        let graph = read_gml(key, folder)?;
        (uplinks, downlinks) = (graph.uplink_bytes_per_s, graph.downlink_bytes_per_s);
        matrix = Some(PlaceMatrix {
            one_way_ns: graph.one_way_ns,
            rates: Vec::new(),
            loss: graph.loss,
        });
    } else if places.is_set() || matrix.is_some() {
        let matrix = matrix.get_or_insert_default();
        places.table(|table| place_matrix(table, matrix))?;
    } else if let Some(key) = cities.source() {
        matrix = Some(read_cities(key)?);
    } else {
        let bounds = (min_one_way_ms, max_one_way_ms);
        delay(one_way_ms, bounds, &mut network.delay)?;
    }
    let uplinks = rates(uplink_mbit_per_s, &uplinks, &mut network.uplink_bytes_per_s)?;
    let downlinks = rates(
        downlink_mbit_per_s,
        &downlinks,
        &mut network.downlink_bytes_per_s,
    )?;
    if let Some(matrix) = matrix {
        network.place_rates = match matrix.rates.is_empty() {
            true => uplinks.into_iter().zip(downlinks).collect(),
            false => matrix.rates,
        };
        network.place_loss = matrix.loss;
        network.delay = Delay::Places {
            one_way_ns: matrix.one_way_ns,
        };
    }
    let rates = &mut network.place_rates;
    if rates.iter().all(|rate| *rate == rates[0]) {
        rates.clear();
    }
    let mut losses = network.place_loss.iter().flatten();
    if loss.is_set() || losses.all(|loss| *loss == 0.0) {
        network.place_loss.clear();
        loss.number(0.0, 1.0, &mut network.loss)?;
    }
    match &mut network.queue {
        Qdisc::CoDel {
            target_ns,
            interval_ns,
        } => {
            codel_target_ms.time(MS, target_ns)?;
            codel_interval_ms.time(MS, interval_ns)?;
        }
        Qdisc::Fifo { max_bytes } => fifo_max_bytes
            .required("bytes that the queue holds, at least one packet (1500)")?
            .whole(1_500, 1 << 40, max_bytes)?,
    }
    if table.is_read() {
        network.tuned_send_buffers = network.tcp == TcpProfile::LinuxDevice;
        network.slow_start_after_idle = network.tcp != TcpProfile::Shadow;
    }
    send_buffer.word(SEND_BUFFERS, &mut network.tuned_send_buffers)?;
    slow_start_after_idle.flag(&mut network.slow_start_after_idle)?;
    handshake.word(&handshakes(), &mut network.handshake)?;
    if network.handshake.is_none() {
        setup_packets.whole(0, 100_000, &mut network.setup_packets)?;
    }
    table.check_all_read("another kind of delay or queue is given")?;
    Ok(())
}

/// Handshakes by name. The first stands for a constant number of packets.
fn handshakes() -> Vec<(&'static str, Option<&'static HandshakeProfile>)> {
    let measured = HANDSHAKES.iter().map(|known| (known.name, Some(known)));
    std::iter::once(("constant", None))
        .chain(measured)
        .collect()
}

/// Reads or writes the rate of all hosts, and returns that of every place of a graph. Places for which the
/// graph states none have the key's value.
fn rates(key: Key<'_>, of_graph: &[Option<u64>], own: &mut u64) -> Result<Vec<u64>, Error> {
    if of_graph.is_empty() || of_graph.contains(&None) {
        key.required(format!("megabits per second, 0.001 to {MAX_MBIT}"))?;
    }
    rate(key, own)?;
    let rates: Vec<_> = of_graph.iter().map(|rate| rate.unwrap_or(*own)).collect();
    *own = rates.first().copied().unwrap_or(*own);
    Ok(rates)
}

/// The delay between any two hosts, or the bounds from which it is drawn.
fn delay(one_way_ms: Key<'_>, bounds: (Key<'_>, Key<'_>), delay: &mut Delay) -> Result<(), Error> {
    let (min_one_way_ms, max_one_way_ms) = bounds;
    if min_one_way_ms.is_set() || max_one_way_ms.is_set() {
        let (min_ns, max_ns) = (0, 0);
        *delay = Delay::Uniform { min_ns, max_ns };
    }
    match delay {
        Delay::Constant { one_way_ns } => one_way_ms
            .required("milliseconds, or min_one_way_ms and max_one_way_ms, cities, places, or gml instead")?
            .time(MS, one_way_ns),
        Delay::Uniform { min_ns, max_ns } => {
            for (key, ns) in [(min_one_way_ms, &mut *min_ns), (max_one_way_ms, &mut *max_ns)] {
                key.required("milliseconds, 0 or more")?.time(MS, ns)?;
            }
            max_one_way_ms.refuse_if(min_ns > max_ns, "no less than min_one_way_ms")
        }
        Delay::Places { .. } => Ok(()),
    }
}

fn read_gml(key: SectionKey<'_>, folder: Option<&Path>) -> Result<GmlGraph, ScenarioError> {
    let path = key.text("the path of a GML file")?.unwrap_or_default();
    let folder = folder
        .ok_or_else(|| key.bad("no file: a scenario that is built in cannot refer to one"))?;
    let path = folder.join(path);
    let text = read_bounded(&path)?;
    gml::read(&text).map_err(|(line, source)| ScenarioError::Gml { path, line, source })
}
