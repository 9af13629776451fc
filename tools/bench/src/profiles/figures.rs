//! Figures of one run, computed in the same way for real and simulated nodes.

use serde::Serialize;
use undertone_lab::report::Sorted;
use undertone_sim::outcome::{Delivery, Message};

/// Totals of a run other than its deliveries, over all nodes and the whole run.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct RunTotals {
    /// Number of deliveries in a run without failures, warm-up included.
    pub(crate) expected: u64,
    /// Copies of messages received.
    pub(crate) copies: u64,
    /// Number of connection directions that carried a message; `None` if the nodes do not report it.
    pub(crate) links: Option<u64>,
    /// IDONTWANT entries sent.
    pub(crate) idontwant: u64,
    /// IHAVE entries sent.
    pub(crate) ihave: u64,
    /// IWANT entries sent.
    pub(crate) iwant: u64,
    /// GRAFT entries sent.
    pub(crate) graft: u64,
    /// PRUNE entries sent.
    pub(crate) prune: u64,
    /// Mean size of the meshes at the end.
    pub(crate) mesh_mean: f64,
    /// Size of the largest mesh at the end.
    pub(crate) mesh_max: u32,
}

/// Figures of one run; latencies and hops exclude the warm-up.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub(crate) struct ProfileFigures {
    /// Share of the expected deliveries that took place.
    pub(crate) delivered: f64,
    /// Median latency of a delivery, milliseconds.
    pub(crate) p50_ms: f64,
    /// Latency that 95 % of deliveries do not exceed, milliseconds.
    pub(crate) p95_ms: f64,
    /// Latency of a message's last delivery, mean over messages, milliseconds.
    pub(crate) last_ms: f64,
    /// Mean number of hops of a delivery.
    pub(crate) hops: f64,
    /// Mean size of a mesh at the end.
    pub(crate) mesh: f64,
    /// Size of the largest mesh at the end.
    pub(crate) mesh_max: u32,
    /// Duplicates per delivery.
    pub(crate) duplicates: f64,
    /// Number of neighbours from which a node received messages, mean over the nodes; `None` if the nodes do not
    /// report it.
    pub(crate) links: Option<f64>,
    /// IDONTWANT entries sent per delivery.
    pub(crate) idontwant: f64,
    /// IHAVE entries sent per delivery.
    pub(crate) ihave: f64,
    /// IWANT entries sent per delivery.
    pub(crate) iwant: f64,
    /// GRAFT entries sent by each node.
    pub(crate) graft: f64,
    /// PRUNE entries sent by each node.
    pub(crate) prune: f64,
}

impl ProfileFigures {
    /// Computes the figures of `nodes` nodes.
    pub(crate) fn new(
        nodes: u32,
        messages: &[Message],
        deliveries: &[Delivery],
        totals: RunTotals,
    ) -> Self {
        let of = |delivery: &Delivery| &messages[delivery.message as usize];
        let latency_ms = |delivery: &Delivery| {
            let sent_ns = of(delivery).published_ns;
            delivery.received_ns.saturating_sub(sent_ns) as f64 / 1e6
        };
        let counted: Vec<_> = deliveries.iter().filter(|d| !of(d).warm_up).collect();
        let latencies = Sorted::new(counted.iter().map(|d| latency_ms(d)).collect());
        let quantile = |share: f64| latencies.quantile(share).unwrap_or(f64::NAN);
        let last = counted
            .chunk_by(|a, b| a.message == b.message)
            .map(|of_one| of_one.iter().map(|d| latency_ms(d)).fold(0.0, f64::max));
        let hops = counted.iter().map(|d| f64::from(d.hops));
        let made = deliveries.len() as f64;
        let per_delivery = |total: u64| total as f64 / made;
        Self {
            delivered: made / totals.expected as f64,
            p50_ms: quantile(0.5),
            p95_ms: quantile(0.95),
            last_ms: mean(last),
            hops: mean(hops),
            mesh: totals.mesh_mean,
            mesh_max: totals.mesh_max,
            duplicates: per_delivery(totals.copies) - 1.0,
            links: totals.links.map(|links| links as f64 / f64::from(nodes)),
            idontwant: per_delivery(totals.idontwant),
            ihave: per_delivery(totals.ihave),
            iwant: per_delivery(totals.iwant),
            graft: totals.graft as f64 / f64::from(nodes),
            prune: totals.prune as f64 / f64::from(nodes),
        }
    }

    /// Returns names and values in the order of the table.
    pub(crate) fn named(&self) -> [(&'static str, f64); 14] {
        [
            ("delivered", self.delivered),
            ("p50 ms", self.p50_ms),
            ("p95 ms", self.p95_ms),
            ("last ms", self.last_ms),
            ("hops", self.hops),
            ("mesh", self.mesh),
            ("largest", f64::from(self.mesh_max)),
            ("duplicates", self.duplicates),
            ("neighbours", self.links.unwrap_or(f64::NAN)),
            ("IDONTWANT", self.idontwant),
            ("IHAVE", self.ihave),
            ("IWANT", self.iwant),
            ("GRAFT", self.graft),
            ("PRUNE", self.prune),
        ]
    }
}

/// Returns the mean of the values; NaN if there are none.
pub(crate) fn mean(values: impl Iterator<Item = f64>) -> f64 {
    Sorted::new(values.collect()).mean().unwrap_or(f64::NAN)
}

#[cfg(test)]
#[path = "tests/figures.rs"]
mod tests;
