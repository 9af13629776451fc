//! Share of deliveries made, and made in time, by message size, message rate and network size.

use super::super::{Context, Experiment, ExperimentError, Findings, Simulated};
use super::load::LoadPoint;
use crate::record::{Axis, Chart, Criterion, Figure, Role, Shape, Table};

pub(super) const EXPERIMENT: Experiment = Experiment {
    id: "reliability",
    title: "Reliability over size and rate, up to 100,000 nodes",
    source: "forum.vac.dev, topic 142, left open",
    run,
};

const SIZES_BYTES: [u32; 4] = [200, 2_000, 20_000, 100_000];
const RATES_PER_S: [f64; 4] = [1.0, 10.0, 50.0, 100.0];
const QUICK_SIZES_BYTES: [u32; 2] = [200, 20_000];
const QUICK_RATES_PER_S: [f64; 2] = [1.0, 20.0];
/// Network sizes. The first one has the full grid of sizes and rates, the others only the points of [`LARGE`].
const NODES: [u32; 3] = [1_000, 10_000, 100_000];
const QUICK_NODES: [u32; 2] = [50, 100];
/// Message sizes and rates that are run in the larger networks.
const LARGE: [(u32, f64); 3] = [(2_000, 1.0), (2_000, 10.0), (20_000, 10.0)];
const QUICK_LARGE: [(u32, f64); 1] = [(2_000, 10.0)];
/// Maximum number of deliveries in a run: at 100 messages a second, a network of 1000 nodes is loaded for five seconds.
const DELIVERIES_MAX: u32 = 500_000;
/// Maximum payload published per second, bytes: what a link of the scenario carries. With more, no message could reach
/// every node in time, whatever the protocol.
const PAYLOAD_MAX_BYTES_PER_S: f64 = 20e6 / 8.0;
/// Maximum latency of a delivery made in time, milliseconds.
const IN_TIME_MS: f64 = 1000.0;
/// Message size and rate up to which nothing may be lost, whatever the network size.
const EASY: (u32, f64) = (2_000, 10.0);
const NOT_PUBLISHED: &str = "not published";

/// Deliveries of one run.
#[derive(Clone, Copy, Debug)]
struct DeliveredShare {
    expected: f64,
    made: f64,
    in_time: f64,
    p50_ms: f64,
    p95_ms: f64,
}

fn run(context: &mut Context<'_>) -> Result<Findings, ExperimentError> {
    let mut findings = Findings::default();
    let sizes = context.by_scale(&QUICK_SIZES_BYTES[..], &SIZES_BYTES[..]);
    let rates = context.by_scale(&QUICK_RATES_PER_S[..], &RATES_PER_S[..]);
    let networks = context.by_scale(&QUICK_NODES[..], &NODES[..]);
    let large = context.by_scale(&QUICK_LARGE[..], &LARGE[..]);

    let mut grid = table("Deliveries by size and rate");
    let mut made = Chart::new(
        "Deliveries within a second, by rate",
        Axis::log("messages/s"),
        Axis::linear("share of deliveries"),
    );
    let mut known = Vec::new();
    for bytes in sizes {
        let mut line = Vec::new();
        let carried =
            |rate_per_s: &&f64| f64::from(*bytes) * **rate_per_s <= PAYLOAD_MAX_BYTES_PER_S;
        for rate_per_s in rates.iter().filter(carried) {
            let point = LoadPoint {
                nodes: networks[0],
                bytes: *bytes,
                rate_per_s: *rate_per_s,
                deliveries_max: DELIVERIES_MAX,
            };
            let delivered = deliveries(context, point, &mut known, &mut grid)?;
            line.push([*rate_per_s, delivered.in_time / delivered.expected]);
        }
        made = made.with(format!("{bytes} bytes"), Role::Ours, Shape::Line(line));
    }
    findings.tables.push(grid);
    findings.charts.push(made);

    let mut networks_table = table("Deliveries in larger networks");
    let mut by_nodes = Chart::new(
        "95th percentile of latency by size of the network",
        Axis::log("nodes"),
        Axis::linear("ms"),
    );
    for (bytes, rate_per_s) in large {
        let mut line = Vec::new();
        for nodes in networks {
            let point = LoadPoint {
                nodes: *nodes,
                bytes: *bytes,
                rate_per_s: *rate_per_s,
                deliveries_max: DELIVERIES_MAX,
            };
            let delivered = deliveries(context, point, &mut known, &mut networks_table)?;
            line.push([f64::from(*nodes), delivered.p95_ms]);
        }
        let name = format!("{bytes} bytes, {rate_per_s}/s");
        by_nodes = by_nodes.with(name, Role::Ours, Shape::Line(line));
    }
    findings.tables.push(networks_table);
    findings.charts.push(by_nodes);

    let easy = known.iter().filter(|(point, _)| is_easy(point));
    let missing: f64 = easy.map(|(_, share)| share.expected - share.made).sum();
    // Given as the share missing, because the share made would be rounded to 1.
    let worst_percent = known.iter().fold(0.0_f64, |worst, (_, share)| {
        worst.max(100.0 * (1.0 - share.made / share.expected))
    });
    findings.figures = vec![
        Figure::stated(
            "deliveries missing at up to 2 kB and 10 messages a second",
            "",
            NOT_PUBLISHED,
            &[missing],
            Criterion::AtMost(0.0),
        ),
        Figure::ours("largest share of deliveries missing", "%", &[worst_percent]),
    ];
    findings.note(format!(
        "In time: within {IN_TIME_MS} ms of publishing. Made: until 15 s after the last message. Nodes neither crash nor lose \
         packets but by full queues, so what is missing is due to load. Sizes at rates whose payload alone exceeds the links are left out."
    ));
    Ok(findings)
}

const fn is_easy(point: &LoadPoint) -> bool {
    point.bytes <= EASY.0 && point.rate_per_s <= EASY.1
}

fn table(title: &str) -> Table {
    Table::new(
        title,
        &[
            "nodes",
            "bytes",
            "messages/s",
            "messages",
            "delivered",
            "made %",
            "in time %",
            "median ms",
            "p95 ms",
        ],
    )
}

/// Runs a point unless its deliveries are known, and adds its row.
fn deliveries(
    context: &mut Context<'_>,
    point: LoadPoint,
    known: &mut Vec<(LoadPoint, DeliveredShare)>,
    table: &mut Table,
) -> Result<DeliveredShare, ExperimentError> {
    let delivered = match known.iter().find(|(known, _)| *known == point) {
        Some((_, delivered)) => *delivered,
        None => {
            let delivered = of(&point.run(context)?);
            known.push((point, delivered));
            delivered
        }
    };
    let percent = |value: f64| format!("{:.3}", value / delivered.expected * 100.0);
    let [nodes, bytes, rate, messages] = point.words();
    table.push([
        nodes,
        bytes,
        rate,
        messages,
        format!("{:.0}/{:.0}", delivered.made, delivered.expected),
        percent(delivered.made),
        percent(delivered.in_time),
        format!("{:.0}", delivered.p50_ms),
        format!("{:.0}", delivered.p95_ms),
    ]);
    Ok(delivered)
}

fn of(run: &Simulated) -> DeliveredShare {
    let outcome = &run.outcome;
    let in_time = outcome.deliveries.iter().filter(|delivery| {
        let published_ns = outcome.messages[delivery.message as usize].published_ns;
        (delivery.received_ns - published_ns) as f64 / 1e6 <= IN_TIME_MS
    });
    let latency = run.summary.latency_ms.as_ref();
    DeliveredShare {
        expected: outcome.expected as f64,
        made: outcome.deliveries.len() as f64,
        in_time: in_time.count() as f64,
        p50_ms: latency.map_or(f64::NAN, |latency| latency.p50),
        p95_ms: latency.map_or(f64::NAN, |latency| latency.p95),
    }
}
