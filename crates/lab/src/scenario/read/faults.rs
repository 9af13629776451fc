//! TreeReader of `[[faults]]`: the kinds and times of faults.

use undertone_settings::{Error, MS, S, Section, SectionKey, keys};
use undertone_sim::scenario::{Fault, FaultKind};

#[derive(Clone, Copy)]
enum FaultName {
    Crash,
    Leave,
    Join,
    Partition,
    Slow,
    Lossy,
    ClockSkew,
    Spam,
    Silent,
}

const NAMES: &[(&str, FaultName)] = &[
    ("crash", FaultName::Crash),
    ("leave", FaultName::Leave),
    ("join", FaultName::Join),
    ("partition", FaultName::Partition),
    ("slow", FaultName::Slow),
    ("lossy", FaultName::Lossy),
    ("clock-skew", FaultName::ClockSkew),
    ("spam", FaultName::Spam),
    ("silent", FaultName::Silent),
];

pub(super) fn read(faults: SectionKey<'_>, nodes: u32) -> Result<Vec<Fault>, Error> {
    let sections = faults.array_of_tables()?;
    let faults = sections.iter().map(|section| fault(section, nodes));
    faults.collect()
}

fn fault(section: &Section<'_>, most: u32) -> Result<Fault, Error> {
    keys!(section => kind, at_s, nodes, noticed_after_s, for_s, factor, loss, ahead_ms, interval_ms);
    let kind = kind.required_word(NAMES)?;
    let time = |key: SectionKey<'_>, unit_ns, what: &str| {
        let time = key.time(unit_ns)?;
        time.ok_or_else(|| key.bad(what))
    };
    let share = |key: SectionKey<'_>| {
        let share = key.number(0.0, 1.0)?;
        share.ok_or_else(|| key.bad("a number from 0 to 1"))
    };
    let fault = Fault {
        at_ns: time(at_s, S, "seconds from the start of the run")?,
        nodes: nodes
            .whole(1, u64::from(most))?
            .ok_or_else(|| nodes.bad(format!("a number of nodes, 1 to {most}")))?,
        kind: match kind {
            FaultName::Crash => FaultKind::Crash {
                noticed_after_ns: time(noticed_after_s, S, "seconds until peers notice")?,
            },
            FaultName::Leave => FaultKind::Leave,
            FaultName::Join => FaultKind::Join,
            FaultName::Partition => FaultKind::Partition {
                for_ns: time(for_s, S, "seconds that it lasts")?,
            },
            FaultName::Slow => FaultKind::Slow {
                factor: share(factor)?,
            },
            FaultName::Lossy => FaultKind::Lossy { loss: share(loss)? },
            FaultName::ClockSkew => FaultKind::ClockSkew {
                by_ns: skew_ns(ahead_ms)?,
            },
            FaultName::Spam => FaultKind::Spam {
                interval_ns: time(interval_ms, MS, "milliseconds between messages")?,
            },
            FaultName::Silent => FaultKind::Silent,
        },
    };
    section.check_all_read("another kind of fault would use it")?;
    Ok(fault)
}

fn skew_ns(ahead_ms: SectionKey<'_>) -> Result<i64, Error> {
    const MAX_MS: f64 = 1e9;
    let ms = ahead_ms.number(-MAX_MS, MAX_MS)?;
    let expected = "milliseconds that the clock is ahead, negative when behind";
    let ms = ms.ok_or_else(|| ahead_ms.bad(expected))?;
    Ok((ms * MS).round() as i64)
}
