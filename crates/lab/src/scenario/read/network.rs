//! Reader of `[network]`: links and transport.

use std::path::Path;

use undertone_sim::scenario::{Delay, Network, Qdisc, TcpProfile};

use super::super::section::{MS, S, Section};
use super::super::{ScenarioError, gml};
use super::places;

const KEYS: &[&str] = &[
    "uplink_mbit_per_s",
    "downlink_mbit_per_s",
    "unlimited_until_s",
    "one_way_ms",
    "min_one_way_ms",
    "max_one_way_ms",
    "cities",
    "gml",
    "jitter_ms",
    "loss",
    "queue",
    "codel_target_ms",
    "codel_interval_ms",
    "fifo_max_bytes",
    "tcp",
    "slow_start_after_idle",
    "setup_packets",
    "mux_overhead_bytes",
    "mux_piece_bytes",
];

/// Rate of the fastest link, Mbit/s.
pub(super) const MAX_MBIT: f64 = 1e6;
/// Bytes per second in a megabit per second.
pub(super) const BYTES_PER_MBIT: f64 = 125_000.0;

/// Default overhead of encryption and multiplexing per frame, as in nwaku's stack: a noise tag of 16
/// bytes and its length of 2, and an mplex header of about 4.
const DEFAULT_MUX_OVERHEAD_BYTES: u32 = 22;

pub(super) fn read(root: &Section<'_>, folder: Option<&Path>) -> Result<Network, ScenarioError> {
    let section = root.below("network", KEYS)?;
    let graph = match section.text("gml", "the path of a GML file")? {
        Some(path) => Some(read_gml(&section, path, folder)?),
        None => None,
    };
    let loss = section.number("loss", 0.0, 1.0)?;
    let (up, down) = ("uplink_mbit_per_s", "downlink_mbit_per_s");
    let of_graph = |rates: fn(&gml::Graph) -> &Vec<Option<u64>>| {
        graph.as_ref().map_or(&[][..], |graph| rates(graph))
    };
    let uplinks = rates(&section, up, of_graph(|graph| &graph.uplink_bytes_per_s))?;
    let downlinks = rates(
        &section,
        down,
        of_graph(|graph| &graph.downlink_bytes_per_s),
    )?;
    let (delay, city_rates) = match &graph {
        Some(graph) => {
            let one_way_ns = graph.one_way_ns.clone();
            (Delay::Places { one_way_ns }, Vec::new())
        }
        None => delay(&section)?,
    };
    let place_rates: Vec<_> = if city_rates.is_empty() {
        let pairs = uplinks.iter().copied().zip(downlinks.iter().copied());
        pairs.collect()
    } else {
        city_rates.into_iter().map(|rate| (rate, rate)).collect()
    };
    let all_alike = place_rates.iter().all(|rates| *rates == place_rates[0]);
    let place_loss = match (&graph, loss) {
        (Some(graph), None) => graph.loss.clone(),
        _ => Vec::new(),
    };
    let tcp = section
        .word(
            "tcp",
            &[("linux", TcpProfile::Linux), ("shadow", TcpProfile::Shadow)],
        )?
        .unwrap_or(TcpProfile::Linux);
    let network = Network {
        uplink_bytes_per_s: uplinks[0],
        downlink_bytes_per_s: downlinks[0],
        place_rates: if all_alike { Vec::new() } else { place_rates },
        unlimited_until_ns: section.time("unlimited_until_s", S)?.unwrap_or(0),
        loss: loss.unwrap_or(0.0),
        place_loss: if place_loss.iter().flatten().all(|loss| *loss == 0.0) {
            Vec::new()
        } else {
            place_loss
        },
        delay,
        jitter_ns: section.time("jitter_ms", MS)?.unwrap_or(0),
        queue: queue(&section)?,
        tcp,
        slow_start_after_idle: section
            .flag("slow_start_after_idle")?
            .unwrap_or(tcp == TcpProfile::Linux),
        setup_packets: section.whole("setup_packets", 0, 100_000)?.unwrap_or(0),
        mux_overhead_bytes: section
            .whole("mux_overhead_bytes", 0, 10_000)?
            .unwrap_or(DEFAULT_MUX_OVERHEAD_BYTES),
        mux_piece_bytes: section.whole("mux_piece_bytes", 0, 1 << 20)?.unwrap_or(0),
    };
    section.check_all_read("another kind of delay or queue is given")?;
    Ok(network)
}

/// Reads the rate of every place, or of all hosts; the section's value is used where
/// the graph states none.
fn rates(
    section: &Section<'_>,
    key: &'static str,
    from_graph: &[Option<u64>],
) -> Result<Vec<u64>, ScenarioError> {
    let own = section
        .number(key, 0.001, MAX_MBIT)?
        .map(|mbit| (mbit * BYTES_PER_MBIT).round() as u64);
    let missing = || section.bad(key, format!("megabits per second, 0.001 to {MAX_MBIT}"));
    if from_graph.is_empty() {
        return Ok(vec![own.ok_or_else(missing)?]);
    }
    let rates = from_graph
        .iter()
        .map(|rate| rate.or(own).ok_or_else(missing));
    rates.collect()
}

fn delay(section: &Section<'_>) -> Result<(Delay, Vec<u64>), ScenarioError> {
    if section.has("cities") {
        return places::read(section);
    }
    if section.has("min_one_way_ms") || section.has("max_one_way_ms") {
        const EXPECTED: &str = "milliseconds, 0 or more";
        let bound = |key| {
            section
                .time(key, MS)?
                .ok_or_else(|| section.bad(key, EXPECTED))
        };
        let (min_ns, max_ns) = (bound("min_one_way_ms")?, bound("max_one_way_ms")?);
        if min_ns > max_ns {
            return Err(section.bad("max_one_way_ms", "no less than min_one_way_ms"));
        }
        return Ok((Delay::Uniform { min_ns, max_ns }, Vec::new()));
    }
    let one_way_ns = section.time("one_way_ms", MS)?.ok_or_else(|| {
        let expected = "milliseconds, or min_one_way_ms and max_one_way_ms, cities, or gml instead";
        section.bad("one_way_ms", expected)
    })?;
    Ok((Delay::Constant { one_way_ns }, Vec::new()))
}

fn queue(section: &Section<'_>) -> Result<Qdisc, ScenarioError> {
    let is_codel = section
        .word("queue", &[("codel", true), ("fifo", false)])?
        .unwrap_or(true);
    if is_codel {
        // RFC 8289 recommends 5 ms for the target; Shadow has 10 ms.
        Ok(Qdisc::CoDel {
            target_ns: section.time("codel_target_ms", MS)?.unwrap_or(5_000_000),
            interval_ns: section
                .time("codel_interval_ms", MS)?
                .unwrap_or(100_000_000),
        })
    } else {
        const EXPECTED: &str = "bytes that the queue holds, at least one packet (1500)";
        let max_bytes = section.whole("fifo_max_bytes", 1_500, 1 << 40)?;
        Ok(Qdisc::Fifo {
            max_bytes: max_bytes.ok_or_else(|| section.bad("fifo_max_bytes", EXPECTED))?,
        })
    }
}

fn read_gml(
    section: &Section<'_>,
    path: &str,
    folder: Option<&Path>,
) -> Result<gml::Graph, ScenarioError> {
    let folder = folder.ok_or_else(|| {
        section.bad(
            "gml",
            "no file: a scenario that is built in cannot refer to one",
        )
    })?;
    let path = folder.join(path);
    let text = super::super::read_bounded(&path)?;
    gml::read(&text).map_err(|(line, source)| ScenarioError::Gml { path, line, source })
}
