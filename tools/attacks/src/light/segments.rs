//! TCP segments of the network namespace of this process, as Linux counts them.

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
    /// Segments that were sent for the first time, with and without data.
    pub sent: u64,
    /// Segments that were sent again, because their acknowledgement did not come.
    pub again: u64,
}

impl SegmentCount {
    /// Returns the numbers since the namespace was made; zero where the system does not count.
    #[must_use]
    pub fn now() -> Self {
        let text = fs::read_to_string(COUNTERS).unwrap_or_default();
        Self::parse(&text).unwrap_or_default()
    }

    /// Returns what has been added since an earlier count.
    #[must_use]
    pub fn since(self, earlier: Self) -> Self {
        Self {
            sent: self.sent.saturating_sub(earlier.sent),
            again: self.again.saturating_sub(earlier.again),
        }
    }

    /// Reads a line of names and a line of values.
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
