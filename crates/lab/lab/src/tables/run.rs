//! Tables of one run.

use std::collections::HashMap;

use arrow_array::RecordBatch;
use undertone_sim::Outcome;
use undertone_sim::outcome::{Delivery, Message};

use super::columns::Columns;
use crate::report::{self, DatasetTable, Summary, by_message, latency_ms, origin};

/// One row per delivery to a relay, with the columns of `deliveries.parquet`.
pub fn deliveries(outcome: &Outcome, summary: &Summary) -> RecordBatch {
    let rows: Vec<(&Message, &Delivery)> = by_message(outcome)
        .flat_map(|(message, deliveries)| deliveries.iter().map(move |d| (message, d)))
        .collect();
    let rows = || rows.iter();
    let columns = Columns::default()
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
        );
    let columns = match report::group_names(summary) {
        None => columns,
        Some(names) => {
            let receivers = rows().map(|(_, delivery)| delivery.receiver as usize);
            columns.text("group", receivers.map(|receiver| names[receiver]))
        }
    };
    columns.table(metadata(summary))
}

/// One row per message.
pub fn messages(summary: &Summary) -> RecordBatch {
    let rows = || summary.per_message.iter();
    let latency = |figure: fn(&report::Latency) -> f64| {
        rows().map(move |message| message.latency_ms.as_ref().map(figure))
    };
    let delivered = |message: &report::PerMessage| message.hops.values().sum();
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

/// One row per node: connections, copies and bytes from start to end.
pub fn nodes(outcome: &Outcome, summary: &Summary) -> RecordBatch {
    dataset(&report::nodes(outcome), summary)
}

/// One row per copy sent; no rows unless the run recorded them.
pub fn copies(outcome: &Outcome, summary: &Summary) -> RecordBatch {
    dataset(&report::copies(outcome), summary)
}

/// One row per direction of a connection; no rows unless the run recorded them.
pub fn links(outcome: &Outcome, summary: &Summary) -> RecordBatch {
    dataset(&report::links(outcome), summary)
}

/// One row per interval and kind of traffic; no rows unless the run recorded them.
pub fn traffic(outcome: &Outcome, summary: &Summary) -> RecordBatch {
    dataset(&report::traffic(outcome), summary)
}

fn dataset(table: &DatasetTable, summary: &Summary) -> RecordBatch {
    let mut columns = Columns::default();
    for (name, values) in &table.columns {
        columns = columns.dataset(name, values);
    }
    columns.table(metadata(summary))
}

fn metadata(summary: &Summary) -> HashMap<String, String> {
    let origin = origin(summary).into_iter();
    origin.map(|(key, value)| (key.to_owned(), value)).collect()
}
