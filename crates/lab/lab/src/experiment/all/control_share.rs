//! Share of control traffic by message size, message rate and network size.

use undertone_sim::outcome::{Counters, KindCounter};

use super::super::{Context, Experiment, ExperimentError, Findings, Simulated};
use super::load::LoadPoint;
use crate::record::{Axis, Chart, Criterion, Figure, Role, Shape, Table};

pub(super) const EXPERIMENT: Experiment = Experiment {
    id: "control-share",
    title: "Share of control traffic over size, rate and network",
    source: "forum.vac.dev, topic 142, left open",
    run,
};

const SIZES_BYTES: [u32; 5] = [200, 2_000, 10_000, 50_000, 100_000];
const RATES_PER_S: [f64; 5] = [0.1, 1.0, 10.0, 50.0, 100.0];
const NODES: [u32; 4] = [100, 1_000, 10_000, 100_000];
const QUICK_SIZES_BYTES: [u32; 2] = [200, 10_000];
const QUICK_RATES_PER_S: [f64; 2] = [1.0, 20.0];
const QUICK_NODES: [u32; 2] = [50, 100];
const SAME_BYTES: u32 = 2_000;
const SAME_RATE_PER_S: f64 = 1.0;
const DELIVERIES_MAX: u32 = 2_000_000;
const NOT_PUBLISHED: &str = "not published";

/// Traffic of a run from its first message on.
#[derive(Clone, Copy, Debug, Default)]
struct ControlShare {
    /// Control bytes, of all bytes of frames.
    share: f64,
    /// Control bytes that a node sends, per second.
    bytes_per_node_s: f64,
    ihave: f64,
    iwant: f64,
    idontwant: f64,
    /// Subscriptions and changes of meshes.
    other: f64,
}

fn run(context: &mut Context<'_>) -> Result<Findings, ExperimentError> {
    let mut findings = Findings::default();
    let sizes = context.by_scale(&QUICK_SIZES_BYTES[..], &SIZES_BYTES[..]);
    let rates = context.by_scale(&QUICK_RATES_PER_S[..], &RATES_PER_S[..]);
    let networks = context.by_scale(&QUICK_NODES[..], &NODES[..]);
    let same = LoadPoint {
        nodes: networks[1],
        bytes: SAME_BYTES,
        rate_per_s: SAME_RATE_PER_S,
        deliveries_max: DELIVERIES_MAX,
    };
    let by_size = sizes.iter().map(|bytes| LoadPoint {
        bytes: *bytes,
        ..same
    });
    let by_rate = rates.iter().map(|rate_per_s| LoadPoint {
        rate_per_s: *rate_per_s,
        ..same
    });
    let by_nodes = networks.iter().map(|nodes| LoadPoint {
        nodes: *nodes,
        ..same
    });
    let by_size = series(context, &mut findings, "size of messages", by_size)?;
    let by_rate = series(context, &mut findings, "rate of messages", by_rate)?;
    let by_nodes = series(context, &mut findings, "size of the network", by_nodes)?;

    let line = |of: &[(LoadPoint, ControlShare)], x: fn(&LoadPoint) -> f64| {
        let points = of.iter().map(|(point, share)| [x(point), share.share]);
        Shape::Line(points.collect())
    };
    let charts: [(&str, &str, Shape); 3] = [
        (
            "size of messages",
            "bytes",
            line(&by_size, |p| f64::from(p.bytes)),
        ),
        ("rate", "messages/s", line(&by_rate, |p| p.rate_per_s)),
        (
            "size of the network",
            "nodes",
            line(&by_nodes, |p| f64::from(p.nodes)),
        ),
    ];
    for (what, unit, shape) in charts {
        let title = format!("Share of control traffic by {what}");
        let chart = Chart::new(title, Axis::log(unit), Axis::linear("share of bytes"));
        findings
            .charts
            .push(chart.with("control", Role::Ours, shape));
    }

    let ends = |of: &[(LoadPoint, ControlShare)]| {
        let share = |at: Option<&(LoadPoint, ControlShare)>| at.map_or(f64::NAN, |at| at.1.share);
        (share(of.first()), share(of.last()))
    };
    let (small, large) = ends(&by_size);
    let (slow, fast) = ends(&by_rate);
    let per_node = |at: Option<&(LoadPoint, ControlShare)>| {
        at.map_or(f64::NAN, |(_, share)| share.bytes_per_node_s)
    };
    let growth = per_node(by_nodes.last()) / per_node(by_nodes.get(1).or(by_nodes.first()));
    findings.figures = vec![
        Figure::ours("share with the smallest messages", "", &[small]),
        Figure::ours("share with the largest messages", "", &[large]),
        Figure::ours("share at the lowest rate", "", &[slow]),
        Figure::ours("share at the highest rate", "", &[fast]),
        Figure::stated(
            "control bytes of a node in the largest network, of those in the second smallest",
            "",
            NOT_PUBLISHED,
            &[growth],
            Criterion::Between(0.5, 2.0),
        ),
    ];
    findings.note(
        "Bytes of frames that reached a connection from the first message to the end, without multiplexing, TCP and IP; \
         control is everything but messages. A message's copies count as often as they are sent.",
    );
    findings.note(
        "Of large networks fewer messages are published, so that there are two million deliveries at most: the tables say \
         how many.",
    );
    Ok(findings)
}

/// Runs the points of a series and adds their table.
fn series(
    context: &mut Context<'_>,
    findings: &mut Findings,
    what: &str,
    points: impl Iterator<Item = LoadPoint>,
) -> Result<Vec<(LoadPoint, ControlShare)>, ExperimentError> {
    let mut table = Table::new(
        format!("Control traffic by {what}"),
        &[
            "nodes",
            "bytes",
            "messages/s",
            "messages",
            "share %",
            "bytes/s of a node",
            "IHAVE %",
            "IWANT %",
            "IDONTWANT %",
            "other %",
        ],
    );
    let mut all = Vec::new();
    for point in points {
        let share = share(&point.run(context)?);
        let percent = |value: f64| format!("{:.3}", value * 100.0);
        let [nodes, bytes, rate, messages] = point.words();
        table.push([
            nodes,
            bytes,
            rate,
            messages,
            percent(share.share),
            format!("{:.0}", share.bytes_per_node_s),
            percent(share.ihave),
            percent(share.iwant),
            percent(share.idontwant),
            percent(share.other),
        ]);
        all.push((point, share));
    }
    findings.tables.push(table);
    Ok(all)
}

fn share(run: &Simulated) -> ControlShare {
    let first_ns = run.outcome.messages.first().map_or(0, |m| m.published_ns);
    let recorded = run.outcome.recorded.as_deref();
    let intervals = recorded.map_or(&[][..], |recorded| &recorded.traffic);
    let since = intervals.iter().filter(|at| at.from_ns >= first_ns);
    let sent: Vec<Counters> = since.map(|interval| interval.sent).collect();
    let sum = |kind: fn(&Counters) -> KindCounter| {
        sent.iter().map(|sent| kind(sent).bytes as f64).sum::<f64>()
    };
    let (ihave, iwant, idontwant) = (sum(|s| s.ihave), sum(|s| s.iwant), sum(|s| s.idontwant));
    let other = sum(|s| s.subscriptions) + sum(|s| s.graft) + sum(|s| s.prune);
    let control = ihave + iwant + idontwant + other;
    let all = control + sum(|s| s.messages);
    let seconds = run.outcome.virtual_ns.saturating_sub(first_ns) as f64 / 1e9;
    ControlShare {
        share: control / all,
        bytes_per_node_s: control / f64::from(run.scenario.nodes) / seconds,
        ihave: ihave / all,
        iwant: iwant / all,
        idontwant: idontwant / all,
        other: other / all,
    }
}
