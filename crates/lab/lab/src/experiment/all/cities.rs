//! Tables 2 and 3: five nodes in a line across the world.

use std::collections::BTreeMap;

use undertone_sim::scenario::Delay;

use super::super::{Context, Experiment, ExperimentError, Findings, LineRun};
use super::PAPER;
use crate::model::path::{HopLatency, latency_ms};
use crate::published::{MULTIHOST_LATENCY, cell};
use crate::record::{Axis, Chart, Criterion, Figure, Role, Shape, Table};
use crate::report::median;

pub(super) const EXPERIMENT: Experiment = Experiment {
    id: "cities",
    title: "Five nodes in a line: Singapore, Bangalore, San Francisco, New York, Frankfurt",
    source: "DLT 2024, Tables 2 and 3",
    run,
};

const SIZES_KB: [usize; 4] = [2, 25, 100, 500];
const HOPS: [(&str, &str); 4] = [
    ("Lt_Si_Ba", "Lv_Bangalore"),
    ("Lt_Ba_SF", "Lv_SanFrancisco"),
    ("Lt_SF_NY", "Lv_NewYork"),
    ("Lt_NY_Fr", "Lv_Frankfurt"),
];
/// Tolerance between the testbed and the simulator, for transmission alone.
const BESIDE_TESTBED: f64 = 0.05;
/// Tolerance for transmission as published: virtual machines on the real internet, whose
/// rates are not stated.
const PUBLISHED_TRANSMISSION: f64 = 0.35;

fn run(context: &mut Context<'_>) -> Result<Findings, ExperimentError> {
    let mut findings = Findings::default();
    let line = context.say("real nodes between five cities");
    let real = context.real_nodes().cities(context.by_scale(1, 5));
    line.finish();
    let real = real.unwrap_or_else(|error| {
        findings.note(format!("The testbed did not run: {error}."));
        Vec::new()
    });
    let simulated = simulate(context)?;
    let mut table = Table::new(
        "milliseconds; each cell: published / testbed / simulator / formula",
        &["kB", "proof", "transmission", "validation", "total"],
    );
    let mut totals: BTreeMap<&str, Vec<[f64; 2]>> = BTreeMap::new();
    for size_kb in SIZES_KB {
        let published = |column: &str| cell(MULTIHOST_LATENCY, &size_kb.to_string(), column);
        let sum = |which: fn(&(&'static str, &'static str)) -> &'static str| {
            HOPS.iter()
                .filter_map(|hop| published(which(hop)))
                .sum::<f64>()
        };
        let (their_way, their_checks) = (sum(|hop| hop.0), sum(|hop| hop.1));
        let their_proof = published("Lg_Singapore").unwrap_or(f64::NAN);
        let runs: Vec<&LineRun> = real.iter().filter(|run| run.size_kb == size_kb).collect();
        let of = |figure: fn(&LineRun) -> f64| -> Vec<f64> {
            runs.iter().map(|run| figure(run)).collect()
        };
        let way = of(|run| run.hops.iter().map(|hop| hop.0).sum());
        let checks = of(|run| run.hops.iter().map(|hop| hop.1).sum());
        let sim_way = simulated.get(&size_kb).copied().unwrap_or(f64::NAN);
        let formula = formula_ms(size_kb);
        let at = SIZES_KB
            .iter()
            .position(|size| *size == size_kb)
            .unwrap_or(0) as f64;
        let their_total = published("Ltotal_avg").unwrap_or(f64::NAN);
        totals
            .entry("published")
            .or_default()
            .push([at, their_total]);
        totals.entry("formula").or_default().push([at, formula]);
        totals.entry("simulator").or_default().push([at, sim_way]);
        if let Some(total) = median(of(|run| run.total_ms)) {
            totals.entry("testbed").or_default().push([at, total]);
        }
        let four = |theirs: f64, testbed: &[f64], sim: Option<f64>, model: Option<f64>| {
            let ms = |value: Option<f64>| value.map_or("-".to_owned(), |ms| format!("{ms:.0}"));
            let testbed = median(testbed.iter().copied());
            [Some(theirs), testbed, sim, model].map(ms).join(" / ")
        };
        table.push([
            size_kb.to_string(),
            four(their_proof, &of(|run| run.prove_ms), None, None),
            four(their_way, &way, Some(sim_way), Some(formula)),
            four(their_checks, &checks, None, None),
            four(their_total, &of(|run| run.total_ms), None, None),
        ]);
        findings.figures.push(
            Figure::published(
                format!("{size_kb} kB: transmission, four hops, testbed"),
                "ms",
                their_way,
                &way,
                Criterion::Within(PUBLISHED_TRANSMISSION),
            )
            .because(
                "The published transmission includes what the operating system and nwaku took on \
                 small virtual machines, and connections whose windows an unknown number of earlier \
                 messages had opened.",
            ),
        );
        findings.figures.push(Figure::published(
            format!("{size_kb} kB: transmission, simulator beside testbed"),
            "ms",
            median(way.iter().copied()).unwrap_or(f64::NAN),
            &[sim_way],
            Criterion::Within(BESIDE_TESTBED),
        ));
        findings.figures.push(Figure::published(
            format!("{size_kb} kB: total"),
            "ms",
            their_total,
            &of(|run| run.total_ms),
            Criterion::AtMost(their_total * (1.0 + PUBLISHED_TRANSMISSION)),
        ));
    }
    findings.tables.push(table);
    let names = SIZES_KB.map(|size_kb| format!("{size_kb} kB"));
    let names: Vec<&str> = names.iter().map(String::as_str).collect();
    let mut chart = Chart::new(
        "From publishing in Singapore to delivery in Frankfurt (simulator and formula: the way alone)",
        Axis::words("", &names),
        Axis::linear("ms"),
    );
    for (name, points) in totals {
        let role = match name {
            "published" => Role::Published,
            "formula" => Role::Model,
            _ => Role::Ours,
        };
        chart = chart.with(name, role, Shape::Line(points));
    }
    findings.charts.push(chart);
    findings.note(format!(
        "{PAPER}: virtual machines in five cities. Ours: five processes in network namespaces, real \
         kernels' TCP over an emulated network with half of Table 2's round-trip times one way."
    ));
    findings.note(
        "Simulator and formula predict the way; proofs and checks take what this machine takes.",
    );
    Ok(findings)
}

/// Simulated transmission times by size: the median over messages of one size.
fn simulate(context: &mut Context<'_>) -> Result<BTreeMap<usize, f64>, ExperimentError> {
    let set = ["rln.generation_ms=0", "rln.verification_ms=0"];
    let runs = context.simulate("cities-line", &set, 1)?;
    let mut by_size: BTreeMap<usize, Vec<f64>> = BTreeMap::new();
    for run in &runs {
        for message in &run.summary.per_message {
            if let Some(latency) = &message.latency_ms {
                let size_kb = message.size_bytes as usize / 1000;
                by_size.entry(size_kb).or_default().push(latency.max);
            }
        }
    }
    let medians = by_size.into_iter();
    Ok(medians
        .filter_map(|(size_kb, latencies)| Some((size_kb, median(latencies)?)))
        .collect())
}

/// Equation 1 on warm connections: delay and serialisation on a gigabit link, for each hop.
fn formula_ms(size_kb: usize) -> f64 {
    const BYTES_PER_MS: f64 = 125_000.0;
    let Ok(loaded) = crate::scenario::load("cities-line", &[]) else {
        return f64::NAN;
    };
    let Delay::Places { one_way_ns } = &loaded.scenario.network.delay else {
        return f64::NAN;
    };
    let hops: Vec<HopLatency> = (0..one_way_ns.len().saturating_sub(1))
        .map(|at| HopLatency {
            transmission_ms: one_way_ns[at][at + 1] as f64 / 1e6
                + size_kb as f64 * 1000.0 / BYTES_PER_MS,
            validation_ms: 0.0,
        })
        .collect();
    latency_ms(0.0, &hops)
}
