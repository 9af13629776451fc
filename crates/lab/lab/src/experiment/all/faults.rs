//! Faults: loss, partitions, clock skew.

use super::super::{Context, Experiment, ExperimentError, Findings, Simulated};
use crate::record::{Axis, Chart, Criterion, Figure, Role, Shape, Table};

pub(super) const EXPERIMENT: Experiment = Experiment {
    id: "faults",
    title: "Loss, a partition, and clocks that are ahead",
    source: "DLT 2024, named as future work",
    run,
};

const LOSSES: [f64; 5] = [0.0, 0.01, 0.03, 0.05, 0.10];
const SKEWS_MS: [u32; 5] = [0, 5_000, 15_000, 19_000, 25_000];
/// Largest clock skew at which the relay accepts a message.
const MAX_SKEW_MS: u32 = 20_000;
/// Number of nodes whose clocks are wrong, or that are partitioned from the others.
const FAULTY: u32 = 33;
const NODES: u32 = 100;

fn run(context: &mut Context<'_>) -> Result<Findings, ExperimentError> {
    let mut findings = Findings::default();
    loss(context, &mut findings)?;
    partition(context, &mut findings)?;
    clocks(context, &mut findings)?;
    Ok(findings)
}

fn loss(context: &mut Context<'_>, findings: &mut Findings) -> Result<(), ExperimentError> {
    let mut table = Table::new(
        "packets lost",
        &["loss, %", "median ms", "p95 ms", "max ms", "delivered"],
    );
    let (mut line, mut missing) = (Vec::new(), 0);
    for loss in LOSSES {
        let set = [format!("network.loss={loss}")];
        let run = context
            .simulate("clock-skew", &[&set[0]], 1)?
            .remove(0)
            .summary;
        missing += run.expected - run.delivered;
        if let Some(latency) = run.latency_ms {
            table.push([
                format!("{:.0}", loss * 100.0),
                format!("{:.0}", latency.p50),
                format!("{:.0}", latency.p95),
                format!("{:.0}", latency.max),
                format!("{}/{}", run.delivered, run.expected),
            ]);
            line.push([loss * 100.0, latency.p95]);
        }
    }
    findings.tables.push(table);
    findings.figures.push(Figure::stated(
        "deliveries missing with up to 10 % of packets lost",
        "",
        "not published",
        &[missing as f64],
        Criterion::AtMost(0.0),
    ));
    findings.charts.push(
        Chart::new(
            "Loss",
            Axis::linear("% of packets lost"),
            Axis::linear("p95, ms"),
        )
        .with("95th percentile", Role::Ours, Shape::Line(line)),
    );
    Ok(())
}

fn partition(context: &mut Context<'_>, findings: &mut Findings) -> Result<(), ExperimentError> {
    let runs = context.simulate("partition", &[], context.by_scale(1, 5))?;
    let with_publisher: Vec<f64> = runs
        .iter()
        .map(|run| received(run, |receiver| receiver < NODES - FAULTY))
        .collect();
    let after: Vec<f64> = runs
        .iter()
        .map(|run| {
            // Messages published 10 s and more after the partition's end.
            let late = |published_ns: u64| published_ns > 65_000_000_000;
            let messages = run.outcome.messages.iter().filter(|m| late(m.published_ns));
            let expected = messages.count() as f64 * f64::from(NODES - 1);
            let deliveries = run.outcome.deliveries.iter();
            let got = deliveries
                .filter(|d| late(run.outcome.messages[d.message as usize].published_ns))
                .count();
            expected - got as f64
        })
        .collect();
    findings.figures.push(Figure::ours(
        "partition: share of deliveries on the publisher's side",
        "",
        &with_publisher,
    ));
    findings.figures.push(Figure::stated(
        "partition: deliveries missing of messages published 10 s after its end or later",
        "",
        "not published",
        &after,
        Criterion::AtMost(0.0),
    ));
    let line = runs.first().map_or(Vec::new(), |run| {
        let messages = run.summary.per_message.iter();
        messages
            .filter_map(|message| {
                let at_s = run.outcome.messages[message.index as usize].published_ns as f64 / 1e9;
                Some([at_s, message.latency_ms.as_ref()?.n as f64])
            })
            .collect()
    });
    findings.charts.push(
        Chart::new(
            "A third is cut off for 20 s: receivers of each message",
            Axis::linear("s"),
            Axis::linear("nodes"),
        )
        .with("receivers", Role::Ours, Shape::Line(line))
        .mark(35.0, "cut")
        .mark(55.0, "healed"),
    );
    Ok(())
}

fn clocks(context: &mut Context<'_>, findings: &mut Findings) -> Result<(), ExperimentError> {
    let (mut line, mut wrong) = (Vec::new(), 0.0);
    for skew_ms in SKEWS_MS {
        let set = [format!("faults.0.ahead_ms={skew_ms}")];
        let runs = context.simulate("clock-skew", &[&set[0]], 1)?;
        let share = received(&runs[0], |receiver| receiver >= NODES - FAULTY);
        line.push([f64::from(skew_ms) / 1e3, share]);
        let expected = if skew_ms < MAX_SKEW_MS { 1.0 } else { 0.0 };
        wrong += (share - expected).abs();
    }
    findings.figures.push(Figure::stated(
        "clocks: deviation from `everything up to 20 s, nothing beyond`",
        "",
        "not published",
        &[wrong],
        Criterion::AtMost(0.0),
    ));
    findings.charts.push(
        Chart::new(
            "Clocks ahead: share of messages that nodes with such a clock accept",
            Axis::linear("s ahead"),
            Axis::linear("share"),
        )
        .with("accepted", Role::Ours, Shape::Line(line))
        .mark(f64::from(MAX_SKEW_MS) / 1e3, "tolerance"),
    );
    findings.note(
        "A node whose clock is off by more than 20 s refuses every message, and its neighbours' scores \
         are not charged for it.",
    );
    Ok(())
}

/// Share of deliveries made to the nodes that `to` selects; the publisher is node 0.
fn received(run: &Simulated, to: impl Fn(u32) -> bool) -> f64 {
    let receivers = (1..NODES).filter(|node| to(*node)).count();
    let got = run
        .outcome
        .deliveries
        .iter()
        .filter(|d| to(d.receiver))
        .count();
    got as f64 / (receivers * run.outcome.messages.len()).max(1) as f64
}
