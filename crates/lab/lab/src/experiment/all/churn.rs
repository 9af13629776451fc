//! Churn: nodes that join and leave during the run.

use super::super::{Context, Experiment, ExperimentError, Findings};
use crate::record::{Axis, Chart, Criterion, Figure, Role, Shape};

pub(super) const EXPERIMENT: Experiment = Experiment {
    id: "churn",
    title: "Nodes that join late, leave, and crash",
    source: "DLT 2024, named as future work",
    run,
};

/// Nodes that run from start to end, without the publisher.
const STEADY: u32 = 200 - 50 - 1;

fn run(context: &mut Context<'_>) -> Result<Findings, ExperimentError> {
    let mut findings = Findings::default();
    let runs = context.simulate("churn", &[], context.by_scale(2, 5))?;
    let (mut missing, mut p95) = (Vec::new(), Vec::new());
    let mut receivers = Vec::new();
    let mut slowest = Vec::new();
    for run in &runs {
        let expected = run.outcome.messages.len() as u64 * u64::from(STEADY);
        let steady = run
            .outcome
            .deliveries
            .iter()
            .filter(|d| d.receiver <= STEADY);
        missing.push((expected - steady.count() as u64) as f64);
        p95.extend(run.summary.latency_ms.map(|latency| latency.p95));
    }
    if let Some(run) = runs.first() {
        for message in &run.summary.per_message {
            let at_s = run.outcome.messages[message.index as usize].published_ns as f64 / 1e9;
            if let Some(latency) = &message.latency_ms {
                receivers.push([at_s, latency.n as f64]);
                slowest.push([at_s, latency.max]);
            }
        }
    }
    findings.figures = vec![
        Figure::stated(
            "deliveries missing at nodes that were there throughout",
            "",
            "not published",
            &missing,
            Criterion::AtMost(0.0),
        ),
        Figure::ours("95th percentile of latency", "ms", &p95),
    ];
    findings.charts = vec![
        Chart::new(
            "Receivers of each message",
            Axis::linear("s"),
            Axis::linear("nodes"),
        )
        .with("receivers", Role::Ours, Shape::Line(receivers))
        .mark(20.0, "20 join")
        .mark(40.0, "20 leave")
        .mark(50.0, "10 crash"),
        Chart::new(
            "Slowest delivery of each message",
            Axis::linear("s"),
            Axis::linear("ms"),
        )
        .with("slowest", Role::Ours, Shape::Line(slowest))
        .mark(20.0, "20 join")
        .mark(40.0, "20 leave")
        .mark(50.0, "10 crash"),
    ];
    findings.note(
        "Nodes that join ask for what was published shortly before: those messages have more receivers \
         and late ones.",
    );
    findings.note("A crash is noticed after 10 s: until then neighbours send to who is gone.");
    Ok(findings)
}
