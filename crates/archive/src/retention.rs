//! Retention: how much of the past an archive keeps.

use std::fmt;
use std::str::FromStr;

use thiserror::Error;

use crate::slot::SlotRange;

#[cfg(test)]
mod tests;

/// Shares of a limit, of which the newest slot may hold one before it is closed.
const SHARES: u64 = 16;

/// Slots that a retention time is divided into.
const SLOTS_OF_AGE: u64 = 24;

/// Most slots that a retention time of many months is divided into.
const SLOTS_OF_AGE_MAX: u64 = 512;

const HOUR_S: u64 = 3600;
const DAY_S: u64 = 24 * HOUR_S;

/// Width of slots without any limit, so that 1024 slots are 19 years.
const UNLIMITED_S: u64 = 7 * DAY_S;

/// Limits of an archive; whichever is reached first makes it forget. The default has no limit.
///
/// Written as parts joined by `;`, each at most once: `time:2592000` or `time:30d` (units `s`, `m`, `h`, `d`,
/// `w`), `capacity:1000000` (messages), `size:30GB` (units `B`, `KB`, `MB`, `GB`, `TB` of 1000 each, and `KiB`,
/// `MiB`, `GiB`, `TiB` of 1024 each); or `none`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct RetentionPolicy {
    /// Age from which messages may go, seconds. They go by whole slots of time.
    pub max_age_s: Option<u64>,
    /// Most messages that the archive keeps.
    pub max_messages: Option<u64>,
    /// Most bytes on disk, with indexes.
    pub max_bytes: Option<u64>,
}

/// Reason why a text is not a retention policy.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum RetentionError {
    /// A part has no known kind.
    #[error("retention `{part}`: expected `time:…`, `capacity:…`, `size:…` or `none`")]
    Kind {
        /// Part of the policy.
        part: String,
    },
    /// `none` is joined with a limit.
    #[error("retention `none` cannot be joined with a limit")]
    NoneWithLimit,
    /// A part has no number, or one that is zero or too large.
    #[error("retention `{part}`: expected a whole number above zero that fits in 63 bits")]
    Number {
        /// Part of the policy.
        part: String,
    },
    /// A kind of limit is given twice.
    #[error("retention `{part}`: this kind of limit is given twice")]
    Twice {
        /// Part of the policy.
        part: String,
    },
    /// A number has an unknown unit.
    #[error("retention `{part}`: unit `{unit}` is not one of {known}")]
    Unit {
        /// Part of the policy.
        part: String,
        /// Unit that is not known.
        unit: String,
        /// Units of this kind of limit.
        known: &'static str,
    },
}

/// Units with their factors.
type Units = &'static [(&'static str, u64)];

const TIMES: Units = &[
    ("", 1),
    ("s", 1),
    ("m", 60),
    ("h", 3600),
    ("d", 86_400),
    ("w", 604_800),
];

const COUNTS: Units = &[("", 1)];

const SIZES: Units = &[
    ("b", 1),
    ("kb", 1000),
    ("mb", 1_000_000),
    ("gb", 1_000_000_000),
    ("tb", 1_000_000_000_000),
    ("kib", 1 << 10),
    ("mib", 1 << 20),
    ("gib", 1 << 30),
    ("tib", 1 << 40),
];

impl FromStr for RetentionPolicy {
    type Err = RetentionError;

    fn from_str(text: &str) -> Result<Self, RetentionError> {
        if text.trim() == "none" {
            return Ok(Self::default());
        }
        let mut policy = Self::default();
        for part in text.split(';').map(str::trim) {
            let (limit, value) = match part.split_once(':') {
                Some(("time", value)) => {
                    let known = "s, m, h, d, w";
                    (&mut policy.max_age_s, number(part, value, TIMES, known)?)
                }
                Some(("capacity", value)) => {
                    let known = "none (messages)";
                    (
                        &mut policy.max_messages,
                        number(part, value, COUNTS, known)?,
                    )
                }
                Some(("size", value)) => {
                    let known = "B, KB, MB, GB, TB, KiB, MiB, GiB, TiB";
                    (&mut policy.max_bytes, number(part, value, SIZES, known)?)
                }
                _ if part == "none" => return Err(RetentionError::NoneWithLimit),
                _ => return Err(RetentionError::Kind { part: part.into() }),
            };
            if limit.replace(value).is_some() {
                return Err(RetentionError::Twice { part: part.into() });
            }
        }
        Ok(policy)
    }
}

/// Reads a number with a unit.
fn number(
    part: &str,
    value: &str,
    units: Units,
    known: &'static str,
) -> Result<u64, RetentionError> {
    let value = value.trim();
    let end = value
        .find(|c: char| !c.is_ascii_digit())
        .unwrap_or(value.len());
    let (digits, unit) = value.split_at(end);
    let wrong = || RetentionError::Number { part: part.into() };
    let count: u64 = digits.parse().map_err(|_| wrong())?;
    let unit = unit.trim();
    let Some((_, factor)) = units
        .iter()
        .find(|(name, _)| name.eq_ignore_ascii_case(unit))
    else {
        return Err(RetentionError::Unit {
            part: part.into(),
            unit: unit.into(),
            known,
        });
    };
    count
        .checked_mul(*factor)
        .filter(|value| *value > 0 && i64::try_from(*value).is_ok())
        .ok_or_else(wrong)
}

impl fmt::Display for RetentionPolicy {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let parts = [
            self.max_age_s.map(|s| format!("time:{s}")),
            self.max_messages.map(|n| format!("capacity:{n}")),
            self.max_bytes.map(|n| format!("size:{n}B")),
        ];
        let parts: Vec<String> = parts.into_iter().flatten().collect();
        if parts.is_empty() {
            return f.write_str("none");
        }
        f.write_str(&parts.join(";"))
    }
}

/// Outcome of a run of the retention.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct MaintainReport {
    /// Slots of time that were dropped.
    pub dropped_slots: u64,
    /// Messages that went with them.
    pub dropped_messages: u64,
    /// Whether the archive is above a limit still, because its newest slot alone is.
    pub above_limit: bool,
}

/// Use of a slot, as the retention weighs it.
#[derive(Clone, Copy, Debug)]
pub(crate) struct SlotUse {
    pub(crate) range: SlotRange,
    pub(crate) messages: u64,
    pub(crate) bytes: u64,
    pub(crate) newest_ns: Option<i64>,
}

/// Changes that the retention asks for.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct RetentionPlan {
    /// Number of slots to drop, from the oldest.
    pub(crate) drop: usize,
    /// Timestamp with which the newest slot is to end, so that later messages get a new one.
    pub(crate) close_newest_at_ns: Option<i64>,
    /// Whether the rest is above a limit.
    pub(crate) above_limit: bool,
}

impl RetentionPolicy {
    /// Decides which of the slots, ordered by time, have to go at a time.
    ///
    /// The newest slot is dropped only for its age: a limit of number or size never empties an archive.
    pub(crate) fn plan(&self, now_ns: i64, slots: &[SlotUse]) -> RetentionPlan {
        let horizon_ns = self.max_age_s.map(|age_s| {
            let age_ns = i64::try_from(age_s.saturating_mul(1_000_000_000)).unwrap_or(i64::MAX);
            now_ns.saturating_sub(age_ns)
        });
        let mut drop = horizon_ns.map_or(0, |horizon_ns| {
            slots.partition_point(|slot| slot.range.last_ns < horizon_ns)
        });
        while slots.len() - drop > 1 && self.is_above(&slots[drop..], 1) {
            drop += 1;
        }
        let newest = slots[drop..].last();
        let full = newest.is_some_and(|slot| self.is_above(&[*slot], SHARES));
        let close_newest_at_ns = newest.filter(|_| full).and_then(|slot| {
            let at_ns = slot.newest_ns.map_or(now_ns, |newest| newest.max(now_ns));
            (slot.range.first_ns..slot.range.last_ns)
                .contains(&at_ns)
                .then_some(at_ns)
        });
        RetentionPlan {
            drop,
            close_newest_at_ns,
            above_limit: self.is_above(&slots[drop..], 1),
        }
    }

    /// Whether slots together are above a share of the limits of number or size.
    fn is_above(&self, slots: &[SlotUse], shares: u64) -> bool {
        let messages: u64 = slots.iter().map(|slot| slot.messages).sum();
        let bytes: u64 = slots.iter().map(|slot| slot.bytes).sum();
        self.max_messages.is_some_and(|max| messages > max / shares)
            || self.max_bytes.is_some_and(|max| bytes > max / shares)
    }
}

/// Returns the width of new slots under a policy, nanoseconds: a 24th of the retention time between an hour and
/// a day (more for a time of many months), and a week without a time. Limits of number and size need no narrower
/// slots, because retention closes a slot early once it has a share of the limit.
pub(crate) fn width_ns(policy: &RetentionPolicy) -> i64 {
    let width_s = match policy.max_age_s {
        Some(age_s) => (age_s / SLOTS_OF_AGE)
            .clamp(HOUR_S, DAY_S)
            .max(age_s / SLOTS_OF_AGE_MAX),
        None => UNLIMITED_S,
    };
    i64::try_from(width_s.saturating_mul(1_000_000_000)).unwrap_or(i64::MAX)
}
