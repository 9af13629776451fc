//! TCP segments of this process's network namespace, as counted by Linux.

use std::fmt;
use std::fs;

#[cfg(test)]
#[path = "tests/segments.rs"]
mod tests;

/// File with the counters (RFC 1213, as Linux writes them).
const COUNTERS: &str = "/proc/self/net/snmp";

/// Numbers of TCP segments.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct SegmentCount {
    /// Segments sent for the first time, with and without data.
    pub sent: u64,
    /// Retransmitted segments, whose acknowledgement did not arrive.
    pub again: u64,
}

impl SegmentCount {
    /// Returns the counts since the namespace was created; zero if the system does not count.
    #[must_use]
    pub fn now() -> Self {
        let text = fs::read_to_string(COUNTERS).unwrap_or_default();
        Self::parse(&text).unwrap_or_default()
    }

    /// Returns the difference to an earlier count.
    #[must_use]
    pub fn since(self, earlier: Self) -> Self {
        Self {
            sent: self.sent.saturating_sub(earlier.sent),
            again: self.again.saturating_sub(earlier.again),
        }
    }

    /// Parses a line of names and a line of values.
    fn parse(text: &str) -> Option<Self> {
        let mut lines = text.lines().filter_map(|line| line.strip_prefix("Tcp:"));
        let names = lines.next()?.split_whitespace();
        let values: Vec<_> = names.zip(lines.next()?.split_whitespace()).collect();
        let value = |wanted: &str| {
            let found = values.iter().find(|(name, _)| *name == wanted)?;
            found.1.parse().ok()
        };
        Some(Self {
            sent: value("OutSegs")?,
            again: value("RetransSegs")?,
        })
    }
}

impl fmt::Display for SegmentCount {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "{} TCP segments sent, {} sent again",
            self.sent, self.again
        )
    }
}
