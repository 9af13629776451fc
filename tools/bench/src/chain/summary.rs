use serde::Serialize;
use undertone_bench::figures::percentile;

use crate::chain::load::{Load, Outcome};

#[cfg(test)]
#[path = "tests/summary.rs"]
mod tests;

/// Sums of one variant's results under one load, over its rounds.
#[derive(Clone, Debug, Default)]
pub(crate) struct Tally {
    asked: usize,
    refused: usize,
    received: Vec<usize>,
    end_to_end_ms: Vec<f64>,
    hop_ms: Vec<f64>,
    cpu_us: Vec<f64>,
    rss_kib: Vec<u64>,
}

/// Results of one variant under one load.
#[derive(Clone, Debug, Serialize)]
pub(crate) struct Row {
    pub(crate) label: String,
    pub(crate) size_bytes: usize,
    /// Messages per second; `None` for a burst.
    pub(crate) rate_per_s: Option<f64>,
    /// Number of messages that the publisher was asked to publish.
    pub(crate) expected: usize,
    /// Number of messages that the publisher refused.
    pub(crate) refused: usize,
    /// Number of messages that reached the end of the line.
    pub(crate) delivered: usize,
    /// Number of messages that reached each receiver.
    pub(crate) received: Vec<usize>,
    /// Latency from the first peer to the last.
    pub(crate) end_to_end: Option<Spread>,
    /// Latency between receptions at neighbours.
    pub(crate) hop: Option<Spread>,
    /// Processor time per message of each peer beyond its idle use, in milliseconds.
    pub(crate) cpu_ms_per_message: Vec<f64>,
    /// Highest resident memory of each peer, in MiB.
    pub(crate) rss_mib: Vec<f64>,
}

/// Median and 95th percentile, in milliseconds.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub(crate) struct Spread {
    pub(crate) p50_ms: f64,
    pub(crate) p95_ms: f64,
}

impl Tally {
    /// Adds a round. `idle` is each peer's share of processor time when nothing is sent.
    pub(crate) fn add(&mut self, outcome: &Outcome, idle: &[f64]) {
        self.asked += outcome.asked;
        self.refused += outcome.refused;

        let counts = outcome
            .latency_ns
            .iter()
            .map(std::collections::BTreeMap::len);
        add_each(&mut self.received, counts);
        if let Some(last) = outcome.latency_ns.last() {
            self.end_to_end_ms
                .extend(last.values().map(|&ns| ns as f64 / 1e6));
        }
        for (index, here) in outcome.latency_ns.iter().enumerate() {
            for (seq, &ns) in here {
                // The first receiver's message comes from the publisher, where its latency is 0.
                let before = match index.checked_sub(1) {
                    None => Some(0),
                    Some(previous) => outcome.latency_ns[previous].get(seq).copied(),
                };
                self.hop_ms
                    .extend(before.map(|before| (ns as f64 - before as f64) / 1e6));
            }
        }

        let busy = outcome
            .cpu_us
            .iter()
            .zip(idle)
            .map(|(us, idle)| us - idle * outcome.elapsed_us);
        add_each(&mut self.cpu_us, busy);
        self.rss_kib.resize(outcome.rss_kib.len(), 0);
        for (highest, &seen) in self.rss_kib.iter_mut().zip(&outcome.rss_kib) {
            *highest = seen.max(*highest);
        }
    }

    pub(crate) fn row(&self, label: &str, load: Load) -> Row {
        let messages = self.asked.max(1) as f64;
        let rate = (!load.gap.is_zero()).then(|| 1.0 / load.gap.as_secs_f64());
        Row {
            label: label.to_owned(),
            size_bytes: load.size,
            rate_per_s: rate,
            expected: self.asked,
            refused: self.refused,
            delivered: self.received.last().copied().unwrap_or(0),
            received: self.received.clone(),
            end_to_end: Spread::of(&self.end_to_end_ms),
            hop: Spread::of(&self.hop_ms),
            cpu_ms_per_message: self.cpu_us.iter().map(|us| us / 1e3 / messages).collect(),
            rss_mib: self
                .rss_kib
                .iter()
                .map(|&kib| kib as f64 / 1024.0)
                .collect(),
        }
    }
}

impl Row {
    /// Returns the mean over the peers of the processor time per message, in milliseconds.
    pub(crate) fn mean_cpu_ms(&self) -> f64 {
        self.cpu_ms_per_message.iter().sum::<f64>() / self.cpu_ms_per_message.len().max(1) as f64
    }

    /// Returns the highest memory of any peer, in MiB.
    pub(crate) fn max_rss_mib(&self) -> f64 {
        self.rss_mib.iter().copied().fold(0.0, f64::max)
    }
}

impl Spread {
    /// Computes the percentiles; `None` for no values.
    pub(crate) fn of(values: &[f64]) -> Option<Self> {
        let mut sorted = values.to_vec();
        sorted.sort_by(f64::total_cmp);
        Some(Self {
            p50_ms: percentile(&sorted, 50)?,
            p95_ms: percentile(&sorted, 95)?,
        })
    }
}

fn add_each<T: Copy + Default + std::ops::AddAssign>(
    sums: &mut Vec<T>,
    more: impl Iterator<Item = T>,
) {
    for (index, more) in more.enumerate() {
        if index == sums.len() {
            sums.push(T::default());
        }
        sums[index] += more;
    }
}
