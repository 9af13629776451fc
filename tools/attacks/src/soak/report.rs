//! Result of a soak: what each node used in each quarter of the time, and whether that was bounded.

use std::fmt;

use crate::ProcessLook;

/// Increase from the two middle quarters to the last one that does not count as growth, percent: allocators keep
/// pages.
const MEMORY_TOLERANCE_PERCENT: f64 = 3.0;
/// Descriptors allowed in the last quarter beyond the maximum of the middle quarters: strangers come and go.
const HANDLES_TOLERANCE: usize = 8;
/// Number of quarters of a run.
const QUARTERS: usize = 4;

/// Samples of a node, in order.
#[derive(Clone, Debug)]
pub struct NodeSamples {
    name: String,
    looks: Vec<ProcessLook>,
}

/// Measurements of a whole soak.
#[derive(Clone, Debug)]
pub struct SoakReport {
    /// Samples of each node.
    pub samples: Vec<NodeSamples>,
    /// Messages with a content topic of their own that the publisher accepted.
    pub sent: usize,
    /// Number of these messages that the second store delivered.
    pub arrived: usize,
    /// Pages of history that the light node read.
    pub pages: usize,
}

impl NodeSamples {
    /// Creates an empty set of samples for the node `name`.
    #[must_use]
    pub fn new(name: &str) -> Self {
        Self {
            name: name.to_owned(),
            looks: Vec::new(),
        }
    }

    /// Adds a sample of the node's process.
    pub fn add(&mut self, look: ProcessLook) {
        self.looks.push(look);
    }

    /// Returns the name of the node and its memory in the last sample.
    pub(super) fn latest(&self) -> String {
        let memory_mib = self.looks.last().map_or(0.0, |look| look.memory_mib);
        format!("{} {memory_mib:.0} MiB", self.name)
    }

    /// Returns the largest values of a quarter.
    fn quarter(&self, number: usize) -> ProcessLook {
        let (len, mut largest) = (self.looks.len(), ProcessLook::default());
        for look in &self.looks[len * number / QUARTERS..len * (number + 1) / QUARTERS] {
            largest.memory_mib = largest.memory_mib.max(look.memory_mib);
            largest.handles = largest.handles.max(look.handles);
            largest.threads = largest.threads.max(look.threads);
        }
        largest
    }

    /// Names the resources that kept growing, or a process that ended; empty if everything is bounded.
    fn defects(&self) -> Vec<&'static str> {
        let [second, third, last] = [1, 2, 3].map(|number| self.quarter(number));
        let memory_mib = second.memory_mib.max(third.memory_mib);
        let tolerated_mib = memory_mib * (1.0 + MEMORY_TOLERANCE_PERCENT / 100.0);
        let has_ended = self.looks.last().is_none_or(|look| look.threads == 0);
        [
            (has_ended, "the process ended"),
            (last.memory_mib > tolerated_mib, "memory grows"),
            (
                last.handles > second.handles.max(third.handles) + HANDLES_TOLERANCE,
                "descriptors grow",
            ),
            (
                last.threads > second.threads.max(third.threads),
                "threads grow",
            ),
        ]
        .into_iter()
        .filter_map(|(is_so, what)| is_so.then_some(what))
        .collect()
    }
}

impl SoakReport {
    /// Whether the resources of every node were bounded, and messages arrived.
    #[must_use]
    pub fn is_good(&self) -> bool {
        self.arrived > 0 && self.samples.iter().all(|node| node.defects().is_empty())
    }
}

impl fmt::Display for SoakReport {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(
            f,
            "| node | most memory in each quarter, MiB | descriptors | threads | verdict |\n\
             | --- | ---: | ---: | ---: | --- |"
        )?;
        for node in &self.samples {
            let quarters: Vec<_> = (0..QUARTERS).map(|number| node.quarter(number)).collect();
            let each = |text: fn(&ProcessLook) -> String| {
                let texts: Vec<_> = quarters.iter().map(text).collect();
                texts.join(", ")
            };
            let defects = node.defects();
            let verdict = match defects.is_empty() {
                true => "bounded".to_owned(),
                false => defects.join(", "),
            };
            writeln!(
                f,
                "| {} | {} | {} | {} | {verdict} |",
                node.name,
                each(|look| format!("{:.1}", look.memory_mib)),
                each(|look| look.handles.to_string()),
                each(|look| look.threads.to_string()),
            )?;
        }
        let Self {
            sent,
            arrived,
            pages,
            ..
        } = self;
        write!(
            f,
            "\nof {sent} messages {arrived} arrived at the second store; the light node read {pages} pages"
        )
    }
}

#[cfg(test)]
#[path = "tests/report.rs"]
mod tests;
