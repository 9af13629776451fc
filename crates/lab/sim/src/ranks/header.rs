//! The header at the head of every message that ranks exchange at the end of a window.

use undertone_wire::put_varint;

use crate::ranks::reader::{MessageReader, Unreadable};

/// State of one rank at the end of a window.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Header {
    /// Time of the earliest event that the rank has or sends.
    pub(crate) next_ns: u64,
    /// Time at which the run was stopped here; `u64::MAX` if it was not.
    pub(crate) stopped_ns: u64,
    /// Whether a thread of the rank has failed.
    pub(crate) has_failed: bool,
    /// Number of events handled.
    pub(crate) events: u64,
    /// Number of deliveries.
    pub(crate) deliveries: u64,
}

impl Header {
    pub(crate) fn write(&self, out: &mut Vec<u8>) {
        for number in [
            self.next_ns,
            self.stopped_ns,
            self.has_failed.into(),
            self.events,
            self.deliveries,
        ] {
            put_varint(out, number);
        }
    }

    pub(crate) fn read(reader: &mut MessageReader<'_>) -> Result<Self, Unreadable> {
        Ok(Self {
            next_ns: reader.number("time of the next event")?,
            stopped_ns: reader.number("time of the stop")?,
            has_failed: reader.flag("whether the rank failed")?,
            events: reader.number("number of events")?,
            deliveries: reader.number("number of deliveries")?,
        })
    }

    /// Combined state of two ranks.
    pub(crate) fn and(self, other: Self) -> Self {
        Self {
            next_ns: self.next_ns.min(other.next_ns),
            stopped_ns: self.stopped_ns.min(other.stopped_ns),
            has_failed: self.has_failed || other.has_failed,
            events: self.events.saturating_add(other.events),
            deliveries: self.deliveries.saturating_add(other.deliveries),
        }
    }
}
