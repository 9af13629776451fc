//! Reader of `[[faults]]`: the kinds and times of faults.

use undertone_sim::scenario::{Fault, FaultKind};

use super::super::ScenarioError;
use super::super::section::{MS, S, Section};
use super::super::tree::Value;

const KEYS: &[&str] = &[
    "kind",
    "at_s",
    "nodes",
    "noticed_after_s",
    "for_s",
    "factor",
    "loss",
    "ahead_ms",
    "interval_ms",
];

#[derive(Clone, Copy)]
enum Kind {
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

const KINDS: &[(&str, Kind)] = &[
    ("crash", Kind::Crash),
    ("leave", Kind::Leave),
    ("join", Kind::Join),
    ("partition", Kind::Partition),
    ("slow", Kind::Slow),
    ("lossy", Kind::Lossy),
    ("clock-skew", Kind::ClockSkew),
    ("spam", Kind::Spam),
    ("silent", Kind::Silent),
];

pub(super) fn read(root: &Section<'_>, nodes: u32) -> Result<Vec<Fault>, ScenarioError> {
    match root.get("faults").map(|entry| &entry.value) {
        None => Ok(Vec::new()),
        Some(Value::List(faults)) => faults
            .iter()
            .enumerate()
            .map(|(index, entry)| {
                fault(
                    &Section::new(entry, format!("faults.{index}"), KEYS)?,
                    nodes,
                )
            })
            .collect(),
        Some(_) => Err(root.bad("faults", "tables [[faults]]")),
    }
}

fn fault(section: &Section<'_>, nodes: u32) -> Result<Fault, ScenarioError> {
    let kind = section.word("kind", KINDS)?.ok_or_else(|| {
        let kinds: Vec<_> = KINDS.iter().map(|(kind, _)| *kind).collect();
        section.bad("kind", format!("one of {}", kinds.join(", ")))
    })?;
    let time = |key, unit_ns, what: &str| {
        section
            .time(key, unit_ns)?
            .ok_or_else(|| section.bad(key, what))
    };
    let share = |key| {
        let expected = "a number from 0 to 1";
        section
            .number(key, 0.0, 1.0)?
            .ok_or_else(|| section.bad(key, expected))
    };
    let fault = Fault {
        at_ns: time("at_s", S, "seconds from the start of the run")?,
        nodes: section
            .whole("nodes", 1, u64::from(nodes))?
            .ok_or_else(|| section.bad("nodes", format!("a number of nodes, 1 to {nodes}")))?,
        kind: match kind {
            Kind::Crash => FaultKind::Crash {
                noticed_after_ns: time("noticed_after_s", S, "seconds until peers notice")?,
            },
            Kind::Leave => FaultKind::Leave,
            Kind::Join => FaultKind::Join,
            Kind::Partition => FaultKind::Partition {
                for_ns: time("for_s", S, "seconds that it lasts")?,
            },
            Kind::Slow => FaultKind::Slow {
                factor: share("factor")?,
            },
            Kind::Lossy => FaultKind::Lossy {
                loss: share("loss")?,
            },
            Kind::ClockSkew => FaultKind::ClockSkew {
                by_ns: skew_ns(section)?,
            },
            Kind::Spam => FaultKind::Spam {
                interval_ns: time("interval_ms", MS, "milliseconds between messages")?,
            },
            Kind::Silent => FaultKind::Silent,
        },
    };
    section.check_all_read("another kind of fault would use it")?;
    Ok(fault)
}

fn skew_ns(section: &Section<'_>) -> Result<i64, ScenarioError> {
    const MAX_MS: f64 = 1e9;
    let ms = section.number("ahead_ms", -MAX_MS, MAX_MS)?;
    let expected = "milliseconds that the clock is ahead, negative when behind";
    let ms = ms.ok_or_else(|| section.bad("ahead_ms", expected))?;
    Ok((ms * MS).round() as i64)
}
