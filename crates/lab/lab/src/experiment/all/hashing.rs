//! Table 4: Keccak-256 of a message and its conversion to a field element.

use super::super::{Context, Experiment, ExperimentError, Findings};
use crate::published::{HASHING, cell};
use crate::record::{Axis, Chart, Criterion, Figure, Role, Shape};

pub(super) const EXPERIMENT: Experiment = Experiment {
    id: "hashing",
    title: "Hashing a message to a field element",
    source: "DLT 2024, Table 4",
    run,
};

fn run(context: &mut Context<'_>) -> Result<Findings, ExperimentError> {
    let line = context.say("hashing on this machine");
    let costs = context.real_nodes().rln_costs(context.by_scale(9, 25))?;
    line.finish();
    let mut findings = Findings::default();
    let (mut theirs, mut ours) = (Vec::new(), Vec::new());
    for (size_kb, ms) in &costs.hashing_ms {
        let published = cell(HASHING, &size_kb.to_string(), "hashing_ms").unwrap_or(f64::NAN);
        // Measured on another processor, so only the order of magnitude and the growth with size must
        // agree.
        let criterion = Criterion::AtMost(2.0 * published);
        let name = format!("{size_kb} kB");
        findings
            .figures
            .push(Figure::published(name, "ms", published, &[*ms], criterion));
        theirs.push([*size_kb as f64, published]);
        ours.push([*size_kb as f64, *ms]);
    }
    if let (Some([from_kb, from_ms]), Some([to_kb, to_ms])) = (ours.first(), ours.last()) {
        let growth = (to_ms / from_ms) / (to_kb / from_kb);
        findings.figures.push(Figure::stated(
            "growth of time over growth of size",
            "",
            "linear",
            &[growth],
            Criterion::Between(0.8, 1.25),
        ));
    }
    findings.charts.push(
        Chart::new("Hashing", Axis::log("kB"), Axis::log("ms"))
            .with("published", Role::Published, Shape::Line(theirs))
            .with("ours", Role::Ours, Shape::Line(ours)),
    );
    Ok(findings)
}
