//! Higher message rates, up to the collapse of the network.

use super::super::{Context, Experiment, ExperimentError, Findings};
use crate::record::{Axis, Chart, Criterion, Figure, Role, Shape, Table};

pub(super) const EXPERIMENT: Experiment = Experiment {
    id: "message-rate",
    title: "Higher message rates, up to collapse",
    source: "DLT 2024, named as future work",
    run,
};

/// Factor over the 95th percentile of an idle network at which a network counts as collapsed.
const COLLAPSED: f64 = 5.0;
const RATES_PER_S: [u32; 7] = [1, 10, 50, 100, 150, 200, 300];
/// Uplink of a node of the scenario, and the bytes that a copy of a message takes on it.
const UPLINK_BYTES_PER_S: f64 = 2_500_000.0;
const COPY_BYTES: f64 = 2_500.0;

fn run(context: &mut Context<'_>) -> Result<Findings, ExperimentError> {
    let mut findings = Findings::default();
    let (seconds, nodes) = context.by_scale((3, 50), (15, 100));
    let mut table = Table::new(
        format!("{nodes} nodes, 2 KB, 20 Mbit/s up and down"),
        &[
            "messages/s",
            "median ms",
            "p95 ms",
            "max ms",
            "delivered",
            "Mbit/s of a node",
        ],
    );
    let (mut median, mut p95) = (Vec::new(), Vec::new());
    let mut collapsed = Vec::new();
    let mut copies = f64::NAN;
    for rate in RATES_PER_S {
        let set = [
            format!("scenario.nodes={nodes}"),
            format!("traffic.messages={}", (rate * seconds).max(10)),
            format!("traffic.spacing_s={}", 1.0 / f64::from(rate)),
        ];
        let set: Vec<&str> = set.iter().map(String::as_str).collect();
        let run = context.simulate("message-rate", &set, 1)?.remove(0).summary;
        let Some(latency) = run.latency_ms else {
            continue;
        };
        if rate == 1 {
            copies = run.bytes.copies_per_delivery.unwrap_or(f64::NAN);
        }
        let sent = run.bytes.wire as f64 * 8.0 / 1e6 / f64::from(run.nodes);
        table.push([
            rate.to_string(),
            format!("{:.0}", latency.p50),
            format!("{:.0}", latency.p95),
            format!("{:.0}", latency.max),
            format!("{}/{}", run.delivered, run.expected),
            format!("{:.2}", sent / run.virtual_s),
        ]);
        median.push([f64::from(rate), latency.p50]);
        p95.push([f64::from(rate), latency.p95]);
        if collapsed.is_empty() && p95[0][1] * COLLAPSED < latency.p95 {
            collapsed.push(f64::from(rate));
        }
    }
    findings.tables.push(table);
    let bound = UPLINK_BYTES_PER_S / COPY_BYTES / copies;
    findings.figures = vec![
        Figure::published(
            "messages per second at which the network has collapsed, beside uplink / (copies x size)",
            "",
            bound,
            &collapsed,
            Criterion::Within(0.5),
        ),
        Figure::ours("copies per delivery at rest", "", &[copies]),
    ];
    findings.charts.push(
        Chart::new(
            "Latency by message rate",
            Axis::log("messages/s"),
            Axis::log("ms"),
        )
        .with("median", Role::Ours, Shape::Line(median))
        .with("95th percentile", Role::Ours, Shape::Line(p95))
        .mark(bound, "uplinks are full (formula)"),
    );
    findings.note(format!(
        "Collapsed: the 95th percentile is {COLLAPSED} times that of one message per second. The \
         formula is no publication: it is where uplinks are full with the copies that a network at \
         rest sends."
    ));
    Ok(findings)
}
