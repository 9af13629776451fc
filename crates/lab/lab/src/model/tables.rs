//! Equations 1 and 2, Figure 2, and the formulas for large messages.

use std::fmt;

use comfy_table::presets::UTF8_BORDERS_ONLY;
use comfy_table::{CellAlignment, Table};
use serde::Serialize;
use thiserror::Error;

use super::hops::{FIGURE_2_NODES, Figure2Row, duplicates, figure_2, h_max, nodes_within};
use super::large::{self, LargeRow};
use super::path::{HopLatency, latency_ms};

/// Maximum number of hops that are listed; a mesh of low degree may need many.
const MAX_LISTED: u64 = 32;

/// Parameters of the formulas.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct FormulaParams {
    /// Number of nodes in the network.
    pub nodes: u64,
    /// Mesh degree of each node.
    pub degree: u32,
    /// Size of a message, bytes.
    pub size_bytes: u64,
    /// Rate of a link, megabits per second.
    pub mbit_per_s: f64,
    /// One-way delay of a link, milliseconds.
    pub one_way_ms: f64,
    /// Time to generate a proof, milliseconds.
    pub generation_ms: f64,
    /// Time to verify a proof at each hop, milliseconds.
    pub verification_ms: f64,
}

/// Largest mesh degree of the formulas.
const MAX_DEGREE: u32 = 10_000;

/// Returned for a parameter for which the formulas have no result.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
#[error("{key}: expected {expected}")]
pub struct FormulaError {
    /// Name of the parameter.
    pub key: &'static str,
    /// Values allowed for it.
    pub expected: &'static str,
}

impl FormulaParams {
    fn check(&self) -> Result<(), FormulaError> {
        let above = |value: f64| value > 0.0 && value.is_finite();
        let not_below = |value: f64| value >= 0.0 && value.is_finite();
        let rules = [
            ("nodes", "2 or more", self.nodes >= 2),
            (
                "degree",
                "2 to 10000",
                (2..=MAX_DEGREE).contains(&self.degree),
            ),
            ("mbit_per_s", "a number above 0", above(self.mbit_per_s)),
            ("one_way_ms", NOT_BELOW_0, not_below(self.one_way_ms)),
            ("generation_ms", NOT_BELOW_0, not_below(self.generation_ms)),
            (
                "verification_ms",
                NOT_BELOW_0,
                not_below(self.verification_ms),
            ),
        ];
        match rules.into_iter().find(|(_, _, holds)| !holds) {
            None => Ok(()),
            Some((key, expected, _)) => Err(FormulaError { key, expected }),
        }
    }
}

const NOT_BELOW_0: &str = "a number of 0 or more";

/// Tables of the formulas for one network.
#[derive(Clone, Debug, Serialize)]
pub struct FormulaTables {
    given: FormulaParams,
    h_max: u64,
    hops: Vec<HopRow>,
    duplicates_min: f64,
    duplicates_max: f64,
    figure_2_nodes: [u64; 4],
    figure_2: Vec<Figure2Row>,
    large_messages: Vec<LargeRow>,
}

#[derive(Clone, Debug, Serialize)]
struct HopRow {
    hops: u64,
    nodes_within: f64,
    latency_ms: f64,
}

impl FormulaTables {
    /// Computes the tables.
    ///
    /// # Errors
    /// Returns [`FormulaError`] for a parameter that is not allowed.
    pub fn new(given: &FormulaParams) -> Result<Self, FormulaError> {
        given.check()?;
        const BYTES_PER_MS_AND_MBIT: f64 = 125.0;
        let h_max =
            h_max(given.nodes, given.degree).expect("a degree of 2 or more reaches every node");
        let rate_bytes_per_ms = given.mbit_per_s * BYTES_PER_MS_AND_MBIT;
        let size_bytes = given.size_bytes as f64;
        let hop = HopLatency {
            transmission_ms: given.one_way_ms + size_bytes / rate_bytes_per_ms,
            validation_ms: given.verification_ms,
        };
        let listed = h_max.min(MAX_LISTED) as u32;
        let (duplicates_min, duplicates_max) = duplicates(f64::from(given.degree));
        Ok(Self {
            h_max,
            hops: (1..=listed)
                .map(|hops| HopRow {
                    hops: u64::from(hops),
                    nodes_within: nodes_within(given.degree, hops).min(given.nodes as f64),
                    latency_ms: latency_ms(given.generation_ms, &vec![hop; hops as usize]),
                })
                .collect(),
            duplicates_min,
            duplicates_max,
            figure_2_nodes: FIGURE_2_NODES,
            figure_2: figure_2(),
            large_messages: large::table(
                size_bytes,
                rate_bytes_per_ms,
                u32::try_from(h_max).unwrap_or(u32::MAX),
            ),
            given: given.clone(),
        })
    }
}

impl fmt::Display for FormulaTables {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let given = &self.given;
        writeln!(
            f,
            "Equation 2: {} nodes of degree {} need {} hops in the best case.",
            given.nodes, given.degree, self.h_max
        )?;
        writeln!(
            f,
            "Equation 1: {} ms for the proof, then {} ms, {} bytes at {} Mbit/s and {} ms of \
             verification for each hop.",
            given.generation_ms,
            given.one_way_ms,
            given.size_bytes,
            given.mbit_per_s,
            given.verification_ms
        )?;
        let mut hops = table(&["hops", "nodes within", "latency, ms"]);
        for row in &self.hops {
            let nodes = format!("{:.0}", row.nodes_within);
            hops.add_row([
                row.hops.to_string(),
                nodes,
                format!("{:.1}", row.latency_ms),
            ]);
        }
        writeln!(f, "{}", right(hops))?;
        writeln!(
            f,
            "Duplicates per delivery: {} at least, {} at most.\n",
            self.duplicates_min, self.duplicates_max
        )?;
        writeln!(f, "Figure 2: hops and amplification over degree")?;
        let mut figure = table(&["D", "N = 10^3", "10^4", "10^5", "10^6", "copies per node"]);
        for row in &self.figure_2 {
            let mut cells = vec![row.degree.to_string()];
            cells.extend(row.h_max.map(|hops| hops.to_string()));
            cells.push(row.amplification.to_string());
            figure.add_row(cells);
        }
        writeln!(f, "{}\n", right(figure))?;
        writeln!(
            f,
            "Large messages: transmission of {} bytes over {} hops at {} Mbit/s, ms, without delay",
            given.size_bytes, self.h_max, given.mbit_per_s
        )?;
        let mut large = table(&[
            "fragments",
            "published (S/R)(2H-1)/n",
            "pipeline (S/R)(H-1+n)/n",
        ]);
        for row in &self.large_messages {
            large.add_row([
                row.fragments.to_string(),
                format!("{:.2}", row.published_ms),
                format!("{:.2}", row.pipeline_ms),
            ]);
        }
        writeln!(f, "{}", right(large))?;
        writeln!(
            f,
            "One fragment is the whole message, (S/R) H. The two agree where n = H = {}; beyond, the \
             published form falls below S/R, which no link can do.",
            self.h_max
        )
    }
}

pub(super) fn table(header: &[&str]) -> Table {
    let mut table = Table::new();
    table
        .load_preset(UTF8_BORDERS_ONLY)
        .set_header(header.iter().copied());
    table
}

pub(super) fn right(mut table: Table) -> Table {
    for column in table.column_iter_mut() {
        column.set_cell_alignment(CellAlignment::Right);
    }
    table
}
