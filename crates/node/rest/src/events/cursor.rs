//! Position of a client in the event stream, as text that the client stores.

use std::fmt;
use std::str::FromStr;

/// Position in the events of one run of the node: everything up to event `number` has been seen.
///
/// Text form: `INSTANCE-NUMBER-TIME`, the instance in 16 hexadecimal digits, the others decimal.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Cursor {
    /// Random number that identifies the run of the node.
    pub(super) instance: u64,
    /// Number of the last event seen; 0 for none.
    pub(super) number: u64,
    /// Time up to which everything was seen, by the node's clock, Unix milliseconds.
    pub(super) time_ms: i64,
}

/// Error: the text is not a cursor.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct NoCursor;

impl fmt::Display for Cursor {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self {
            instance,
            number,
            time_ms,
        } = self;
        write!(f, "{instance:016x}-{number}-{time_ms}")
    }
}

impl FromStr for Cursor {
    type Err = NoCursor;

    fn from_str(text: &str) -> Result<Self, NoCursor> {
        let mut parts = text.splitn(3, '-');
        let mut part = || parts.next().ok_or(NoCursor);
        let (instance, number, time_ms) = (part()?, part()?, part()?);
        let is_plain = |text: &str| text.bytes().all(|byte| byte.is_ascii_hexdigit());
        if instance.len() != 16 || ![instance, number, time_ms].into_iter().all(is_plain) {
            return Err(NoCursor);
        }
        Ok(Self {
            instance: u64::from_str_radix(instance, 16).map_err(|_| NoCursor)?,
            number: number.parse().map_err(|_| NoCursor)?,
            time_ms: time_ms.parse().map_err(|_| NoCursor)?,
        })
    }
}
