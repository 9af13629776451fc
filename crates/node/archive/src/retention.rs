//! Retention: how much of the past an archive keeps.

use std::fmt;
use std::str::FromStr;

use thiserror::Error;

use undertone_services::history::StoredMessage;

use crate::slot::SlotRange;

mod clock;
#[cfg(test)]
#[path = "tests/retention.rs"]
mod tests;

pub use clock::RetentionClock;

/// The newest slot is closed when it holds more than one of this many shares of a limit.
const SHARES: u64 = 16;

/// Number of slots that a retention time is divided into.
const SLOTS_OF_AGE: u64 = 24;

/// Maximum number of slots that a retention time of many months is divided into.
const SLOTS_OF_AGE_MAX: u64 = 512;

const MINUTE_S: u64 = 60;
const DAY_S: u64 = 24 * 3600;

/// Width of slots without any limit; 1024 of them span 19 years.
const UNLIMITED_S: u64 = 7 * DAY_S;

/// Limits of an archive. Whichever is reached first removes old messages. The default has no limit.
///
/// As text, parts are joined by `;`, each at most once: `time:2592000` or `time:30d` (units `s`, `m`, `h`, `d`, `w`),
/// `capacity:1000000` (messages), `size:30GB` (units `B`, `KB`, `MB`, `GB`, `TB` of 1000 each, and `KiB`, `MiB`, `GiB`,
/// `TiB` of 1024 each); or `none`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct RetentionPolicy {
    /// Age from which messages may be removed, seconds. Whole time slots are removed. A slot spans a 24th of this age,
    /// at least a minute and at most a day (more for an age of many months).
    pub max_age_s: Option<u64>,
    /// Maximum number of messages in the archive.
    pub max_messages: Option<u64>,
    /// Maximum bytes on disk, including indexes. May briefly be exceeded by a sixteenth, and by what a single slot
    /// needs.
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
    /// `none` is combined with a limit.
    #[error("retention `none` cannot be joined with a limit")]
    NoneWithLimit,
    /// A part has no number, or one that is zero or too large.
    #[error("retention `{part}`: expected a whole number above zero that fits in 63 bits")]
    Number {
        /// Part of the policy.
        part: String,
    },
    /// A kind of limit occurs twice.
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

/// Units and their factors.
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

/// Outcome of one run of the retention.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct MaintainReport {
    /// Number of time slots that were dropped.
    pub dropped_slots: u64,
    /// Number of messages in these slots.
    pub dropped_messages: u64,
    /// End of the latest of these slots, Unix nanoseconds; `None` if none was dropped.
    pub dropped_until_ns: Option<i64>,
    /// Whether the archive is still above a limit, because its newest slot alone is.
    pub above_limit: bool,
}

impl MaintainReport {
    /// Logs what was dropped from the archive at a place, if anything.
    pub(crate) fn log(&self, place: &str, retention: &RetentionPolicy) {
        let Some(until_ns) = self.dropped_until_ns else {
            return;
        };
        tracing::info!(
            archive = place,
            messages = self.dropped_messages,
            slots = self.dropped_slots,
            until_unix_s = until_ns / 1_000_000_000,
            %retention,
            "messages beyond the retention were dropped"
        );
    }
}

/// Use of a slot, as input for the retention.
#[derive(Clone, Copy, Debug)]
pub(crate) struct SlotUse {
    pub(crate) range: SlotRange,
    pub(crate) messages: u64,
    pub(crate) bytes: u64,
    pub(crate) newest_ns: Option<i64>,
}

/// Changes that the retention requires.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct RetentionPlan {
    /// Number of slots to drop, from the oldest.
    pub(crate) drop: usize,
    /// Timestamp at which the newest slot is to end, so that later messages go into a new one.
    pub(crate) close_newest_at_ns: Option<i64>,
    /// Whether the remaining slots are above a limit.
    pub(crate) above_limit: bool,
}

impl RetentionPolicy {
    /// Decides which of the slots, ordered by time, have to be dropped at a time; without a time, only by number and
    /// size.
    ///
    /// The newest slot is dropped only for its age: a limit on number or size never empties an archive.
    pub(crate) fn plan(&self, now_ns: Option<i64>, slots: &[SlotUse]) -> RetentionPlan {
        let horizon_ns = self.max_age_s.zip(now_ns).map(|(age_s, now_ns)| {
            let age_ns = i64::try_from(age_s.saturating_mul(1_000_000_000)).unwrap_or(i64::MAX);
            now_ns.saturating_sub(age_ns)
        });
        let mut drop = horizon_ns.map_or(0, |horizon_ns| {
            slots.partition_point(|slot| slot.range.last_ns < horizon_ns)
        });
        let is_above = |slots: &[SlotUse], shares| {
            let messages = slots.iter().map(|slot| slot.messages).sum();
            let bytes = slots.iter().map(|slot| slot.bytes).sum();
            self.is_above(messages, bytes, shares)
        };
        while slots.len() - drop > 1 && is_above(&slots[drop..], 1) {
            drop += 1;
        }
        let newest = slots[drop..].last();
        let full = newest.filter(|slot| is_above(&[**slot], SHARES));
        // The slot ends at its newest message. Later messages go into another slot, which stays when this one is
        // dropped.
        let close_newest_at_ns = full.and_then(|slot| {
            let range = slot.range.first_ns..slot.range.last_ns;
            slot.newest_ns.filter(|newest_ns| range.contains(newest_ns))
        });
        RetentionPlan {
            drop,
            close_newest_at_ns,
            above_limit: is_above(&slots[drop..], 1),
        }
    }

    /// Whether these amounts exceed a share of the limits on number or size.
    fn is_above(&self, messages: u64, bytes: u64, shares: u64) -> bool {
        self.max_messages.is_some_and(|max| messages > max / shares)
            || self.max_bytes.is_some_and(|max| bytes > max / shares)
    }

    /// Divides messages into pieces. A piece exceeds a share of the limits only if it is a single message.
    pub(crate) fn pieces(
        self,
        messages: &[StoredMessage],
    ) -> impl Iterator<Item = &[StoredMessage]> {
        let mut added = Added::default();
        messages.chunk_by(move |one, next| {
            if added.messages == 0 {
                added.add(std::slice::from_ref(one));
            }
            added.add(std::slice::from_ref(next));
            let fits = !self.is_above(added.messages, added.bytes, SHARES);
            if !fits {
                added = Added::default();
            }
            fits
        })
    }
}

/// Messages and bytes added to an archive since its limits were last checked.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Added {
    messages: u64,
    bytes: u64,
}

impl Added {
    /// Adds written messages.
    pub(crate) fn add(&mut self, messages: &[StoredMessage]) {
        self.messages += messages.len() as u64;
        self.bytes += messages.iter().map(|one| size(one) as u64).sum::<u64>();
    }

    /// Whether the limits have to be checked, because of the additions or because the archive has `messages` in total.
    pub(crate) fn is_due(&self, policy: &RetentionPolicy, messages: u64) -> bool {
        policy.is_above(self.messages, self.bytes, SHARES) || policy.is_above(messages, 0, 1)
    }
}

/// Returns the width of new slots under a policy, nanoseconds. It is a 24th of the retention time between a minute and
/// a day (more for a time of many months), and a week without a retention time. Limits on number and size need no
/// narrower slots, because retention closes a slot early once it holds a share of the limit.
pub(crate) fn width_ns(policy: &RetentionPolicy) -> i64 {
    let width_s = match policy.max_age_s {
        Some(age_s) => (age_s / SLOTS_OF_AGE)
            .clamp(MINUTE_S, DAY_S)
            .max(age_s / SLOTS_OF_AGE_MAX),
        None => UNLIMITED_S,
    };
    i64::try_from(width_s.saturating_mul(1_000_000_000)).unwrap_or(i64::MAX)
}

/// Returns the bytes of a message, without small fields.
pub(crate) fn size(message: &StoredMessage) -> usize {
    let proof = message.message.rate_limit_proof.as_ref();
    message.message.payload.len()
        + message.message.content_topic.len()
        + message.pubsub_topic.len()
        + proof.map_or(0, bytes::Bytes::len)
}
