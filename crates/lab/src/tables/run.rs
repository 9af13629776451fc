//! Tables of one run.

use std::collections::HashMap;

use arrow_array::RecordBatch;
use undertone_sim::Outcome;
use undertone_sim::outcome::{Counters, Delivery, KindCounter, Message};

use super::columns::Columns;
use crate::report::{Summary, by_message, latency_ms, origin};

/// One row per delivery to a relay, with the columns of `deliveries.parquet`.
pub fn deliveries(outcome: &Outcome, summary: &Summary) -> RecordBatch {
    let rows: Vec<(&Message, &Delivery)> = by_message(outcome)
        .flat_map(|(message, deliveries)| deliveries.iter().map(move |d| (message, d)))
        .collect();
    let rows = || rows.iter();
    Columns::default()
        .int32("message", rows().map(|(message, _)| message.index))
        .int32("publisher", rows().map(|(message, _)| message.publisher))
        .int32("receiver", rows().map(|(_, delivery)| delivery.receiver))
        .int32("from", rows().map(|(_, delivery)| delivery.from))
        .int32("hops", rows().map(|(_, delivery)| delivery.hops.into()))
        .int32(
            "size_bytes",
            rows().map(|(message, _)| message.payload_bytes),
        )
        .boolean("warm_up", rows().map(|(message, _)| message.warm_up))
        .int64("sent_ns", rows().map(|(message, _)| message.published_ns))
        .int64(
            "received_ns",
            rows().map(|(_, delivery)| delivery.received_ns),
        )
        .float(
            "latency_ms",
            rows().map(|(message, delivery)| latency_ms(message, delivery)),
        )
        .table(metadata(summary))
}

/// One row per message.
pub fn messages(summary: &Summary) -> RecordBatch {
    let rows = || summary.per_message.iter();
    let latency = |figure: fn(&crate::report::Latency) -> f64| {
        rows().map(move |message| message.latency_ms.as_ref().map(figure))
    };
    let delivered = |message: &crate::report::PerMessage| message.hops.values().sum();
    Columns::default()
        .int32("message", rows().map(|message| message.index))
        .int32("publisher", rows().map(|message| message.publisher))
        .int32("size_bytes", rows().map(|message| message.size_bytes))
        .boolean("warm_up", rows().map(|message| message.warm_up))
        .int64("delivered", rows().map(delivered))
        .maybe_float("min_ms", latency(|latency| latency.min))
        .maybe_float("mean_ms", latency(|latency| latency.mean))
        .maybe_float("p50_ms", latency(|latency| latency.p50))
        .maybe_float("p95_ms", latency(|latency| latency.p95))
        .maybe_float("p99_ms", latency(|latency| latency.p99))
        .maybe_float("max_ms", latency(|latency| latency.max))
        .table(metadata(summary))
}

type ControlCounter = fn(&Counters) -> KindCounter;

/// Kinds of control entries, by the start of their columns' names.
const CONTROL: [(&str, ControlCounter); 6] = [
    ("subscriptions", |node| node.subscriptions),
    ("graft", |node| node.graft),
    ("prune", |node| node.prune),
    ("ihave", |node| node.ihave),
    ("iwant", |node| node.iwant),
    ("idontwant", |node| node.idontwant),
];

/// One row per node: connections, copies and bytes from start to end.
pub fn nodes(outcome: &Outcome, summary: &Summary) -> RecordBatch {
    let rows = || outcome.nodes.iter();
    let connections = |node: usize| outcome.connections.get(node).copied().unwrap_or(0);
    let mut columns = Columns::default()
        .int32("node", (0..).take(rows().len()))
        .int32("connections", (0..rows().len()).map(connections))
        .int64("first_copies", rows().map(|node| node.first_copies))
        .int64("duplicates", rows().map(|node| node.duplicates))
        .int64("wire_sent_bytes", rows().map(|node| node.wire_sent_bytes))
        .int64(
            "wire_received_bytes",
            rows().map(|node| node.wire_received_bytes),
        )
        .int64("packets_dropped", rows().map(|node| node.packets_dropped))
        .int64("messages_sent", rows().map(|node| node.messages.count))
        .int64(
            "messages_sent_bytes",
            rows().map(|node| node.messages.bytes),
        );
    for (name, kind) in CONTROL {
        columns = columns
            .int64(&format!("{name}_sent"), rows().map(|node| kind(node).count))
            .int64(
                &format!("{name}_sent_bytes"),
                rows().map(|node| kind(node).bytes),
            );
    }
    columns.table(metadata(summary))
}

fn metadata(summary: &Summary) -> HashMap<String, String> {
    let origin = origin(summary).into_iter();
    origin.map(|(key, value)| (key.to_owned(), value)).collect()
}
