//! Optional datasets of a run: copies, links, nodes and traffic over time, as files and as tables in memory.

mod columns;
mod file;

#[cfg(test)]
#[path = "tests/datasets.rs"]
mod tests;

use undertone_sim::Outcome;
use undertone_sim::outcome::{Counters, KindCounter, RecordOptions};

pub(crate) use columns::{ColumnValues, DatasetTable};
pub use file::write_datasets;

/// Default length of the intervals of traffic over time, milliseconds.
pub const TRAFFIC_EVERY_MS: u32 = 1000;

/// Datasets to produce besides the deliveries; none by default.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct DatasetChoice {
    /// Every copy of a message, with its sender and its receiver.
    pub copies: bool,
    /// Traffic of each direction of each connection.
    pub links: bool,
    /// Connections, copies and bytes of each node.
    pub nodes: bool,
    /// Traffic of all nodes over time by kind, in intervals of this many milliseconds.
    pub traffic_every_ms: Option<u32>,
}

/// Names of the datasets and of their files, and what one row of each stands for.
pub const DATASETS: [(&str, &str); 4] = [
    ("copies", "every copy sent, with its receiver"),
    ("links", "every direction of a connection"),
    ("nodes", "every node"),
    ("traffic", "every interval and kind of traffic"),
];

impl DatasetChoice {
    /// Adds a dataset by its name; `false` if there is none of that name.
    pub fn add(&mut self, name: &str) -> bool {
        match name {
            "copies" => self.copies = true,
            "links" => self.links = true,
            "nodes" => self.nodes = true,
            "traffic" => {
                self.traffic_every_ms.get_or_insert(TRAFFIC_EVERY_MS);
            }
            _ => return false,
        }
        true
    }

    /// What the simulator must record for the datasets.
    pub fn record(&self) -> RecordOptions {
        let mut options = RecordOptions::NONE;
        options.copies = self.copies;
        options.links = self.links;
        let every_ns = self.traffic_every_ms.map(|ms| u64::from(ms) * 1_000_000);
        options.traffic_every_ns = every_ns;
        options
    }

    /// The tables that were asked for.
    pub(crate) fn tables(&self, outcome: &Outcome) -> Vec<DatasetTable> {
        let mut tables = Vec::new();
        if self.copies {
            tables.push(copies(outcome));
        }
        if self.links {
            tables.push(links(outcome));
        }
        if self.nodes {
            tables.push(nodes(outcome));
        }
        if self.traffic_every_ms.is_some() {
            tables.push(traffic(outcome));
        }
        tables
    }
}

type Kind = (&'static str, fn(&Counters) -> KindCounter);

/// Kinds of control entries, by the start of their columns' names.
const CONTROL: [Kind; 6] = [
    ("subscriptions", |node| node.subscriptions),
    ("graft", |node| node.graft),
    ("prune", |node| node.prune),
    ("ihave", |node| node.ihave),
    ("iwant", |node| node.iwant),
    ("idontwant", |node| node.idontwant),
];

/// One row per copy; no rows if they were not recorded.
pub(crate) fn copies(outcome: &Outcome) -> DatasetTable {
    let recorded = outcome.recorded.as_deref();
    let rows = recorded.map_or(&[][..], |recorded| &recorded.copies);
    let size = |message: u32| outcome.messages[message as usize].payload_bytes;
    let warm_up = |message: u32| outcome.messages[message as usize].warm_up;
    DatasetTable::new("copies")
        .int32("message", rows.iter().map(|copy| copy.message))
        .int32("fragment", rows.iter().map(|copy| copy.fragment.into()))
        .int32("from", rows.iter().map(|copy| copy.from))
        .int32("to", rows.iter().map(|copy| copy.to))
        .maybe_int32("hops", rows.iter().map(|copy| copy.hops.map(u32::from)))
        .boolean("is_first", rows.iter().map(|copy| copy.is_first))
        .int32("size_bytes", rows.iter().map(|copy| size(copy.message)))
        .int32("copy_bytes", rows.iter().map(|copy| copy.bytes))
        .boolean("warm_up", rows.iter().map(|copy| warm_up(copy.message)))
        .int64("sent_ns", rows.iter().map(|copy| copy.sent_ns))
        .maybe_int64("received_ns", rows.iter().map(|copy| copy.received_ns))
}

/// One row per direction of a connection; no rows if they were not recorded.
pub(crate) fn links(outcome: &Outcome) -> DatasetTable {
    let recorded = outcome.recorded.as_deref();
    let rows = recorded.map_or(&[][..], |recorded| &recorded.links);
    DatasetTable::new("links")
        .int32("from", rows.iter().map(|link| link.from))
        .int32("to", rows.iter().map(|link| link.to))
        .int64("frames", rows.iter().map(|link| link.frames))
        .int64("bytes", rows.iter().map(|link| link.bytes))
        .int64("messages", rows.iter().map(|link| link.messages.count))
        .int64("message_bytes", rows.iter().map(|link| link.messages.bytes))
        .int64("control", rows.iter().map(|link| link.control.count))
        .int64("control_bytes", rows.iter().map(|link| link.control.bytes))
}

/// One row per node: connections, copies and bytes from start to end.
pub(crate) fn nodes(outcome: &Outcome) -> DatasetTable {
    let rows = || outcome.nodes.iter();
    let connections = |node: usize| outcome.connections.get(node).copied().unwrap_or(0);
    let mut table = DatasetTable::new("nodes")
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
        let bytes = format!("{name}_sent_bytes");
        table = table
            .int64(format!("{name}_sent"), rows().map(|node| kind(node).count))
            .int64(bytes, rows().map(|node| kind(node).bytes));
    }
    table
}

/// One row per interval and kind with any traffic; no rows if traffic over time was not recorded.
pub(crate) fn traffic(outcome: &Outcome) -> DatasetTable {
    let recorded = outcome.recorded.as_deref();
    let intervals = recorded.map_or(&[][..], |recorded| &recorded.traffic);
    let messages: Kind = ("messages", |sent| sent.messages);
    let mut rows = Vec::new();
    for interval in intervals {
        for (name, kind) in [messages].into_iter().chain(CONTROL) {
            let sent = kind(&interval.sent);
            if sent.count > 0 {
                rows.push((interval.from_ns, name, sent));
            }
        }
    }
    DatasetTable::new("traffic")
        .int64("from_ns", rows.iter().map(|(from_ns, ..)| *from_ns))
        .text("kind", rows.iter().map(|(_, name, _)| *name))
        .int64("sent", rows.iter().map(|(.., sent)| sent.count))
        .int64("sent_bytes", rows.iter().map(|(.., sent)| sent.bytes))
}
