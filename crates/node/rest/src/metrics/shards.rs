//! Byte metrics of each shard.

use std::fmt;

use prometheus_client::encoding::NoLabelSet;
use prometheus_client::metrics::MetricType;

use super::MetricsPage;
use undertone_network::command::{PayloadTotals, TopicSnapshot};

/// Function that selects one value of a topic's payload totals.
type PayloadFigure = fn(&PayloadTotals) -> u64;

/// Labels of a byte counter.
type ByteLabels<'a> = [(&'static str, &'a str); 3];

impl MetricsPage<'_> {
    /// Writes what was dropped or not requested because the bandwidth of a shard was used up.
    pub(super) fn shards(&mut self, topics: &[TopicSnapshot]) -> fmt::Result {
        let help =
            "Copies dropped and ids not asked for because the bandwidth of their shard was used up";
        let (name, counter) = ("shard_over_bandwidth", MetricType::Counter);
        let mut metric = self.metric(name, help, None, counter)?;
        for TopicSnapshot { topic, traffic, .. } in topics {
            for (what, total) in [
                ("dropped", traffic.dropped),
                ("not_requested", traffic.not_requested),
            ] {
                let labels = [("topic", topic.as_str()), ("what", what)];
                let mut one = metric.encode_family(&labels)?;
                one.encode_counter::<NoLabelSet, _, u64>(&total, None)?;
            }
        }
        Ok(())
    }

    /// Writes the lengths of the payloads of valid messages under the names of the reference node.
    pub(super) fn waku_payloads(&mut self, topics: &[TopicSnapshot]) -> fmt::Result {
        let values: [(&str, &str, PayloadFigure); 3] = [
            (
                "avg",
                "Mean length of payloads, bytes",
                PayloadTotals::mean_bytes,
            ),
            ("max", "Length of the longest payload, bytes", |payloads| {
                payloads.longest_bytes
            }),
            ("total", "Length of all payloads, bytes", |payloads| {
                payloads.sum_bytes
            }),
        ];
        for (what, help, value) in values {
            let name = format!("relay_{what}_msg_bytes_per_shard");
            let of = |topic: &TopicSnapshot| {
                usize::try_from(value(&topic.payloads)).unwrap_or(usize::MAX)
            };
            let all = topics.iter().map(|topic| (topic.topic.as_str(), of(topic)));
            self.gauges(&name, help, "shard", all)?;
        }
        Ok(())
    }

    /// Writes the bytes of the shards under the name of the reference node. `gross` counts all copies received; `net`
    /// counts valid messages once each (`in`) and copies to peers (`out`). As there, the length is that of message
    /// and topic name.
    pub(super) fn waku_bytes(&mut self, topics: &[TopicSnapshot]) -> fmt::Result {
        let help = "Bytes of messages, by topic, type and direction";
        let (name, counter) = ("relay_network_bytes", MetricType::Counter);
        let mut metric = self.metric(name, help, None, counter)?;
        for TopicSnapshot { topic, traffic, .. } in topics {
            for (kind, direction, total) in [
                ("gross", "in", traffic.received_bytes),
                ("net", "in", traffic.accepted_bytes),
                ("net", "out", traffic.sent_bytes),
            ] {
                let labels: ByteLabels<'_> =
                    [("topic", topic), ("type", kind), ("direction", direction)];
                let mut one = metric.encode_family(&labels)?;
                one.encode_counter::<NoLabelSet, _, u64>(&total, None)?;
            }
        }
        Ok(())
    }
}
