use serde::Serialize;
use undertone_bench::figures::{ratio, times};

use crate::chain::summary::{Row, Spread};
use crate::output;

#[cfg(test)]
#[path = "tests/report.rs"]
mod tests;

/// Rows of a run, each with its ratios to the first variant under the same load.
#[derive(Debug, Serialize)]
pub(crate) struct Report {
    nodes: u16,
    /// Whether neighbours ran on different processors.
    apart: bool,
    rows: Vec<Compared>,
}

#[derive(Debug, Serialize)]
struct Compared {
    #[serde(flatten)]
    row: Row,
    /// Values of this variant divided by those of the first; `None` where either is missing.
    ratio_to_first: Ratios,
}

#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
struct Ratios {
    end_to_end_p50: Option<f64>,
    hop_p50: Option<f64>,
    hop_p95: Option<f64>,
    cpu: Option<f64>,
    rss: Option<f64>,
}

impl Report {
    /// Creates a report from rows in the order of the loads; for each load, the first variant's row comes
    /// first.
    pub(crate) fn new(nodes: u16, apart: bool, rows: Vec<Row>) -> Self {
        let mut first: Option<Row> = None;
        let compare = |row: Row| {
            let base = match first.take() {
                Some(base) if base.label != row.label => base,
                _ => row.clone(),
            };
            let ratio_to_first = Ratios::new(&row, &base);
            first = Some(base);
            Compared {
                row,
                ratio_to_first,
            }
        };
        Self {
            nodes,
            apart,
            rows: rows.into_iter().map(compare).collect(),
        }
    }

    pub(crate) fn table(&self) -> String {
        let header = [
            "bytes",
            "variant",
            "delivered",
            "e2e p50",
            "p95",
            "hop p50",
            "p95",
            "cpu/msg",
            "rss",
            "x hop",
            "x cpu",
        ];
        let rows = self.rows.iter().map(|compared| {
            let Compared {
                row,
                ratio_to_first,
            } = compared;
            [
                row.size_bytes.to_string(),
                row.label.clone(),
                format!("{}/{}", row.delivered, row.expected),
                milliseconds(row.end_to_end, |spread| spread.p50_ms),
                milliseconds(row.end_to_end, |spread| spread.p95_ms),
                milliseconds(row.hop, |spread| spread.p50_ms),
                milliseconds(row.hop, |spread| spread.p95_ms),
                format!("{:.2}", row.mean_cpu_ms()),
                format!("{:.0}", row.max_rss_mib()),
                times(ratio_to_first.hop_p50),
                times(ratio_to_first.cpu),
            ]
        });
        let table = output::table(header, 1, rows);
        format!(
            "{table}\n{} peers in a line{}. Times in ms; cpu/msg: mean of the peers, in ms; rss: highest \
             of any peer, in MiB.",
            self.nodes,
            if self.apart {
                ", neighbours on different processors"
            } else {
                ""
            }
        )
    }
}

impl Ratios {
    fn new(row: &Row, base: &Row) -> Self {
        let of = |figure: fn(&Row) -> Option<f64>| ratio(figure(row)?, figure(base)?);
        Self {
            end_to_end_p50: of(|row| Some(row.end_to_end?.p50_ms)),
            hop_p50: of(|row| Some(row.hop?.p50_ms)),
            hop_p95: of(|row| Some(row.hop?.p95_ms)),
            cpu: of(|row| Some(row.mean_cpu_ms())),
            rss: of(|row| Some(row.max_rss_mib())),
        }
    }
}

fn milliseconds(spread: Option<Spread>, figure: fn(Spread) -> f64) -> String {
    spread.map_or_else(|| "-".to_owned(), |spread| format!("{:.2}", figure(spread)))
}
