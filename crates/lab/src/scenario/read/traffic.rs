//! TreeReader of `[traffic]`: publishers, messages and their times.

use undertone_settings::{Error, S, SectionKey, TomlEntry, keys};
use undertone_sim::scenario::{ListedMessage, Publishers, Spacing, Traffic};

use super::listed::{self, MAX_MESSAGES, MAX_PAYLOAD_BYTES};

/// Time from the last message to the end, nanoseconds, unless it is given.
const DRAIN_NS: u64 = 10_000_000_000;

/// Content of `[traffic]`, with the values that the scenario stores separately.
pub(super) struct ReadTraffic {
    pub(super) traffic: Traffic,
    pub(super) listed: Vec<ListedMessage>,
    pub(super) drain_ns: u64,
    pub(super) warm_up_messages: u32,
    pub(super) warm_up_spacing_ns: Option<u64>,
}

#[derive(Clone, Copy)]
enum PublishersName {
    One,
    RoundRobin,
    Random,
}

const PUBLISHERS: &[(&str, PublishersName)] = &[
    ("one", PublishersName::One),
    ("round-robin", PublishersName::RoundRobin),
    ("random", PublishersName::Random),
];

pub(super) fn read(traffic: SectionKey<'_>, nodes: u32) -> Result<ReadTraffic, Error> {
    let section = traffic.table()?;
    keys!(section => publishers, publisher, publisher_count, messages, payload_bytes, first_s, spacing,
          spacing_s, warm_up_messages, warm_up_spacing_s, drain_s, listed);
    if listed.is_set() {
        let listed = listed::read(listed, nodes)?;
        let count = listed.len() as u64;
        let read = ReadTraffic {
            traffic: listed::traffic(&listed),
            listed,
            drain_ns: drain_s.time(S)?.unwrap_or(DRAIN_NS),
            warm_up_messages: warm_up_messages.whole(0, count - 1)?.unwrap_or(0),
            warm_up_spacing_ns: None,
        };
        section
            .check_all_read("traffic.listed has the time, publisher and size of each message")?;
        return Ok(read);
    }
    let count = format!("a number of messages, 1 to {MAX_MESSAGES}");
    let messages: u32 = messages
        .whole(1, MAX_MESSAGES)?
        .ok_or_else(|| messages.bad(count))?;
    let most = u64::from(nodes);
    let publishers = match publishers.word(PUBLISHERS)?.unwrap_or(PublishersName::One) {
        PublishersName::One => Publishers::One(publisher.whole(0, most - 1)?.unwrap_or(0)),
        PublishersName::RoundRobin => {
            let expected = format!("a number of nodes, 1 to {most}");
            let count = publisher_count.whole(1, most)?;
            Publishers::RoundRobin(count.ok_or_else(|| publisher_count.bad(expected))?)
        }
        PublishersName::Random => Publishers::Random,
    };
    let warm_up_messages: u32 = warm_up_messages
        .whole(0, u64::from(messages) - 1)?
        .unwrap_or(0);
    let warm_up_spacing_ns = match warm_up_messages {
        0 => None,
        _ => warm_up_spacing_s.time(S)?,
    };
    let read = ReadTraffic {
        traffic: Traffic {
            publishers,
            messages,
            payload_bytes: sizes(payload_bytes)?,
            first_ns: first_s
                .time(S)?
                .ok_or_else(|| first_s.bad("seconds from the start of the run"))?,
            spacing: read_spacing(spacing, spacing_s, messages)?,
        },
        listed: Vec::new(),
        drain_ns: drain_s.time(S)?.unwrap_or(DRAIN_NS),
        warm_up_messages,
        warm_up_spacing_ns,
    };
    section.check_all_read("another kind of traffic.publishers, or a warm-up, would use it")?;
    Ok(read)
}

fn read_spacing(
    spacing: SectionKey<'_>,
    spacing_s: SectionKey<'_>,
    messages: u32,
) -> Result<Spacing, Error> {
    let is_poisson = spacing.word(&[("constant", false), ("poisson", true)])?;
    let interval_ns = match spacing_s.time(S)? {
        Some(interval_ns) => interval_ns,
        None if messages == 1 => 0,
        None => return Err(spacing_s.bad("seconds between messages")),
    };
    Ok(if is_poisson.unwrap_or(false) {
        Spacing::Poisson(interval_ns)
    } else {
        Spacing::Constant(interval_ns)
    })
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
