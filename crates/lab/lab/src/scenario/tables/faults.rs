//! `[[faults]]`: the kinds and times of faults.

use undertone_settings::{Error, MS, S, keys};
use undertone_sim::scenario::{Fault, FaultKind};

use super::key::{Key, Table};

const KINDS: &[(&str, FaultKind)] = &[
    (
        "crash",
        FaultKind::Crash {
            noticed_after_ns: 0,
        },
    ),
    ("leave", FaultKind::Leave),
    ("join", FaultKind::Join),
    ("partition", FaultKind::Partition { for_ns: 0 }),
    ("slow", FaultKind::Slow { factor: 0.0 }),
    ("lossy", FaultKind::Lossy { loss: 0.0 }),
    ("clock-skew", FaultKind::ClockSkew { by_ns: 0 }),
    ("spam", FaultKind::Spam { interval_ns: 0 }),
    ("silent", FaultKind::Silent),
];

pub(super) fn faults(key: Key<'_>, faults: &mut Vec<Fault>, nodes: u32) -> Result<(), Error> {
    let initial = Fault {
        at_ns: 0,
        nodes: 0,
        kind: FaultKind::Silent,
    };
    key.each(faults, &initial, |table, one| fault(table, one, nodes))
}

fn fault(table: &Table<'_>, fault: &mut Fault, most: u32) -> Result<(), Error> {
    keys!(table => kind, at_s, nodes, noticed_after_s, for_s, factor, loss, ahead_ms, interval_ms);
    kind.required_word(KINDS)?.variant(KINDS, &mut fault.kind)?;
    let at_s = at_s.required("seconds from the start of the run")?;
    at_s.time(S, &mut fault.at_ns)?;
    let nodes = nodes.required(format!("a number of nodes, 1 to {most}"))?;
    nodes.whole(1, u64::from(most), &mut fault.nodes)?;
    let share = |key: Key<'_>, share: &mut f64| {
        let key = key.required("a number from 0 to 1")?;
        key.number(0.0, 1.0, share)
    };
    match &mut fault.kind {
        FaultKind::Crash { noticed_after_ns } => noticed_after_s
            .required("seconds until peers notice")?
            .time(S, noticed_after_ns)?,
        FaultKind::Partition { for_ns } => {
            for_s.required("seconds that it lasts")?.time(S, for_ns)?;
        }
        FaultKind::Slow { factor: value } => share(factor, value)?,
        FaultKind::Lossy { loss: value } => share(loss, value)?,
        FaultKind::ClockSkew { by_ns } => skew(ahead_ms, by_ns)?,
        FaultKind::Spam { interval_ns } => interval_ms
            .required("milliseconds between messages")?
            .time(MS, interval_ns)?,
        FaultKind::Leave | FaultKind::Join | FaultKind::Silent => {}
    }
    table.check_all_read("another kind of fault would use it")
}

fn skew(ahead_ms: Key<'_>, by_ns: &mut i64) -> Result<(), Error> {
    let expected = "milliseconds that the clock is ahead, negative when behind";
    ahead(ahead_ms.required(expected)?, by_ns)
}

/// Reads or writes the time by which a clock is ahead, in milliseconds.
pub(super) fn ahead(ahead_ms: Key<'_>, by_ns: &mut i64) -> Result<(), Error> {
    const MAX_MS: f64 = 1e9;
    let mut ms = *by_ns as f64 / MS;
    ahead_ms.number(-MAX_MS, MAX_MS, &mut ms)?;
    *by_ns = (ms * MS).round() as i64;
    Ok(())
}
