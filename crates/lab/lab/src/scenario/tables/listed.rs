//! `traffic.listed`: messages, each with its own time, publisher, size and topic.

use undertone_settings::{Error, S, SectionKey, TomlEntry, TomlValue};
use undertone_sim::scenario::{ListedMessage, Publishers, Spacing, Traffic};

use super::values::{count, list, time};

/// Maximum number of messages in a scenario.
pub(super) const MAX_MESSAGES: u64 = 10_000_000;
/// Longest payload, bytes.
pub(super) const MAX_PAYLOAD_BYTES: u64 = 64 << 20;

/// Latest time of a message, seconds.
const LATEST_S: f64 = 1e6;

/// Reads the list, which is not empty.
pub(super) fn read(listed: SectionKey<'_>, nodes: u32) -> Result<Vec<ListedMessage>, Error> {
    let expected = || {
        format!(
            "a list of at most {MAX_MESSAGES} messages [seconds, node below {nodes}, bytes up to {MAX_PAYLOAD_BYTES}, \
             and a topic from 0 if there are several]"
        )
    };
    let items = listed.entry().and_then(TomlEntry::as_list);
    let items = items.filter(|items| (1..=MAX_MESSAGES).contains(&(items.len() as u64)));
    let items = items.ok_or_else(|| listed.bad(expected()))?;
    let message = |item: &TomlEntry| message(item, nodes);
    items
        .iter()
        .map(|item| message(item).ok_or_else(|| listed.bad_item(item, expected())))
        .collect()
}

fn message(item: &TomlEntry, nodes: u32) -> Option<ListedMessage> {
    let (at_s, rest) = item.as_list()?.split_first()?;
    let at_s = at_s
        .as_number()
        .filter(|at_s| (0.0..=LATEST_S).contains(at_s))?;
    let rest: Option<Vec<u64>> = rest.iter().map(TomlEntry::as_whole).collect();
    let (publisher, bytes, topic) = match *rest?.as_slice() {
        [publisher, bytes] => (publisher, bytes, 0),
        [publisher, bytes, topic] => (publisher, bytes, topic),
        _ => return None,
    };
    let publisher = u32::try_from(publisher).ok().filter(|node| *node < nodes)?;
    let bytes = Some(bytes).filter(|bytes| *bytes <= MAX_PAYLOAD_BYTES)?;
    Some(ListedMessage {
        at_ns: (at_s * S).round() as u64,
        publisher,
        payload_bytes: u32::try_from(bytes).ok()?,
        topic: u32::try_from(topic).ok()?,
    })
}

pub(super) fn write(listed: &[ListedMessage]) -> TomlValue {
    list(listed.iter().map(|message| {
        let at_s = time(message.at_ns, S);
        let rest = [message.publisher, message.payload_bytes, message.topic].map(count);
        list([at_s].into_iter().chain(rest))
    }))
}

/// Summarises the messages as [`Traffic`], for code that needs only their number, sizes and
/// spacing.
pub(super) fn traffic(listed: &[ListedMessage]) -> Traffic {
    let times = || listed.iter().map(|message| message.at_ns);
    let (first_ns, last_ns) = (times().min().unwrap_or(0), times().max().unwrap_or(0));
    let gaps = (listed.len() as u64).saturating_sub(1).max(1);
    Traffic {
        publishers: Publishers::Random,
        messages: listed.len() as u32,
        payload_bytes: listed.iter().map(|message| message.payload_bytes).collect(),
        first_ns,
        spacing: Spacing::Constant((last_ns - first_ns) / gaps),
    }
}
