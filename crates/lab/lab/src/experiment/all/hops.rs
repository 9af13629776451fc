//! Equation 2 and Figure 2: hops and amplification.

use super::super::{Context, Experiment, ExperimentError, Findings};
use crate::model::hops::{FIGURE_2_NODES, copies_per_delivery, figure_2, h_max};
use crate::record::{Axis, Chart, Criterion, Figure, Role, Shape, Table};

pub(super) const EXPERIMENT: Experiment = Experiment {
    id: "hops",
    title: "Hops to reach everybody, and copies sent",
    source: "DLT 2024, Equation 2 and Figure 2",
    run,
};

fn run(context: &mut Context<'_>) -> Result<Findings, ExperimentError> {
    let mut findings = Findings::default();
    let rows = figure_2();
    let mut table = Table::new(
        "Figure 2",
        &[
            "degree",
            "1,000",
            "10,000",
            "100,000",
            "1,000,000",
            "copies",
        ],
    );
    for row in &rows {
        let hops = row.h_max.map(|hops| hops.to_string());
        let [a, b, c, d] = hops;
        table.push([
            row.degree.to_string(),
            a,
            b,
            c,
            d,
            format!("{:.0}", row.amplification),
        ]);
    }
    findings.tables.push(table);
    let mut chart = Chart::new(
        "Figure 2: most hops, best case",
        Axis::linear("degree"),
        Axis::linear("hops"),
    );
    for (at, nodes) in FIGURE_2_NODES.iter().enumerate() {
        // A degree of 2 is a ring, whose hop counts are off the scale.
        let points = rows.iter().filter(|row| row.degree > 2);
        let line = points
            .map(|row| [f64::from(row.degree), row.h_max[at] as f64])
            .collect();
        chart = chart.with(format!("{nodes} nodes"), Role::Model, Shape::Line(line));
    }
    findings.charts.push(chart);

    let runs = context.simulate("hops", &[], context.by_scale(2, 5))?;
    let most: Vec<f64> = runs
        .iter()
        .filter_map(|run| run.summary.hops.keys().max().map(|hops| f64::from(*hops)))
        .collect();
    let share_within: Vec<f64> = runs
        .iter()
        .map(|run| {
            let all: u64 = run.summary.hops.values().sum();
            let within: u64 = run.summary.hops.range(..=5).map(|(_, n)| *n).sum();
            within as f64 / all.max(1) as f64
        })
        .collect();
    let copies: Vec<f64> = runs
        .iter()
        .filter_map(|run| run.summary.bytes.copies_per_delivery)
        .collect();
    let equation_2 = h_max(1_000, 6).map_or(f64::NAN, |hops| hops as f64);
    findings.figures = vec![
        Figure::published(
            "Equation 2, 1000 nodes, degree 6",
            "hops",
            5.0,
            &[equation_2],
            Criterion::Within(0.0),
        ),
        Figure::published(
            "most hops in a random 6-regular network of 1000",
            "hops",
            5.0,
            &most,
            Criterion::Between(5.0, 7.0),
        ),
        Figure::ours("share of nodes within 5 hops", "", &share_within),
        Figure::published(
            "copies per delivery without IDONTWANT",
            "",
            copies_per_delivery(1_000, 6.0),
            &copies,
            Criterion::Within(0.02),
        ),
    ];
    let spread = runs.first().map_or(Vec::new(), |run| {
        let all: u64 = run.summary.hops.values().sum();
        let share = |n: &u64| *n as f64 / all.max(1) as f64;
        run.summary
            .hops
            .iter()
            .map(|(hops, n)| [f64::from(*hops), share(n)])
            .collect()
    });
    findings.charts.push(
        Chart::new(
            "Nodes by hops, 6-regular network of 1000",
            Axis::linear("hops"),
            Axis::linear("share of nodes"),
        )
        .with("simulated", Role::Ours, Shape::Line(spread)),
    );
    findings.note(
        "Equation 2 assumes that no two nodes forward to the same third; in a random network rings \
         collide, and the last nodes take a hop or two more. The paper's own runs needed 4, because \
         their publisher floods its 50 peers.",
    );
    Ok(findings)
}
