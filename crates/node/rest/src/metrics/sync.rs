//! Metrics of store synchronisation, under the names of the reference node (nwaku).

use std::fmt;

use prometheus_client::collector::Collector;
use prometheus_client::encoding::{DescriptorEncoder, NoLabelSet};
use prometheus_client::metrics::MetricType;

use super::MetricsPage;
use undertone_provider::services::{SessionHistogram, SyncTotals};

/// Collector of the values for which the reference node has no names.
#[derive(Debug)]
pub(super) struct SyncDetails(pub(super) SyncTotals);

impl Collector for SyncDetails {
    fn encode(&self, encoder: DescriptorEncoder<'_>) -> Result<(), fmt::Error> {
        let (mut page, totals) = (MetricsPage(encoder), &self.0);
        let sessions = totals.sessions.iter().map(|(end, n)| (*end, *n));
        let help = "Sessions of synchronisation, by how they ended";
        page.counters("sync_sessions", help, "end", sessions)?;
        let help = "Messages of other stores that are new in the archive";
        page.counter("sync_messages_kept", help, totals.kept)?;
        let refused = totals.refused.iter().map(|(reason, n)| (*reason, *n));
        let help = "Messages of other stores that were not kept";
        page.counters("sync_messages_refused", help, "reason", refused)
    }
}

impl MetricsPage<'_> {
    /// Writes the values for which the reference node has names.
    pub(super) fn sync(&mut self, totals: &SyncTotals) -> fmt::Result {
        let help = "Payloads of the peer in a session";
        self.histogram("reconciliation_roundtrips", help, &totals.roundtrips)?;
        let help = "Messages that only one side had in a session";
        self.histogram("reconciliation_differences", help, &totals.differences)?;
        let help = "Messages that can be synchronised";
        self.gauge("total_messages_cached", help, totals.cached)?;
        let help = "Messages of the transfer protocol";
        let directions = [("receive", totals.received), ("sent", totals.sent)];
        let name = "total_transfer_messages_exchanged";
        self.counters(name, help, "direction", directions.into_iter())?;
        let help = "Bytes of reconciliation and transfer";
        let mut metric = self.metric("total_bytes_exchanged", help, None, MetricType::Counter)?;
        for ((protocol, direction), bytes) in &totals.bytes {
            let labels = [("protocol", *protocol), ("direction", *direction)];
            let mut one = metric.encode_family(&labels)?;
            one.encode_counter::<NoLabelSet, _, u64>(bytes, None)?;
        }
        Ok(())
    }

    fn histogram(&mut self, name: &str, help: &str, histogram: &SessionHistogram) -> fmt::Result {
        let bounds = histogram.bounds.iter().map(|bound| *bound as f64);
        let counts = histogram.counts.iter().copied();
        let buckets: Vec<_> = bounds.chain([f64::INFINITY]).zip(counts).collect();
        let count = histogram.counts.iter().sum();
        let mut metric = self.metric(name, help, None, MetricType::Histogram)?;
        metric.encode_histogram::<NoLabelSet>(histogram.sum as f64, count, &buckets, None)
    }
}
