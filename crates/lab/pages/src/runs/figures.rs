//! Tables of the page: figures of each run, traffic by kind, and what was run.

use super::RunShown;
use undertone_lab::record::{Table, short};

/// Key figures, one row for each run.
pub(super) fn of_runs(runs: &[RunShown<'_>]) -> Table {
    let columns = [
        "run",
        "nodes",
        "deliveries",
        "p50, ms",
        "p95, ms",
        "p99, ms",
        "max, ms",
        "copies per delivery",
        "MB on the wire",
    ];
    let mut table = Table::new("Figures", &columns);
    for shown in runs {
        let run = &shown.run.summary;
        let latency = |figure: fn(&undertone_lab::report::Latency) -> f64| {
            let value = run.latency_ms.as_ref().map(figure);
            value.map_or("none".to_owned(), short)
        };
        table.push([
            shown.name.clone(),
            run.nodes.to_string(),
            format!("{} of {}", run.delivered, run.expected),
            latency(|latency| latency.p50),
            latency(|latency| latency.p95),
            latency(|latency| latency.p99),
            latency(|latency| latency.max),
            run.bytes
                .copies_per_delivery
                .map_or("none".to_owned(), short),
            short(run.bytes.wire as f64 / 1e6),
        ]);
    }
    table
}

/// Traffic of all nodes by kind, from start to end.
pub(super) fn traffic(runs: &[RunShown<'_>]) -> Table {
    let mut table = Table::new(
        "Frames and control entries sent",
        &["run", "kind", "number", "bytes"],
    );
    for shown in runs {
        for (kind, total) in &shown.run.summary.bytes.kinds {
            let (count, bytes) = (total.count.to_string(), total.bytes.to_string());
            table.push([shown.name.clone(), (*kind).to_owned(), count, bytes]);
        }
    }
    table
}

/// Origin of each run: all that is needed to repeat it.
pub(super) fn origins(runs: &[RunShown<'_>]) -> Table {
    let columns = [
        "run",
        "scenario",
        "seed",
        "commit",
        "hash of the scenario",
        "hash of the trace",
    ];
    let mut table = Table::new("What was run", &columns);
    for shown in runs {
        let run = &shown.run.summary;
        let hash = run.resolved.as_ref().map(|resolved| resolved.hash.clone());
        let trace = match run.interrupted {
            true => Some(format!("interrupted at {:.1} s", run.virtual_s)),
            false => run.trace_hash.clone(),
        };
        table.push([
            shown.name.clone(),
            run.scenario.clone(),
            run.seed.to_string(),
            run.commit.clone(),
            hash.unwrap_or_default(),
            trace.unwrap_or_default(),
        ]);
    }
    table
}
