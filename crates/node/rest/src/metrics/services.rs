//! Metrics of the services, under the names of the reference node (nwaku).

use std::fmt;

use prometheus_client::collector::Collector;
use prometheus_client::encoding::{DescriptorEncoder, NoLabelSet};
use prometheus_client::metrics::MetricType;
use undertone_services::{lightpush, store};

use super::MetricsPage;
use undertone_provider::services::{DurationHistogram, ProtocolTotals, ServiceTotals};

/// Label that the reference node gives to messages pushed to it by lightpush.
const PUSHED: &str = "PushRequest";

/// Collector of the metrics of the services. The registry adds the prefix; two are in use.
#[derive(Clone, Debug)]
pub(super) struct ServiceNames(pub(super) ServiceTotals);

impl Collector for ServiceNames {
    fn encode(&self, encoder: DescriptorEncoder<'_>) -> Result<(), fmt::Error> {
        let (mut page, totals) = (MetricsPage(encoder), &self.0);
        page.requests(totals)?;
        page.service_bytes(totals)?;
        let (name, help) = ("service_peers", "Peers that the configuration names");
        let mut metric = page.metric(name, help, None, MetricType::Gauge)?;
        for (protocol, address) in &totals.named_peers {
            // The reference node names this label `peerId`, although its value is the address.
            let labels = [("protocol", *protocol), ("peerId", address.as_str())];
            metric.encode_family(&labels)?.encode_gauge(&1_i64)?;
        }
        let of = |id: &str| totals.protocols.get(id).copied().unwrap_or_default();
        let queries = of(store::PROTOCOL_ID).served;
        page.counter("store_queries", "History queries of peers", queries)?;
        let help = "Time for a page of history, seconds";
        page.durations("archive_query_duration_seconds", help, &totals.query_times)?;
        for (name, id) in [
            ("lightpush_messages", lightpush::legacy::PROTOCOL_ID),
            ("lightpush_v3_messages", lightpush::PROTOCOL_ID),
        ] {
            let pushed = [(PUSHED, of(id).served)].into_iter();
            page.counters(name, "Messages pushed by light clients", "type", pushed)?;
        }
        if let Some(peers) = totals.filter_peers {
            let help = "Peers with filter subscriptions";
            page.gauge("filter_subscriptions", help, peers)?;
            let (name, help) = (
                "filter_handle_message_duration_seconds",
                "Time for a message and its filter subscriptions, seconds",
            );
            page.durations(name, help, &totals.filter_times)?;
        }
        match totals.records_sent {
            Some(records) => page.counter("px_peers_sent", "Records given to peers", records),
            None => Ok(()),
        }
    }
}

impl MetricsPage<'_> {
    fn requests(&mut self, totals: &ServiceTotals) -> fmt::Result {
        let help = "Requests of peers, by whether they were within the rate limit";
        let (name, counter) = ("service_requests", MetricType::Counter);
        let mut metric = self.metric(name, help, None, counter)?;
        for (
            service,
            ProtocolTotals {
                served, rejected, ..
            },
        ) in &totals.protocols
        {
            for (state, total) in [("served", served), ("rejected", rejected)] {
                let labels = [("service", *service), ("state", state)];
                let mut one = metric.encode_family(&labels)?;
                one.encode_counter::<NoLabelSet, _, u64>(total, None)?;
            }
        }
        Ok(())
    }

    fn service_bytes(&mut self, totals: &ServiceTotals) -> fmt::Result {
        let help = "Bytes of requests, answers and pushed messages";
        let (name, counter) = ("service_network_bytes", MetricType::Counter);
        let mut metric = self.metric(name, help, None, counter)?;
        for (service, totals) in &totals.protocols {
            let directions = [("in", totals.received_bytes), ("out", totals.sent_bytes)];
            for (direction, total) in directions {
                let labels = [("service", *service), ("direction", direction)];
                let mut one = metric.encode_family(&labels)?;
                one.encode_counter::<NoLabelSet, _, u64>(&total, None)?;
            }
        }
        Ok(())
    }

    /// Writes a histogram of times, in seconds.
    pub(super) fn durations(
        &mut self,
        name: &str,
        help: &str,
        times: &DurationHistogram,
    ) -> fmt::Result {
        let bounds = DurationHistogram::BOUNDS_MS.iter();
        let bounds = bounds.map(|bound_ms| *bound_ms as f64 / 1000.0);
        let buckets: Vec<_> = bounds.chain([f64::INFINITY]).zip(times.counts).collect();
        let count = times.counts.iter().sum();
        let mut metric = self.metric(name, help, None, MetricType::Histogram)?;
        metric.encode_histogram::<NoLabelSet>(times.sum.as_secs_f64(), count, &buckets, None)
    }
}
