//! The refined closed form beside the results of a simulated run.

use std::fmt;

use serde::Serialize;
use undertone_sim::Scenario;

use super::scenario::{MeasuredMesh, NoPrediction, spread_params};
use super::spread::{SpreadPrediction, predict};
use super::tables::{right, table};
use crate::report::{Latency, Summary};

/// Predictions for every payload size of a scenario, beside a run if there is one.
#[derive(Clone, Debug, Serialize)]
pub struct ModelComparison {
    scenario: String,
    seed: Option<u64>,
    mesh_degree: Option<f64>,
    sizes: Vec<SizeRow>,
}

#[derive(Clone, Debug, Serialize)]
struct SizeRow {
    size_bytes: u32,
    model_ms: Figures,
    sim_ms: Option<Figures>,
    model_hops: Vec<f64>,
    sim_hops: Vec<f64>,
}

/// Distribution of latencies, milliseconds.
#[derive(Clone, Copy, Debug, Serialize)]
struct Figures {
    min: f64,
    mean: f64,
    p50: f64,
    p75: f64,
    p95: f64,
    p99: f64,
    max: f64,
}

impl ModelComparison {
    /// Predicts every payload size of the scenario, from the mesh that the run measured if there is a run.
    ///
    /// # Errors
    /// Returns [`NoPrediction`] when the closed form does not describe the scenario.
    pub fn new(scenario: &Scenario, run: Option<&Summary>) -> Result<Self, NoPrediction> {
        let mut sizes = scenario.traffic.payload_bytes.clone();
        sizes.sort_unstable();
        sizes.dedup();
        let is_one_size = sizes.len() == 1;
        let sizes = sizes
            .into_iter()
            .map(|size_bytes| {
                let measured = run.map(|run| MeasuredMesh {
                    degree: run.mesh_degree.mean,
                    frame_bytes: is_one_size.then(|| mean_frame(run)).flatten(),
                });
                let spread = predict(&spread_params(scenario, size_bytes, measured)?);
                Ok(SizeRow {
                    size_bytes,
                    model_ms: Figures::predicted(&spread),
                    sim_ms: run.and_then(|run| Figures::simulated(run, size_bytes)),
                    sim_hops: run.map(|run| hops(run, size_bytes)).unwrap_or_default(),
                    model_hops: spread.hops,
                })
            })
            .collect::<Result<_, _>>()?;
        Ok(Self {
            scenario: scenario.name.clone(),
            seed: run.map(|run| run.seed),
            mesh_degree: run.map(|run| run.mesh_degree.mean),
            sizes,
        })
    }
}

fn mean_frame(run: &Summary) -> Option<f64> {
    let messages = run.bytes.kinds.get("messages")?;
    (messages.count > 0).then(|| messages.bytes as f64 / messages.count as f64)
}

/// Returns the mean number of nodes reached through 1, 2, … hops by a message of a size.
fn hops(run: &Summary, size_bytes: u32) -> Vec<f64> {
    let of_size = || {
        run.per_message
            .iter()
            .filter(|m| !m.warm_up && m.size_bytes == size_bytes)
    };
    let messages = of_size().count().max(1) as f64;
    let most = of_size()
        .flat_map(|m| m.hops.keys())
        .max()
        .copied()
        .unwrap_or(0);
    (1..=most)
        .map(|hops| {
            let nodes: u64 = of_size().filter_map(|m| m.hops.get(&hops)).sum();
            nodes as f64 / messages
        })
        .collect()
}

impl Figures {
    fn predicted(spread: &SpreadPrediction) -> Self {
        Self {
            min: spread.quantile_ms(0.0),
            mean: spread.mean_ms(),
            p50: spread.quantile_ms(0.5),
            p75: spread.quantile_ms(0.75),
            p95: spread.quantile_ms(0.95),
            p99: spread.quantile_ms(0.99),
            max: spread.quantile_ms(1.0),
        }
    }

    /// Returns the unweighted means over the messages of a size; `None` if there are none.
    fn simulated(run: &Summary, size_bytes: u32) -> Option<Self> {
        let of_size: Vec<&Latency> = run
            .per_message
            .iter()
            .filter(|message| !message.warm_up && message.size_bytes == size_bytes)
            .filter_map(|message| message.latency_ms.as_ref())
            .collect();
        let mean = |field: fn(&Latency) -> f64| {
            of_size.iter().map(|latency| field(latency)).sum::<f64>() / of_size.len() as f64
        };
        (!of_size.is_empty()).then(|| Self {
            min: mean(|l| l.min),
            mean: mean(|l| l.mean),
            p50: mean(|l| l.p50),
            p75: mean(|l| l.p75),
            p95: mean(|l| l.p95),
            p99: mean(|l| l.p99),
            max: mean(|l| l.max),
        })
    }

    fn cells(self) -> [f64; 7] {
        [
            self.min, self.mean, self.p50, self.p75, self.p95, self.p99, self.max,
        ]
    }
}

impl fmt::Display for ModelComparison {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match (self.seed, self.mesh_degree) {
            (Some(seed), Some(degree)) => writeln!(
                f,
                "{}: the closed form beside a run (seed {seed}), for its mesh degree of {degree:.2}",
                self.scenario
            )?,
            _ => writeln!(
                f,
                "{}: the closed form, for the target degree",
                self.scenario
            )?,
        }
        for row in &self.sizes {
            writeln!(f, "\n{} bytes, ms", row.size_bytes)?;
            let mut figures = table(&["", "min", "mean", "p50", "p75", "p95", "p99", "max"]);
            let mut add = |name: &str, cells: [f64; 7], decimals: usize| {
                let cells = cells.map(|cell| format!("{cell:.decimals$}"));
                figures.add_row(std::iter::once(name.to_owned()).chain(cells));
            };
            let model = row.model_ms.cells();
            add("model", model, 1);
            if let Some(sim) = row.sim_ms {
                let sim = sim.cells();
                add("sim", sim, 1);
                add("model / sim", std::array::from_fn(|i| model[i] / sim[i]), 3);
            }
            writeln!(f, "{}", right(figures))?;
            let mut hops = table(&["hops", "model", "sim"]);
            for hop in 0..row.model_hops.len().max(row.sim_hops.len()) {
                let nodes = |hops: &[f64]| {
                    hops.get(hop)
                        .map_or(String::new(), |nodes| format!("{nodes:.1}"))
                };
                hops.add_row([
                    (hop + 1).to_string(),
                    nodes(&row.model_hops),
                    nodes(&row.sim_hops),
                ]);
            }
            writeln!(f, "{}", right(hops))?;
        }
        Ok(())
    }
}
