//! Traffic records of nodes during a run, and how they are joined at its end.

mod entries;

use std::collections::BTreeMap;

use crate::account;
use crate::node::Node;
use crate::node::input::UNCOUNTED;
use crate::outcome::{
    CopyRecord, Counters, Delivery, KindCounter, LinkRecord, RecordOptions, Recorded,
    TrafficInterval,
};
use crate::shard::NodeShard;
use crate::world::World;

use entries::{CopyEntry, copies_in};

/// One copy as one end of its connection saw it.
#[derive(Clone, Copy, Debug)]
struct SeenCopy {
    at_ns: u64,
    entry: CopyEntry,
}

/// Traffic of one connection of a node.
#[derive(Debug, Default)]
struct ConnectionRecord {
    sent: Vec<SeenCopy>,
    received: Vec<SeenCopy>,
    frames: u64,
    bytes: u64,
    messages: KindCounter,
    control: KindCounter,
}

/// Traffic of the connections of a node, by index of the connection.
#[derive(Debug)]
pub(crate) struct NodeTraffic {
    options: RecordOptions,
    connections: Vec<ConnectionRecord>,
}

impl NodeTraffic {
    /// An empty record; `None` if no traffic of nodes is to be recorded.
    pub(crate) fn new(options: RecordOptions) -> Option<Box<Self>> {
        options.is_by_connection().then(|| {
            Box::new(Self {
                options,
                connections: Vec::new(),
            })
        })
    }

    fn connection(&mut self, conn: u32) -> &mut ConnectionRecord {
        let conn = conn as usize;
        if self.connections.len() <= conn {
            let all = conn + 1;
            self.connections.resize_with(all, ConnectionRecord::default);
        }
        &mut self.connections[conn]
    }

    /// Records a frame written to a connection, where it takes `bytes` with its overhead.
    pub(crate) fn sends(&mut self, now_ns: u64, conn: u32, frame: &[u8], bytes: u64) {
        let options = self.options;
        let connection = self.connection(conn);
        if options.links {
            let mut counters = Counters::default();
            account::count(&mut counters, frame);
            connection.frames += 1;
            connection.bytes += bytes;
            add(&mut connection.messages, counters.messages);
            for kind in counters.control_kinds() {
                add(&mut connection.control, kind);
            }
        }
        if options.copies {
            let seen = |entry| SeenCopy {
                at_ns: now_ns,
                entry,
            };
            connection.sent.extend(copies_in(frame).map(seen));
        }
    }

    /// Records a frame passed to the relay.
    pub(crate) fn receives(&mut self, now_ns: u64, conn: u32, frame: &[u8]) {
        if self.options.copies {
            let seen = |entry| SeenCopy {
                at_ns: now_ns,
                entry,
            };
            let copies = copies_in(frame).map(seen);
            self.connection(conn).received.extend(copies);
        }
    }
}

/// Traffic of the nodes of one thread by interval.
#[derive(Debug)]
pub(crate) struct TrafficRecord {
    every_ns: u64,
    intervals: BTreeMap<u64, Counters>,
}

impl TrafficRecord {
    /// An empty record; `None` if traffic over time is not to be recorded.
    pub(crate) fn new(options: RecordOptions) -> Option<Box<Self>> {
        let every_ns = options.traffic_every_ns?.max(1);
        Some(Box::new(Self {
            every_ns,
            intervals: BTreeMap::new(),
        }))
    }

    /// Records a frame written to a connection.
    pub(crate) fn sends(&mut self, now_ns: u64, frame: &[u8]) {
        let interval = self.intervals.entry(now_ns / self.every_ns).or_default();
        account::count(interval, frame);
    }
}

/// Joins the records of all nodes; `None` if nothing was to be recorded. `nodes` are in the order of their
/// numbers.
pub(crate) fn collect(
    world: &World,
    shards: &[NodeShard],
    nodes: &[&Node],
    deliveries: &[Delivery],
) -> Option<Box<Recorded>> {
    if world.record == RecordOptions::NONE {
        return None;
    }
    let mut recorded = Recorded {
        links: links(world, nodes),
        traffic: traffic(shards),
        ..Recorded::default()
    };
    if world.record.copies {
        recorded.copies = copies(world, nodes, deliveries);
    }
    Some(Box::new(recorded))
}

fn add(kind: &mut KindCounter, more: KindCounter) {
    kind.count += more.count;
    kind.bytes += more.bytes;
}

fn links(world: &World, nodes: &[&Node]) -> Vec<LinkRecord> {
    let mut links = Vec::new();
    for node in nodes {
        let records = node.record.iter().flat_map(|record| &record.connections);
        for (end, record) in world.ends(node.id).iter().zip(records) {
            if record.frames > 0 {
                links.push(LinkRecord {
                    from: node.id,
                    to: end.remote,
                    frames: record.frames,
                    bytes: record.bytes,
                    messages: record.messages,
                    control: record.control,
                });
            }
        }
    }
    links.sort_by_key(|link| (link.from, link.to));
    links
}

fn traffic(shards: &[NodeShard]) -> Vec<TrafficInterval> {
    let mut sum: BTreeMap<u64, Counters> = BTreeMap::new();
    let records = shards.iter().filter_map(|s| s.scratch.traffic.as_deref());
    for record in records {
        for (number, counters) in &record.intervals {
            let from_ns = number * record.every_ns;
            sum.entry(from_ns).or_default().add_kinds(counters);
        }
    }
    sum.into_iter()
        .map(|(from_ns, sent)| TrafficInterval { from_ns, sent })
        .collect()
}

fn copies(world: &World, nodes: &[&Node], deliveries: &[Delivery]) -> Vec<CopyRecord> {
    let numbers = numbers(nodes);
    let mut copies = Vec::new();
    for node in nodes {
        let Some(record) = &node.record else { continue };
        for (end, sent) in world.ends(node.id).iter().zip(&record.connections) {
            // An adversary has no record, and what it receives is not known.
            let there = nodes.get(end.remote as usize);
            let there = there.and_then(|node| node.record.as_deref());
            let there = there.and_then(|record| record.connections.get(end.remote_conn.0 as usize));
            let mut arrived = there.map_or(&[][..], |record| &record.received);
            for copy in &sent.sent {
                // A connection keeps the order, so a copy missing at the front never arrived.
                let received = arrived.first().filter(|seen| seen.entry == copy.entry);
                if received.is_some() {
                    arrived = &arrived[1..];
                }
                let number = copy.entry.number;
                let known = numbers.get(&copy.entry.stamp).copied();
                let Some(message) = number.filter(|n| *n != UNCOUNTED).or(known) else {
                    continue;
                };
                copies.push(CopyRecord {
                    message: message as u32,
                    fragment: copy.entry.fragment,
                    from: node.id,
                    to: end.remote,
                    hops: None,
                    bytes: copy.entry.bytes,
                    sent_ns: copy.at_ns,
                    received_ns: received.map(|seen| seen.at_ns),
                    is_first: false,
                });
            }
        }
    }
    copies.sort_by_key(|c| (c.message, c.sent_ns, c.from, c.to, c.fragment));
    complete(world, &mut copies, deliveries);
    copies
}

/// Numbers of messages by their timestamp, taken from the messages or fragments that contain the number.
fn numbers(nodes: &[&Node]) -> BTreeMap<i64, u64> {
    let mut numbers = BTreeMap::new();
    for record in nodes.iter().filter_map(|node| node.record.as_deref()) {
        let sent = record.connections.iter().flat_map(|c| &c.sent);
        for entry in sent.map(|copy| copy.entry) {
            if let Some(number) = entry.number.filter(|number| *number != UNCOUNTED) {
                numbers.insert(entry.stamp, number);
            }
        }
    }
    numbers
}

/// Derives hops and first copies from the deliveries.
fn complete(world: &World, copies: &mut [CopyRecord], deliveries: &[Delivery]) {
    let of = |message: u32, receiver: u32| {
        let found = deliveries.binary_search_by_key(&(message, receiver), |delivery| {
            (delivery.message, delivery.receiver)
        });
        found.ok().map(|at| &deliveries[at])
    };
    let mut first: BTreeMap<(u32, u8, u32), (u64, bool, usize)> = BTreeMap::new();
    for (at, copy) in copies.iter_mut().enumerate() {
        let publisher = world.messages[copy.message as usize].publisher;
        copy.hops = match copy.from == publisher {
            true => Some(1),
            false => of(copy.message, copy.from).map(|delivery| delivery.hops.saturating_add(1)),
        };
        if let Some(received_ns) = copy.received_ns
            && copy.to != publisher
        {
            // Of copies received at the same time, the first is the one that was delivered.
            let is_other = of(copy.message, copy.to).is_none_or(|d| d.from != copy.from);
            let candidate = (received_ns, is_other, at);
            let key = (copy.message, copy.fragment, copy.to);
            let known = first.entry(key).or_insert(candidate);
            *known = candidate.min(*known);
        }
    }
    for (.., at) in first.into_values() {
        copies[at].is_first = true;
    }
}
