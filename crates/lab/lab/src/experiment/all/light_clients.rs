//! Light clients beside relays: bandwidth, latency and loss of filter and lightpush.

use std::collections::BTreeSet;

use super::super::{Context, Experiment, ExperimentError, Findings, Simulated};
use crate::record::{Axis, Chart, Criterion, Figure, Role, Shape, Table};
use crate::report::{BytesPerMessage, Latency, ServicesSummary};

pub(super) const EXPERIMENT: Experiment = Experiment {
    id: "light-clients",
    title: "Filter and lightpush beside relay: bandwidth, latency and loss",
    source: "vac.dev, Waku v1 vs Waku v2: Bandwidth Comparison, 2021, left as future work",
    run,
};

const SCENARIO: &str = "light-clients";
const CLIENTS: [u32; 5] = [1, 10, 50, 100, 400];
const SIZES_BYTES: [u32; 5] = [200, 2_000, 10_000, 50_000, 100_000];
const RATES_PER_S: [u32; 5] = [1, 5, 10, 20, 50];
/// Shares of streams that break; the quick scale uses the first two.
const LOSSES: [f64; 4] = [0.0, 0.10, 0.02, 0.05];
/// Clients per service node in the series that vary another quantity.
const FEW: u32 = 10;
/// Reason why messages of light clients can be lost, for the record.
const LATE: &str = "A lightpush request whose stream breaks is waited for 20 s, and a network with a rate limit \
    refuses a message that is 20 s old: it cannot be tried again. Its sender is told that it failed.";
const NOT_PUBLISHED: &str = "not published";

/// The scenario's own clients per service node and message size: points with these values reuse its run.
const SAME_CLIENTS: u32 = FEW;
const SAME_BYTES: u32 = 2_000;

/// One run, with the value `x` of the varied quantity.
#[derive(Clone, Debug)]
struct LightClientsRun {
    x: f64,
    relay: Latency,
    services: ServicesSummary,
    packets_dropped: u64,
    /// Deliveries lost because no relay ever had the message.
    never_published: u64,
}

impl LightClientsRun {
    /// The same run as a point of another series.
    fn at(&self, x: f64) -> Self {
        Self { x, ..self.clone() }
    }
}

fn run(context: &mut Context<'_>) -> Result<Findings, ExperimentError> {
    let mut findings = Findings::default();
    let first = simulate(context, FEW.into(), &[])?;
    ways(&first, &mut findings);
    clients(context, &first, &mut findings)?;
    sizes(context, &first, &mut findings)?;
    rates(context, &mut findings)?;
    losses(context, &mut findings)?;
    findings.note(
        "Each client subscribes with two service nodes, as recommended for reliability, and so gets each \
         message twice; with one (`services.filter_peers = 1`) it takes half of the bytes. Bytes are \
         those on the wire, sent and received, TCP/IP included, over the whole run with its connecting, \
         pings, and questions to stores.",
    );
    findings.note(
        "A lightpush request takes a stream of its own, whose negotiation costs a round trip; pushed \
         messages of a connection share one. A sender asks a store whether it has what was published.",
    );
    Ok(findings)
}

/// Runs the scenario with keys overridden.
fn simulate(
    context: &mut Context<'_>,
    x: f64,
    set: &[String],
) -> Result<LightClientsRun, ExperimentError> {
    let messages = context.by_scale(20, 60);
    let mut all = vec![format!("traffic.messages={messages}")];
    all.extend_from_slice(set);
    let set: Vec<&str> = all.iter().map(String::as_str).collect();
    let run = context.simulate(SCENARIO, &set, 1)?.remove(0);
    let never_published = never_published(&run);
    let summary = run.summary;
    let missing = "the scenario has relays and light clients that get messages";
    Ok(LightClientsRun {
        x,
        relay: summary.latency_ms.expect(missing),
        packets_dropped: summary.bytes.packets_dropped,
        services: summary.services.expect(missing),
        never_published,
    })
}

/// Number of deliveries to light clients that are lost because the message reached no relay. Every client subscribes to
/// every message.
fn never_published(run: &Simulated) -> u64 {
    let reached: BTreeSet<u32> = run.outcome.deliveries.iter().map(|d| d.message).collect();
    let messages = run.outcome.messages.iter();
    let never = messages.filter(|message| !reached.contains(&message.index));
    let services = run.outcome.services.as_ref();
    let others = services.map_or(0, |services| services.clients.len().saturating_sub(1));
    (never.count() * others) as u64
}

fn p50(latency: Option<Latency>) -> f64 {
    latency.map_or(f64::NAN, |latency| latency.p50)
}

fn kilobytes(bytes: f64) -> String {
    format!("{:.1}", bytes / 1e3)
}

fn milliseconds(ms: f64) -> String {
    match ms.is_finite() {
        true => format!("{ms:.0}"),
        false => "-".to_owned(),
    }
}

/// The four paths of a message, by kind of publisher and receiver.
fn ways(run: &LightClientsRun, findings: &mut Findings) {
    let ways = &run.services.ways;
    let mut table = Table::new(
        "2 KB, one message a second, 10 clients of each service node: latency, ms",
        &["way", "median", "p95", "max"],
    );
    let rows = [
        ("relay to relay", ways.relay_to_relay_ms),
        ("relay to light client (filter)", ways.relay_to_light_ms),
        ("light client to relay (lightpush)", ways.light_to_relay_ms),
        ("light client to light client", ways.light_to_light_ms),
    ];
    for (way, latency) in rows {
        let shown =
            |field: fn(&Latency) -> f64| milliseconds(latency.as_ref().map_or(f64::NAN, field));
        table.push([
            way.to_owned(),
            shown(|l| l.p50),
            shown(|l| l.p95),
            shown(|l| l.max),
        ]);
    }
    findings.tables.push(table);
    let relay = p50(ways.relay_to_relay_ms);
    findings.figures.extend([
        Figure::stated(
            "median that filter adds to relay",
            "ms",
            NOT_PUBLISHED,
            &[p50(ways.relay_to_light_ms) - relay],
            Criterion::Between(0.0, 150.0),
        ),
        Figure::stated(
            "median that lightpush adds to relay",
            "ms",
            NOT_PUBLISHED,
            &[p50(ways.light_to_relay_ms) - relay],
            Criterion::Between(100.0, 250.0),
        ),
        Figure::stated(
            "2 KB: bytes of a light client over those of a relay, for each message",
            "",
            NOT_PUBLISHED,
            &[ratio(&run.services.bytes_per_message)],
            Criterion::AtMost(0.5),
        ),
    ]);
    let ecdf = |latencies: &[f64]| Shape::ecdf(latencies, 100);
    let light = run.services.sorted_ms.values();
    findings.charts.push(
        Chart::new(
            "2 KB: share of light clients that have a message",
            Axis::linear("ms"),
            Axis::linear("share"),
        )
        .with("light clients", Role::Ours, ecdf(light))
        .mark(relay, "median of relays"),
    );
}

fn ratio(bytes: &BytesPerMessage) -> f64 {
    bytes.light_client / bytes.relay
}

/// Columns that all tables share, after the column of the varied quantity.
const COLUMNS: [&str; 9] = [
    "relay: median ms",
    "p95",
    "light client: median ms",
    "p95",
    "lost",
    "kB per message: relay",
    "light client",
    "service node",
    "of it for clients",
];

fn table(
    title: &str,
    varied: &str,
    runs: &[LightClientsRun],
    shown: impl Fn(f64) -> String,
) -> Table {
    let columns: Vec<&str> = std::iter::once(varied).chain(COLUMNS).collect();
    let mut table = Table::new(title, &columns);
    for run in runs {
        let (light, bytes) = (run.services.latency_ms, &run.services.bytes_per_message);
        table.push([
            shown(run.x),
            milliseconds(run.relay.p50),
            milliseconds(run.relay.p95),
            milliseconds(p50(light)),
            milliseconds(light.map_or(f64::NAN, |light| light.p95)),
            run.services.lost.to_string(),
            kilobytes(bytes.relay),
            kilobytes(bytes.light_client),
            kilobytes(bytes.service_node),
            kilobytes(bytes.service_node_for_clients),
        ]);
    }
    table
}

fn line(runs: &[LightClientsRun], y: impl Fn(&LightClientsRun) -> f64) -> Shape {
    let points = runs.iter().map(|run| [run.x, y(run)]);
    Shape::Line(points.filter(|[_, y]| y.is_finite()).collect())
}

fn lost(runs: &[LightClientsRun]) -> f64 {
    runs.iter().map(|run| run.services.lost).sum::<u64>() as f64
}

fn clients(
    context: &mut Context<'_>,
    first: &LightClientsRun,
    findings: &mut Findings,
) -> Result<(), ExperimentError> {
    let most = context.by_scale(3, CLIENTS.len());
    let mut runs = Vec::new();
    for clients in &CLIENTS[..most] {
        if *clients == SAME_CLIENTS {
            runs.push(first.at(f64::from(*clients)));
            continue;
        }
        let set = [format!("services.clients_per_service_node={clients}")];
        runs.push(simulate(context, f64::from(*clients), &set)?);
    }
    let title = "2 KB, one message a second, by clients of each service node";
    let whole = |clients: f64| format!("{clients:.0}");
    findings.tables.push(table(title, "clients", &runs, whole));
    let for_clients =
        |run: &LightClientsRun| run.services.bytes_per_message.service_node_for_clients;
    let of = |clients: f64| runs.iter().find(|run| run.x == clients).map(for_clients);
    let growth = of(50.0).zip(of(10.0)).map(|(fifty, ten)| fifty / ten);
    findings.figures.extend([
        Figure::stated(
            "bytes of a service node for 50 clients over those for 10",
            "",
            NOT_PUBLISHED,
            &[growth.unwrap_or(f64::NAN)],
            Criterion::Between(4.5, 5.5),
        ),
        Figure::stated(
            "deliveries lost, whatever the number of clients",
            "",
            NOT_PUBLISHED,
            &[lost(&runs)],
            Criterion::AtMost(0.0),
        ),
    ]);
    findings.charts.push(
        Chart::new(
            "2 KB: bytes for each message, by clients of a service node",
            Axis::log("clients of a service node"),
            Axis::log("kB"),
        )
        .with(
            "service node",
            Role::Ours,
            line(&runs, |run| {
                run.services.bytes_per_message.service_node / 1e3
            }),
        )
        .with(
            "relay",
            Role::Ours,
            line(&runs, |run| run.services.bytes_per_message.relay / 1e3),
        )
        .with(
            "light client",
            Role::Ours,
            line(&runs, |run| {
                run.services.bytes_per_message.light_client / 1e3
            }),
        ),
    );
    Ok(())
}

fn sizes(
    context: &mut Context<'_>,
    first: &LightClientsRun,
    findings: &mut Findings,
) -> Result<(), ExperimentError> {
    let sizes = context.by_scale(&SIZES_BYTES[..3], &SIZES_BYTES[..]);
    let mut runs = Vec::new();
    for bytes in sizes {
        if *bytes == SAME_BYTES {
            runs.push(first.at(f64::from(*bytes) / 1e3));
            continue;
        }
        let set = [format!("traffic.payload_bytes={bytes}")];
        runs.push(simulate(context, f64::from(*bytes) / 1e3, &set)?);
    }
    let title = "one message a second, 10 clients of each service node, by size";
    let size = |kilobytes: f64| format!("{kilobytes}");
    findings.tables.push(table(title, "kB", &runs, size));
    let dearest = runs
        .iter()
        .map(|run| ratio(&run.services.bytes_per_message));
    findings.figures.push(Figure::ours(
        "sizes from 200 bytes: bytes of a light client over those of a relay, the largest",
        "",
        &[dearest.fold(f64::NAN, f64::max)],
    ));
    findings.charts.push(
        Chart::new(
            "Latency by size",
            Axis::log("kB"),
            Axis::linear("median, ms"),
        )
        .with(
            "relay to relay",
            Role::Ours,
            line(&runs, |run| p50(run.services.ways.relay_to_relay_ms)),
        )
        .with(
            "relay to light client",
            Role::Ours,
            line(&runs, |run| p50(run.services.ways.relay_to_light_ms)),
        )
        .with(
            "light client to relay",
            Role::Ours,
            line(&runs, |run| p50(run.services.ways.light_to_relay_ms)),
        ),
    );
    findings.charts.push(
        Chart::new(
            "Bytes for each message, by size",
            Axis::log("kB"),
            Axis::log("kB sent and received"),
        )
        .with(
            "relay",
            Role::Ours,
            line(&runs, |run| run.services.bytes_per_message.relay / 1e3),
        )
        .with(
            "light client",
            Role::Ours,
            line(&runs, |run| {
                run.services.bytes_per_message.light_client / 1e3
            }),
        ),
    );
    Ok(())
}

fn rates(context: &mut Context<'_>, findings: &mut Findings) -> Result<(), ExperimentError> {
    let rates = context.by_scale(&RATES_PER_S[..3], &RATES_PER_S[..]);
    let seconds = context.by_scale(4, 20);
    let mut runs = Vec::new();
    for rate in rates {
        let set = [
            format!("traffic.messages={}", (rate * seconds).max(20)),
            format!("traffic.spacing_s={}", 1.0 / f64::from(*rate)),
        ];
        runs.push(simulate(context, f64::from(*rate), &set)?);
    }
    let title = "2 KB, 10 clients of each service node, by rate";
    let whole = |rate: f64| format!("{rate:.0}");
    findings
        .tables
        .push(table(title, "messages/s", &runs, whole));
    findings.figures.push(Figure::stated(
        "deliveries lost, whatever the rate",
        "",
        NOT_PUBLISHED,
        &[lost(&runs)],
        Criterion::AtMost(0.0),
    ));
    findings.charts.push(
        Chart::new(
            "Latency by rate",
            Axis::log("messages/s"),
            Axis::linear("p95, ms"),
        )
        .with("relays", Role::Ours, line(&runs, |run| run.relay.p95))
        .with(
            "light clients",
            Role::Ours,
            line(&runs, |run| {
                run.services.latency_ms.map_or(f64::NAN, |l| l.p95)
            }),
        ),
    );
    Ok(())
}

/// Lost packets, broken streams and sleeping machines: stores recover what filter misses.
fn losses(context: &mut Context<'_>, findings: &mut Findings) -> Result<(), ExperimentError> {
    let mut losses = context.by_scale(&LOSSES[..2], &LOSSES[..]).to_vec();
    losses.sort_by(f64::total_cmp);
    let mut runs = Vec::new();
    for loss in losses {
        let set = [
            format!("services.stream_loss={loss}"),
            format!("network.loss={}", loss / 10.0),
            "services.sleep_every_s=60".to_owned(),
            "services.sleep_s=40".to_owned(),
            "services.connection_lost_every_s=60".to_owned(),
            // Clients compare with stores every three minutes when nothing seems wrong.
            "traffic.drain_s=600".to_owned(),
        ];
        runs.push(simulate(context, loss * 100.0, &set)?);
    }
    let mut table = Table::new(
        "clients sleep 40 s a minute apart, and lose a connection a minute; a tenth of the share of packets",
        &[
            "streams broken, %",
            "packets dropped",
            "delivered",
            "lost",
            "sent by clients: stored",
            "from a store",
            "median s",
        ],
    );
    for run in &runs {
        let (services, stores) = (&run.services, &run.services.from_store);
        table.push([
            format!("{:.0}", run.x),
            run.packets_dropped.to_string(),
            format!(
                "{}/{}",
                services.expected - services.lost,
                services.expected
            ),
            services.lost.to_string(),
            format!("{}/{}", services.sends.stored, services.sends.taken),
            stores.deliveries.to_string(),
            stores
                .latency_ms
                .map_or("-".to_owned(), |l| format!("{:.1}", l.p50 / 1e3)),
        ]);
    }
    findings.tables.push(table);
    let share = |run: &LightClientsRun| {
        let (from_store, all) = (run.services.from_store.deliveries, run.services.delivered);
        from_store as f64 / all.max(1) as f64
    };
    findings.figures.extend([
        Figure::stated(
            "deliveries lost with sleeps, lost connections and up to 10 % of streams broken",
            "",
            NOT_PUBLISHED,
            &[lost(&runs)],
            Criterion::AtMost(0.0),
        )
        .because(LATE),
        Figure::stated(
            "of these, deliveries of messages that a relay had",
            "",
            NOT_PUBLISHED,
            &[lost(&runs) - runs.iter().map(|run| run.never_published).sum::<u64>() as f64],
            Criterion::AtMost(0.0),
        ),
        Figure::ours(
            "share of deliveries that come from a store, 10 % of streams broken",
            "",
            &[runs.last().map_or(f64::NAN, share)],
        ),
    ]);
    findings.charts.push(
        Chart::new(
            "Share of deliveries that come from a store",
            Axis::linear("% of streams broken"),
            Axis::linear("share"),
        )
        .with("from a store", Role::Ours, line(&runs, share)),
    );
    Ok(())
}
