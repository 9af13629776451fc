//! `undertone sim --bench`: runs the paper's four scenarios and measures time and memory.

use std::fmt;
use std::sync::Mutex;
use std::thread;

use comfy_table::presets::UTF8_BORDERS_ONLY;
use comfy_table::{CellAlignment, Table};
use serde::Serialize;
use undertone_lab::report::{DatasetChoice, RunCosts, Stopwatch};
use undertone_lab::scenario;

use super::super::{Failure, output};
use super::{Runner, scenario_failure};

/// Scenarios by decreasing duration, each with the wall time in seconds of Shadow 3.3.0 with 1000 real libp2p
/// nodes on two cores. For 500 KB, Shadow ran out of 24 GB of memory.
const SCENARIOS: [(&str, Option<f64>); 4] = [
    ("paper-500kb", None),
    ("paper-100kb", Some(152.0)),
    ("paper-25kb", Some(109.0)),
    ("paper-2kb", Some(82.0)),
];

#[derive(Serialize)]
struct Bench {
    threads: usize,
    #[serde(flatten)]
    total: RunCosts,
    scenarios: Vec<Item>,
}

#[derive(Clone, Serialize)]
struct Item {
    scenario: &'static str,
    wall_s: f64,
    shadow_wall_s: Option<f64>,
    events: u64,
    delivered: u64,
    expected: u64,
    trace_hash: Option<String>,
}

/// Runs the four scenarios, each on one thread, with as many at a time as there are threads.
pub(super) fn run(seed: u64, threads: usize, json: bool) -> Result<(), Failure> {
    let watch = Stopwatch::start();
    let waiting = Mutex::new(SCENARIOS.into_iter());
    let results: Vec<Result<Vec<Item>, Failure>> = thread::scope(|scope| {
        let workers: Vec<_> = (0..threads.min(SCENARIOS.len()))
            .map(|_| {
                scope.spawn(|| {
                    let next = || waiting.lock().expect("no worker panics with it").next();
                    std::iter::from_fn(next)
                        .map(|which| item(which, seed))
                        .collect()
                })
            })
            .collect();
        workers
            .into_iter()
            .map(|worker| worker.join().expect("a run does not panic"))
            .collect()
    });
    let mut scenarios: Vec<Item> = results
        .into_iter()
        .collect::<Result<Vec<_>, _>>()?
        .into_iter()
        .flatten()
        .collect();
    scenarios.sort_by_key(|item| {
        SCENARIOS
            .iter()
            .rev()
            .position(|(name, _)| *name == item.scenario)
    });
    let bench = Bench {
        threads,
        total: watch.read(),
        scenarios,
    };
    output::print(&bench, json)
}

fn item((name, shadow_wall_s): (&'static str, Option<f64>), seed: u64) -> Result<Item, Failure> {
    let loaded = scenario::load(name, &[]).map_err(scenario_failure)?;
    let runner = Runner {
        loaded: &loaded,
        threads: 1,
        show_progress: false,
        interrupt: None,
        datasets: DatasetChoice::default(),
    };
    let summary = runner.run(seed)?.summary;
    Ok(Item {
        scenario: name,
        wall_s: summary.measured.wall_s,
        shadow_wall_s,
        events: summary.events,
        delivered: summary.delivered,
        expected: summary.expected,
        trace_hash: summary.trace_hash,
    })
}

impl fmt::Display for Bench {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut table = Table::new();
        let header = ["scenario", "wall, s", "Shadow, s", "events", "delivered"];
        table.load_preset(UTF8_BORDERS_ONLY).set_header(header);
        for item in &self.scenarios {
            table.add_row([
                item.scenario.to_owned(),
                format!("{:.2}", item.wall_s),
                item.shadow_wall_s
                    .map_or("out of memory".to_owned(), |s| format!("{s:.0}")),
                item.events.to_string(),
                format!("{}/{}", item.delivered, item.expected),
            ]);
        }
        for column in table.column_iter_mut().skip(1) {
            column.set_cell_alignment(CellAlignment::Right);
        }
        writeln!(f, "{table}")?;
        let total = &self.total;
        write!(
            f,
            "together {:.2} s with {} threads, {:.2} s of processor time",
            total.wall_s, self.threads, total.cpu_s
        )?;
        match total.peak_rss_mb {
            Some(megabytes) => writeln!(f, ", {megabytes:.0} MB at most"),
            None => writeln!(f),
        }
    }
}
