use std::time::Duration;

use serde::Serialize;
use undertone_bench::figures::{ratio, times};
use undertone_conformance::protocol::Stat;

use crate::output;

#[cfg(test)]
#[path = "tests/report.rs"]
mod tests;

/// Resources that a peer has used up to one moment.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Look {
    /// Time since the measurement started, approximately.
    pub(crate) at: Duration,
    /// Answer of the peer.
    pub(crate) stat: Stat,
}

/// Resources that a peer used during the measurement.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub(crate) struct Usage {
    /// Mean processor time, in percent of one core.
    cpu_percent: f64,
    /// Highest resident memory seen, in MiB.
    rss_mib: f64,
}

/// Report of all variants.
#[derive(Debug, Serialize)]
pub(crate) struct Report {
    connections: u16,
    /// Duration of each measurement, in seconds.
    seconds: u32,
    rows: Vec<Row>,
}

#[derive(Debug, Serialize)]
struct Row {
    label: String,
    /// Number of peers in the mesh when the measurement started.
    in_mesh: usize,
    #[serde(flatten)]
    usage: Usage,
    ratio_to_first: Ratios,
}

/// Figures divided by the first variant's; `None` where the divisor is zero.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
struct Ratios {
    cpu: Option<f64>,
    rss: Option<f64>,
}

impl Usage {
    /// Computes the usage from samples in chronological order.
    pub(crate) fn of(looks: &[Look]) -> Self {
        let (Some(first), Some(last)) = (looks.first(), looks.last()) else {
            return Self {
                cpu_percent: 0.0,
                rss_mib: 0.0,
            };
        };
        let cpu_us = last.stat.cpu_us.saturating_sub(first.stat.cpu_us) as f64;
        let elapsed_us = last.at.saturating_sub(first.at).as_secs_f64() * 1e6;
        let rss_kib = looks.iter().map(|look| look.stat.rss_kib).max();
        Self {
            cpu_percent: ratio(cpu_us, elapsed_us).unwrap_or(0.0) * 100.0,
            rss_mib: rss_kib.unwrap_or(0) as f64 / 1024.0,
        }
    }
}

impl Report {
    pub(crate) fn new(connections: u16, seconds: u32) -> Self {
        Self {
            connections,
            seconds,
            rows: Vec::new(),
        }
    }

    /// Adds a variant; all are compared with the first one.
    pub(crate) fn add(&mut self, label: String, in_mesh: usize, usage: Usage) {
        let base = self.rows.first().map_or(usage, |row| row.usage);
        self.rows.push(Row {
            label,
            in_mesh,
            usage,
            ratio_to_first: Ratios {
                cpu: ratio(usage.cpu_percent, base.cpu_percent),
                rss: ratio(usage.rss_mib, base.rss_mib),
            },
        });
    }

    pub(crate) fn table(&self) -> String {
        let header = ["variant", "mesh", "cpu %", "rss MiB", "x cpu", "x rss"];
        let rows = self.rows.iter().map(|row| {
            [
                row.label.clone(),
                row.in_mesh.to_string(),
                format!("{:.2}", row.usage.cpu_percent),
                format!("{:.1}", row.usage.rss_mib),
                times(row.ratio_to_first.cpu),
                times(row.ratio_to_first.rss),
            ]
        });
        let table = output::table(header, 0, rows);
        format!(
            "{table}\n{} connections, no messages for {} s. cpu: mean, in percent of one core; rss: \
             highest seen.",
            self.connections, self.seconds
        )
    }
}
