//! Waku v1 (flooding) against Waku v2 (GossipSub): bandwidth of a node.

use super::super::{Context, Experiment, ExperimentError, Findings};
use crate::record::{Axis, Chart, Criterion, Figure, Role, Shape, Table};

pub(super) const EXPERIMENT: Experiment = Experiment {
    id: "v1-v2-bandwidth",
    title: "Flooding (Waku v1) against GossipSub (Waku v2): bandwidth of a node",
    source: "vac.dev, Waku v1 vs Waku v2: Bandwidth Comparison, 2021",
    run,
};

/// Numbers of nodes and messages per second, as published.
const RUNS: [(u32, u32); 5] = [(10, 50), (30, 50), (50, 50), (85, 50), (150, 35)];
/// Reason why the published v2 takes less than ours, for the record.
const LESS_GOSSIP: &str = "The published v2 takes about 40 kbit/s for each message per second at every \
    size: copies of a mesh of 5 and hardly any gossip. With nim-libp2p's parameters of the time (D 6, \
    at most 12, a quarter of the other peers gossiped to) meshes have 7 peers, and with 150 nodes half \
    of the bytes are IHAVE. The article's nodes shared one machine's processor, whose delays virtual \
    time does not have.";
const V1: &str = "waku-v1";
const V2: &str = "waku-v2";

/// Bandwidth while messages flow, kilobits per second of a node, sent and received together.
#[derive(Clone, Copy, Debug, Default)]
struct Bandwidth {
    kbps: f64,
    /// Parts of `kbps`: frames with messages, other frames, and everything below frames.
    messages: f64,
    control: f64,
    transport: f64,
    /// Number of copies of a message that cross a connection.
    copies_per_connection: f64,
}

fn run(context: &mut Context<'_>) -> Result<Findings, ExperimentError> {
    let mut findings = Findings::default();
    let seconds = context.by_scale(3, 20);
    let mut table = Table::new(
        "kbit/s of a node, sent and received, TCP/IP included",
        &[
            "nodes",
            "messages/s",
            "v1",
            "v2",
            "v1 / v2",
            "v2: messages",
            "v2: control",
            "v2: transport",
        ],
    );
    let (mut v1, mut v2) = (Vec::new(), Vec::new());
    for (nodes, rate) in RUNS {
        let flood = measure(context, V1, nodes, rate, seconds)?;
        let gossip = measure(context, V2, nodes, rate, seconds)?;
        table.push([
            nodes.to_string(),
            rate.to_string(),
            format!("{:.0}", flood.kbps),
            format!("{:.0}", gossip.kbps),
            format!("{:.2}", flood.kbps / gossip.kbps),
            format!("{:.0}", gossip.messages),
            format!("{:.0}", gossip.control),
            format!("{:.0}", gossip.transport),
        ]);
        v1.push((nodes, rate, flood));
        v2.push((nodes, rate, gossip));
    }
    findings.tables.push(table);
    let slope =
        |context: &mut Context<'_>, name: &str| -> Result<(f64, Vec<[f64; 2]>), ExperimentError> {
            let mut line = Vec::new();
            for rate in [10, 25, 50] {
                line.push([
                    f64::from(rate),
                    measure(context, name, 30, rate, seconds)?.kbps,
                ]);
            }
            let ([from, low], [to, high]) = (line[0], line[2]);
            Ok(((high - low) / (to - from), line))
        };
    let (v1_slope, v1_rates) = slope(context, V1)?;
    let (v2_slope, v2_rates) = slope(context, V2)?;
    let at = |of: &[(u32, u32, Bandwidth)], nodes: u32| {
        let found = of.iter().find(|(n, ..)| *n == nodes);
        found.map_or(Bandwidth::default(), |(.., bandwidth)| *bandwidth)
    };
    let ratio = |nodes: u32| at(&v1, nodes).kbps / at(&v2, nodes).kbps;
    findings.figures = vec![
        Figure::stated(
            "10 nodes: v1 / v2",
            "",
            "v1 uses less than v2",
            &[ratio(10)],
            Criterion::AtMost(1.0),
        ),
        Figure::stated(
            "30 nodes: v2",
            "kbit/s",
            "2000 to 3000",
            &[at(&v2, 30).kbps],
            Criterion::Between(2_000.0, 3_000.0),
        )
        .because(LESS_GOSSIP),
        Figure::stated(
            "30 nodes: v1",
            "kbit/s",
            "more than 4000 on average",
            &[at(&v1, 30).kbps],
            Criterion::AtLeast(4_000.0),
        )
        .because(
            "The article's own slope, 70 kbit/s for each message per second, gives 3500 at 50 \
             messages per second; its average also holds what connections cost that carry nothing.",
        ),
        Figure::stated(
            "v2 at 50 nodes over v2 at 30",
            "",
            "about the same",
            &[at(&v2, 50).kbps / at(&v2, 30).kbps],
            Criterion::Between(0.85, 1.2),
        ),
        Figure::published(
            "nodes at which v1 and v2 cost the same",
            "",
            18.0,
            &crossover(&v1, &v2),
            Criterion::Within(0.25),
        ),
        Figure::stated(
            "150 nodes: v1 / v2",
            "",
            "more than 10",
            &[ratio(150)],
            Criterion::AtLeast(10.0),
        )
        .because(LESS_GOSSIP),
        Figure::published(
            "30 nodes: v1, one more message per second",
            "kbit/s",
            70.0,
            &[v1_slope],
            Criterion::Within(0.2),
        ),
        Figure::published(
            "30 nodes: v2, one more message per second",
            "kbit/s",
            40.0,
            &[v2_slope],
            Criterion::Within(0.2),
        )
        .because(LESS_GOSSIP),
        Figure::ours(
            "150 nodes: copies of a message on a connection, v1",
            "",
            &[at(&v1, 150).copies_per_connection],
        ),
        Figure::ours(
            "30 nodes: control, share of v2's bytes",
            "",
            &[at(&v2, 30).control / at(&v2, 30).kbps],
        ),
    ];
    let line = |of: &[(u32, u32, Bandwidth)]| {
        // Scaled to one rate, as the last point would otherwise not belong to the line.
        let per_50 = of.iter().map(|(nodes, rate, bandwidth)| {
            [f64::from(*nodes), bandwidth.kbps * 50.0 / f64::from(*rate)]
        });
        Shape::Line(per_50.collect())
    };
    findings.charts = vec![
        Chart::new(
            "A node's bandwidth by nodes, at 50 messages/s (150 nodes: scaled from 35)",
            Axis::linear("nodes"),
            Axis::log("kbit/s"),
        )
        .with("Waku v1, flooding", Role::Ours, line(&v1))
        .with("Waku v2, GossipSub", Role::Ours, line(&v2))
        .mark(18.0, "crossover, published"),
        Chart::new(
            "A node's bandwidth by rate, 30 nodes",
            Axis::linear("messages/s"),
            Axis::linear("kbit/s"),
        )
        .with("Waku v1, flooding", Role::Ours, Shape::Line(v1_rates))
        .with("Waku v2, GossipSub", Role::Ours, Shape::Line(v2_rates))
        .with(
            "v1, published slope",
            Role::Published,
            Shape::Line(vec![[0.0, 0.0], [50.0, 3_500.0]]),
        )
        .with(
            "v2, published slope",
            Role::Published,
            Shape::Line(vec![[0.0, 0.0], [50.0, 2_000.0]]),
        ),
    ];
    findings.note(
        "A node's bandwidth is what it sends and receives. Connections at rest are left out: ours is \
         the difference of two runs, one with twice the messages of the other.",
    );
    findings.note(
        "Waku v1 sends what waits every 300 ms, and not to those that have sent it meanwhile, so that \
         a connection carries a message once. Payloads of 8 bytes are 284 when they are encrypted and \
         padded.",
    );
    findings.note(
        "The article's v1 could not hold the rate with 85 nodes on one machine; virtual time has no \
         such bound.",
    );
    Ok(findings)
}

/// Measures the steady state as the difference between a run and one with twice the messages.
fn measure(
    context: &mut Context<'_>,
    name: &str,
    nodes: u32,
    rate: u32,
    seconds: u32,
) -> Result<Bandwidth, ExperimentError> {
    let mut totals = Vec::new();
    for messages in [rate * seconds, 2 * rate * seconds] {
        let set = [
            format!("scenario.nodes={nodes}"),
            format!("traffic.messages={messages}"),
            format!("traffic.spacing_s={}", 1.0 / f64::from(rate)),
        ];
        let set: Vec<&str> = set.iter().map(String::as_str).collect();
        let run = context.simulate(name, &set, 1)?.remove(0);
        let sum = |field: fn(&undertone_sim::outcome::Counters) -> u64| {
            run.outcome.nodes.iter().map(field).sum::<u64>() as f64
        };
        totals.push([
            sum(|n| n.wire_sent_bytes) + sum(|n| n.wire_received_bytes),
            run.summary.bytes.payload as f64,
            run.summary.bytes.control as f64,
            sum(|n| n.first_copies) + sum(|n| n.duplicates),
        ]);
    }
    // The longer run lasts `seconds` longer; its heartbeats and their gossip are part of v2's cost.
    let more: Vec<f64> = (0..4).map(|at| totals[1][at] - totals[0][at]).collect();
    let kbps = |bytes: f64| bytes * 8.0 / 1000.0 / f64::from(seconds) / f64::from(nodes);
    let connections = f64::from(nodes * (nodes - 1) / 2);
    let (messages, control) = (2.0 * kbps(more[1]), 2.0 * kbps(more[2]));
    Ok(Bandwidth {
        kbps: kbps(more[0]),
        messages,
        control,
        transport: kbps(more[0]) - messages - control,
        copies_per_connection: more[3] / connections / f64::from(rate * seconds),
    })
}

/// Network size at which the lines through the two sets of points cross; empty if they do not.
fn crossover(v1: &[(u32, u32, Bandwidth)], v2: &[(u32, u32, Bandwidth)]) -> Vec<f64> {
    let differences: Vec<(f64, f64)> = v1
        .iter()
        .zip(v2)
        .map(|((nodes, _, a), (.., b))| (f64::from(*nodes), a.kbps - b.kbps))
        .collect();
    let crossing = differences
        .windows(2)
        .find(|pair| pair[0].1 <= 0.0 && pair[1].1 > 0.0);
    let Some([(from, low), (to, high)]) = crossing else {
        return Vec::new();
    };
    vec![from + (to - from) * -low / (high - low)]
}
