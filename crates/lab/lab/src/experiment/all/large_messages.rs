//! Large messages: fragmentation, staggered and reduced sending.

use super::super::{Context, Experiment, ExperimentError, Findings, Simulated};
use crate::published::{LARGE_MESSAGES, cell};
use crate::record::{Axis, Chart, Criterion, Figure, Role, Shape, Table};
use crate::report::{Latency, median};

pub(super) const EXPERIMENT: Experiment = Experiment {
    id: "large-messages",
    title: "Large messages: fragmentation, staggered and reduced sending",
    source: "vac forum, Large Message Handling in GossipSub",
    run,
};

struct Variant {
    column: &'static str,
    name: &'static str,
    set: &'static [&'static str],
}

const VARIANTS: [Variant; 6] = [
    Variant {
        column: "current",
        name: "current",
        set: &[],
    },
    Variant {
        column: "fragmentation",
        name: "fragmentation in 4",
        set: &["relay.fragments=4"],
    },
    Variant {
        column: "stagger",
        name: "staggered",
        set: &["relay.strategy=staggered"],
    },
    Variant {
        column: "stagger_fragmentation",
        name: "staggered, fragmentation in 4",
        set: &["relay.strategy=staggered", "relay.fragments=4"],
    },
    Variant {
        column: "reduced",
        name: "reduced",
        set: &["relay.strategy=reduced"],
    },
    Variant {
        column: "reduced_fragmentation",
        name: "reduced, fragmentation in 4",
        set: &["relay.strategy=reduced", "relay.fragments=4"],
    },
];

/// Ten messages on cold connections, then ten more on the connections that the first ones have warmed
/// up.
const TWICE: [&str; 2] = ["traffic.messages=20", "traffic.warm_up_messages=10"];
const VOLUME: f64 = 0.15;
const LATENCY: f64 = 0.30;
const MB: f64 = 1e6;
/// Reason why the slowest delivery of reduced sending differs between seeds, for the record.
const ASKED_LATE: &str = "A node to which all neighbours announce a part asks for it after half a \
    second; whether there is such a node depends on the seed.";

fn run(context: &mut Context<'_>) -> Result<Findings, ExperimentError> {
    let mut findings = Findings::default();
    let mut table = Table::new(
        "ours; volumes in MB for ten messages, latencies in ms",
        &[
            "",
            "total",
            "data",
            "cold mean",
            "cold max",
            "warm mean",
            "warm max",
            "copies",
        ],
    );
    let mut chart = Chart::new(
        "Share of nodes that have a message, cold connections",
        Axis::linear("ms"),
        Axis::linear("share"),
    );
    for variant in &VARIANTS {
        let set = [variant.set, &TWICE].concat();
        let runs = context.simulate("large-messages", &set, context.by_scale(1, 3))?;
        // Each run has two rounds of ten messages.
        let total = figures(&runs, |run| Some(run.summary.bytes.wire as f64 / 2.0 / MB));
        let data = figures(&runs, |run| {
            Some(run.summary.bytes.payload as f64 / 2.0 / MB)
        });
        let cold = |field: fn(&Latency) -> f64| {
            figures(&runs, move |run| {
                run.summary.warm_up.as_ref()?.latency_ms.as_ref().map(field)
            })
        };
        let warm = |field: fn(&Latency) -> f64| {
            figures(&runs, move |run| run.summary.latency_ms.as_ref().map(field))
        };
        let copies = figures(&runs, |run| run.summary.bytes.copies_per_delivery);
        let shown = |values: &[f64], decimals: usize| {
            median(values.iter().copied()).map_or("-".to_owned(), |v| format!("{v:.decimals$}"))
        };
        table.push([
            variant.name.to_owned(),
            shown(&total, 0),
            shown(&data, 0),
            shown(&cold(|l| l.mean), 0),
            shown(&cold(|l| l.max), 0),
            shown(&warm(|l| l.mean), 0),
            shown(&warm(|l| l.max), 0),
            shown(&copies, 2),
        ]);
        for (row, unit, ours, tolerance) in [
            ("total_volume_mb", "MB", total, VOLUME),
            ("data_volume_mb", "MB", data, VOLUME),
            ("avg_latency_ms", "ms", cold(|l| l.mean), LATENCY),
            ("max_latency_ms", "ms", cold(|l| l.max), LATENCY),
        ] {
            let published = cell(LARGE_MESSAGES, row, variant.column).unwrap_or(f64::NAN);
            let name = row.split('_').take(2).collect::<Vec<_>>().join(" ");
            let figure = Figure::published(
                format!("{}: {name}", variant.name),
                unit,
                published,
                &ours,
                Criterion::Within(tolerance),
            );
            let waits = row == "max_latency_ms" && variant.column.starts_with("reduced");
            findings.figures.push(match waits {
                true => figure.because(ASKED_LATE),
                false => figure,
            });
        }
        if let Some(run) = runs.first() {
            chart = chart.with(
                variant.name,
                Role::Ours,
                Shape::ecdf(&cold_latencies(run), 100),
            );
        }
    }
    findings.tables.push(table);
    findings.charts.push(chart);
    findings.note(
        "The published means and maxima are of all ten messages, the first of each publisher on cold \
         connections; `warm` is what ten further messages meet.",
    );
    findings.note(
        "Volumes: everything on the wire, and frames with messages. An IDONTWANT cancels copies that \
         wait and answers to IWANT, one IWANT is in flight for a message, and an id is asked for only \
         when its copy has not come after half a second.",
    );
    findings.note(
        "Fragments are messages of their own, passed on as they come. Staggered: two copies every \
         35 ms. Reduced: five copies, the id to the rest of the mesh.",
    );
    Ok(findings)
}

fn figures(runs: &[Simulated], figure: impl Fn(&Simulated) -> Option<f64>) -> Vec<f64> {
    runs.iter().filter_map(figure).collect()
}

fn cold_latencies(run: &Simulated) -> Vec<f64> {
    let messages = &run.outcome.messages;
    let deliveries = run.outcome.deliveries.iter().filter_map(|delivery| {
        let message = messages
            .get(delivery.message as usize)
            .filter(|m| m.warm_up)?;
        Some(delivery.received_ns.saturating_sub(message.published_ns) as f64 / 1e6)
    });
    let mut latencies: Vec<f64> = deliveries.collect();
    latencies.sort_by(f64::total_cmp);
    latencies
}
