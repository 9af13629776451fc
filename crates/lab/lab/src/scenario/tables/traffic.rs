//! `[traffic]`: publishers, messages and their times.

use undertone_settings::{Error, S, SectionKey, TomlEntry, TomlValue, keys};
use undertone_sim::Scenario;
use undertone_sim::scenario::{Publishers, Spacing};

use super::key::Table;
use super::listed::{self, MAX_MESSAGES, MAX_PAYLOAD_BYTES};
use super::values::{count, list};

const PUBLISHERS: &[(&str, Publishers)] = &[
    ("one", Publishers::One(0)),
    ("round-robin", Publishers::RoundRobin(0)),
    ("random", Publishers::Random),
];

const SPACINGS: &[(&str, Spacing)] = &[
    ("constant", Spacing::Constant(0)),
    ("poisson", Spacing::Poisson(0)),
];

pub(super) fn traffic(table: &Table<'_>, scenario: &mut Scenario) -> Result<(), Error> {
    keys!(table => publishers, publisher, publisher_count, messages, payload_bytes, first_s, spacing,
          spacing_s, warm_up_messages, warm_up_spacing_s, drain_s, listed);
    drain_s.time(S, &mut scenario.drain_ns)?;
    let nodes = scenario.nodes;
    if listed.is_set() || !scenario.listed.is_empty() {
        let read = |key| listed::read(key, nodes).map(Some);
        listed.both(&mut scenario.listed, read, |listed| {
            Some(listed::write(listed))
        })?;
        scenario.traffic = listed::traffic(&scenario.listed);
        let most = scenario.listed.len() as u64 - 1;
        warm_up_messages.whole(0, most, &mut scenario.warm_up_messages)?;
        return table
            .check_all_read("traffic.listed has the time, publisher and size of each message");
    }
    let traffic = &mut scenario.traffic;
    messages
        .required(format!("a number of messages, 1 to {MAX_MESSAGES}"))?
        .whole(1, MAX_MESSAGES, &mut traffic.messages)?;
    let most = u64::from(nodes);
    publishers.variant(PUBLISHERS, &mut traffic.publishers)?;
    match &mut traffic.publishers {
        Publishers::One(node) => publisher.whole(0, most - 1, node)?,
        Publishers::RoundRobin(number) => publisher_count
            .required(format!("a number of nodes, 1 to {most}"))?
            .whole(1, most, number)?,
        Publishers::Random => {}
    }
    let most = u64::from(traffic.messages) - 1;
    warm_up_messages.whole(0, most, &mut scenario.warm_up_messages)?;
    if scenario.warm_up_messages > 0 {
        let spacing_ns = &mut scenario.warm_up_spacing_ns;
        warm_up_spacing_s.some(spacing_ns, 0, |key, ns| key.time(S, ns))?;
    }
    payload_bytes.both(
        &mut traffic.payload_bytes,
        |key| sizes(key).map(Some),
        |sizes| Some(written_sizes(sizes)),
    )?;
    first_s
        .required("seconds from the start of the run")?
        .time(S, &mut traffic.first_ns)?;
    spacing.variant(SPACINGS, &mut traffic.spacing)?;
    let (Spacing::Constant(ns) | Spacing::Poisson(ns)) = &mut traffic.spacing;
    match traffic.messages {
        1 => spacing_s.time(S, ns)?,
        _ => spacing_s
            .required("seconds between messages")?
            .time(S, ns)?,
    }
    table.check_all_read("another kind of traffic.publishers, or a warm-up, would use it")
}

fn sizes(payload_bytes: SectionKey<'_>) -> Result<Vec<u32>, Error> {
    let expected = || format!("bytes, 0 to {MAX_PAYLOAD_BYTES}, or a list of sizes taken in turn");
    let Some(entry) = payload_bytes.entry() else {
        return Err(payload_bytes.bad(expected()));
    };
    let size = |item: &TomlEntry| {
        let bytes = item.as_whole().filter(|bytes| *bytes <= MAX_PAYLOAD_BYTES);
        bytes
            .and_then(|bytes| u32::try_from(bytes).ok())
            .ok_or_else(|| payload_bytes.bad_item(item, expected()))
    };
    match entry.as_list() {
        Some(items) if !items.is_empty() => items.iter().map(size).collect(),
        _ => Ok(vec![size(entry)?]),
    }
}

fn written_sizes(sizes: &[u32]) -> TomlValue {
    match sizes {
        [bytes] => count(*bytes),
        several => list(several.iter().map(|bytes| count(*bytes))),
    }
}
