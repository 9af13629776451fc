//! Reader of `[traffic]`: publishers, messages and their times.

use undertone_sim::scenario::{Publishers, Spacing, Traffic};

use super::super::ScenarioError;
use super::super::section::{S, Section};
use super::super::tree::{Entry, Value};
use super::ReadTraffic;

const KEYS: &[&str] = &[
    "publishers",
    "publisher",
    "publisher_count",
    "messages",
    "payload_bytes",
    "first_s",
    "spacing",
    "spacing_s",
    "warm_up_messages",
    "drain_s",
];

const MAX_MESSAGES: u64 = 10_000_000;
const MAX_PAYLOAD_BYTES: u32 = 64 << 20;

#[derive(Clone, Copy)]
enum Who {
    One,
    RoundRobin,
    Random,
}

pub(super) fn read(root: &Section<'_>, nodes: u32) -> Result<ReadTraffic, ScenarioError> {
    let section = root.below("traffic", KEYS)?;
    let count = format!("a number of messages, 1 to {MAX_MESSAGES}");
    let messages: u32 = section
        .whole("messages", 1, MAX_MESSAGES)?
        .ok_or_else(|| section.bad("messages", count))?;
    let read = ReadTraffic {
        traffic: Traffic {
            publishers: publishers(&section, nodes)?,
            messages,
            payload_bytes: sizes(&section)?,
            first_ns: section
                .time("first_s", S)?
                .ok_or_else(|| section.bad("first_s", "seconds from the start of the run"))?,
            spacing: spacing(&section, messages)?,
        },
        drain_ns: section.time("drain_s", S)?.unwrap_or(10_000_000_000),
        warm_up_messages: section
            .whole("warm_up_messages", 0, u64::from(messages) - 1)?
            .unwrap_or(0),
    };
    section.check_all_read("another kind of traffic.publishers would use it")?;
    Ok(read)
}

fn publishers(section: &Section<'_>, nodes: u32) -> Result<Publishers, ScenarioError> {
    let words = [
        ("one", Who::One),
        ("round-robin", Who::RoundRobin),
        ("random", Who::Random),
    ];
    let most = u64::from(nodes);
    Ok(
        match section.word("publishers", &words)?.unwrap_or(Who::One) {
            Who::One => Publishers::One(section.whole("publisher", 0, most - 1)?.unwrap_or(0)),
            Who::RoundRobin => {
                let expected = format!("a number of nodes, 1 to {most}");
                let count = section.whole("publisher_count", 1, most)?;
                Publishers::RoundRobin(
                    count.ok_or_else(|| section.bad("publisher_count", expected))?,
                )
            }
            Who::Random => Publishers::Random,
        },
    )
}

fn spacing(section: &Section<'_>, messages: u32) -> Result<Spacing, ScenarioError> {
    let is_poisson = section
        .word("spacing", &[("constant", false), ("poisson", true)])?
        .unwrap_or(false);
    let interval_ns = match section.time("spacing_s", S)? {
        Some(interval_ns) => interval_ns,
        None if messages == 1 => 0,
        None => return Err(section.bad("spacing_s", "seconds between messages")),
    };
    Ok(if is_poisson {
        Spacing::Poisson(interval_ns)
    } else {
        Spacing::Constant(interval_ns)
    })
}

fn sizes(section: &Section<'_>) -> Result<Vec<u32>, ScenarioError> {
    let expected = || format!("bytes, 0 to {MAX_PAYLOAD_BYTES}, or a list of sizes taken in turn");
    let Some(entry) = section.get("payload_bytes") else {
        return Err(section.bad("payload_bytes", expected()));
    };
    let bad = |entry| section.bad_entry("payload_bytes", entry, expected());
    match &entry.value {
        Value::List(items) if !items.is_empty() => items
            .iter()
            .map(|item| size(item).ok_or_else(|| bad(item)))
            .collect(),
        _ => Ok(vec![size(entry).ok_or_else(|| bad(entry))?]),
    }
}

fn size(entry: &Entry) -> Option<u32> {
    match entry.value {
        Value::Integer(bytes) => u32::try_from(bytes)
            .ok()
            .filter(|bytes| *bytes <= MAX_PAYLOAD_BYTES),
        _ => None,
    }
}
