//! TreeReader of `[network]`: links and transport.

use std::path::Path;

use undertone_settings::{Error, MS, S, SectionKey, keys};
use undertone_sim::scenario::{
    Delay, HANDSHAKES, HandshakeProfile, Multiplexer, Network, Qdisc, TcpProfile,
};

use super::places::{self, BYTES_PER_MBIT, MAX_MBIT};
use crate::scenario::error::ScenarioError;
use crate::scenario::file::read_bounded;
use crate::scenario::gml;

/// Default overhead of encryption and multiplexing per frame, as in nwaku's stack: a noise tag of 16
/// bytes and its length of 2, and an mplex header of about 4.
const DEFAULT_MUX_OVERHEAD_BYTES: u32 = 22;

pub(in crate::scenario) const TCP_PROFILES: &[(&str, TcpProfile)] = &[
    ("linux", TcpProfile::Linux),
    ("linux-device", TcpProfile::LinuxDevice),
    ("shadow", TcpProfile::Shadow),
];

/// Names of the send buffers, and whether the stack tunes them.
pub(in crate::scenario) const SEND_BUFFERS: &[(&str, bool)] = &[("fixed", false), ("tuned", true)];

pub(super) fn read(
    network: SectionKey<'_>,
    folder: Option<&Path>,
) -> Result<Network, ScenarioError> {
    let section = network.table()?;
    keys!(section => uplink_mbit_per_s, downlink_mbit_per_s, unlimited_until_s, one_way_ms, min_one_way_ms,
          max_one_way_ms, cities, gml, places, jitter_ms, loss, queue, codel_target_ms, codel_interval_ms,
          fifo_max_bytes, tcp, send_buffer, slow_start_after_idle, setup_packets, handshake, mux_overhead_bytes, mux_piece_bytes, mux);
    let graph = read_gml(gml, folder)?;
    let matrix = match graph {
        Some(_) => None,
        None => places::read_matrix(places)?,
    };
    let loss = loss.number(0.0, 1.0)?;
    let of_graph = |rates: fn(&gml::GmlGraph) -> &Vec<Option<u64>>| {
        graph.as_ref().map_or(&[][..], |graph| rates(graph))
    };
    let uplinks = rates(
        uplink_mbit_per_s,
        of_graph(|graph| &graph.uplink_bytes_per_s),
    )?;
    let downlinks = rates(
        downlink_mbit_per_s,
        of_graph(|graph| &graph.downlink_bytes_per_s),
    )?;
    let (delay, stated_rates, stated_loss) = match (&graph, matrix) {
        (Some(graph), _) => {
            let one_way_ns = graph.one_way_ns.clone();
            let delay = Delay::Places { one_way_ns };
            (delay, Vec::new(), graph.loss.clone())
        }
        (None, Some(matrix)) => (matrix.delay, matrix.rates, matrix.loss),
        (None, None) if cities.is_set() => {
            let (delay, rates) = places::read(cities)?;
            let rates = rates.into_iter().map(|rate| (rate, rate)).collect();
            (delay, rates, Vec::new())
        }
        (None, None) => {
            let delay = delay(one_way_ms, min_one_way_ms, max_one_way_ms)?;
            (delay, Vec::new(), Vec::new())
        }
    };
    let place_rates: Vec<_> = if stated_rates.is_empty() {
        let pairs = uplinks.iter().copied().zip(downlinks.iter().copied());
        pairs.collect()
    } else {
        stated_rates
    };
    let all_alike = place_rates.iter().all(|rates| *rates == place_rates[0]);
    let place_loss = match loss {
        None => stated_loss,
        Some(_) => Vec::new(),
    };
    let tcp = tcp.word(TCP_PROFILES)?.unwrap_or(TcpProfile::Linux);
    let unlimited_until_ns = unlimited_until_s.time(S)?.unwrap_or(0);
    let jitter_ns = jitter_ms.time(MS)?.unwrap_or(0);
    let is_codel = queue.word(&[("codel", true), ("fifo", false)])?;
    let queue = if is_codel.unwrap_or(true) {
        // RFC 8289 recommends 5 ms for the target; Shadow has 10 ms.
        Qdisc::CoDel {
            target_ns: codel_target_ms.time(MS)?.unwrap_or(5_000_000),
            interval_ns: codel_interval_ms.time(MS)?.unwrap_or(100_000_000),
        }
    } else {
        const EXPECTED: &str = "bytes that the queue holds, at least one packet (1500)";
        let max_bytes = fifo_max_bytes.whole(1_500, 1 << 40)?;
        Qdisc::Fifo {
            max_bytes: max_bytes.ok_or_else(|| fifo_max_bytes.bad(EXPECTED))?,
        }
    };
    let handshake = handshake.word(&handshakes())?.flatten();
    let network = Network {
        uplink_bytes_per_s: uplinks[0],
        downlink_bytes_per_s: downlinks[0],
        place_rates: if all_alike { Vec::new() } else { place_rates },
        unlimited_until_ns,
        loss: loss.unwrap_or(0.0),
        place_loss: if place_loss.iter().flatten().all(|loss| *loss == 0.0) {
            Vec::new()
        } else {
            place_loss
        },
        delay,
        jitter_ns,
        queue,
        tcp,
        tuned_send_buffers: send_buffer
            .word(SEND_BUFFERS)?
            .unwrap_or(tcp == TcpProfile::LinuxDevice),
        slow_start_after_idle: slow_start_after_idle
            .flag()?
            .unwrap_or(tcp != TcpProfile::Shadow),
        setup_packets: match handshake {
            Some(_) => 0,
            None => setup_packets.whole(0, 100_000)?.unwrap_or(0),
        },
        handshake,
        mux_overhead_bytes: mux_overhead_bytes
            .whole(0, 10_000)?
            .unwrap_or(DEFAULT_MUX_OVERHEAD_BYTES),
        mux_piece_bytes: mux_piece_bytes.whole(0, 1 << 20)?.unwrap_or(0),
        mux: mux.word(&Multiplexer::all())?.unwrap_or_default(),
    };
    section.check_all_read("another kind of delay or queue is given")?;
    Ok(network)
}

/// Handshakes by name; the first is a number of packets.
fn handshakes() -> Vec<(&'static str, Option<&'static HandshakeProfile>)> {
    let measured = HANDSHAKES.iter().map(|known| (known.name, Some(known)));
    std::iter::once(("constant", None))
        .chain(measured)
        .collect()
}

/// Reads the rate of every place, or of all hosts; the key's value is used where the graph states none.
fn rates(key: SectionKey<'_>, from_graph: &[Option<u64>]) -> Result<Vec<u64>, Error> {
    let own = key
        .number(0.001, MAX_MBIT)?
        .map(|mbit| (mbit * BYTES_PER_MBIT).round() as u64);
    let missing = || key.bad(format!("megabits per second, 0.001 to {MAX_MBIT}"));
    if from_graph.is_empty() {
        return Ok(vec![own.ok_or_else(missing)?]);
    }
    let rates = from_graph
        .iter()
        .map(|rate| rate.or(own).ok_or_else(missing));
    rates.collect()
}

fn delay(
    one_way_ms: SectionKey<'_>,
    min_one_way_ms: SectionKey<'_>,
    max_one_way_ms: SectionKey<'_>,
) -> Result<Delay, Error> {
    if min_one_way_ms.is_set() || max_one_way_ms.is_set() {
        let bound = |key: SectionKey<'_>| {
            key.time(MS)?
                .ok_or_else(|| key.bad("milliseconds, 0 or more"))
        };
        let (min_ns, max_ns) = (bound(min_one_way_ms)?, bound(max_one_way_ms)?);
        if min_ns > max_ns {
            return Err(max_one_way_ms.bad("no less than min_one_way_ms"));
        }
        return Ok(Delay::Uniform { min_ns, max_ns });
    }
    let one_way_ns = one_way_ms.time(MS)?.ok_or_else(|| {
        one_way_ms.bad(
            "milliseconds, or min_one_way_ms and max_one_way_ms, cities, places, or gml instead",
        )
    })?;
    Ok(Delay::Constant { one_way_ns })
}

fn read_gml(
    key: SectionKey<'_>,
    folder: Option<&Path>,
) -> Result<Option<gml::GmlGraph>, ScenarioError> {
    let Some(path) = key.text("the path of a GML file")? else {
        return Ok(None);
    };
    let folder = folder
        .ok_or_else(|| key.bad("no file: a scenario that is built in cannot refer to one"))?;
    let path = folder.join(path);
    let text = read_bounded(&path)?;
    let graph = gml::read(&text);
    graph
        .map(Some)
        .map_err(|(line, source)| ScenarioError::Gml { path, line, source })
}
