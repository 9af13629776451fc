//! Epochs: the periods in which a member's messages are counted.

use std::fmt;

const NS_PER_S: u64 = 1_000_000_000;

/// Number of an epoch: Unix seconds divided by the epoch size, rounded down.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Epoch(pub u64);

/// Wall-clock reading with the network's epoch parameters.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct WallClock {
    /// Unix time in nanoseconds.
    pub unix_now_ns: u64,
    /// Length of an epoch in seconds; 0 is read as 1.
    pub epoch_size_s: u64,
    /// Largest accepted lead of a message's timestamp over the clock, nanoseconds.
    pub max_clock_gap_ns: u64,
}

impl WallClock {
    /// Creates a clock fixed in `epoch`, for callers that choose the epoch themselves: tests,
    /// benchmarks and the laboratory.
    pub fn stopped_in(epoch: Epoch) -> Self {
        Self {
            unix_now_ns: epoch.0.saturating_mul(NS_PER_S),
            epoch_size_s: 1,
            max_clock_gap_ns: 0,
        }
    }

    /// Epoch at the clock's present time.
    pub fn epoch(&self) -> Epoch {
        Epoch::at(self.unix_now_ns, self.epoch_size_s)
    }

    /// Newest epoch that a message published now may belong to: a later one if it begins within
    /// `max_clock_gap_ns`, the present one otherwise.
    pub fn newest_epoch(&self) -> Epoch {
        let newest_ns = self.unix_now_ns.saturating_add(self.max_clock_gap_ns);
        Epoch::at(newest_ns, self.epoch_size_s)
    }
}

/// Error for an epoch field of a proof with a non-zero byte after its first eight.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("not an epoch: byte {at} of 32 is {value:#04x}, only the first 8 may be set")]
pub struct MalformedEpoch {
    /// Position of the first offending byte, 8..32.
    pub at: usize,
    /// Value of the first offending byte.
    pub value: u8,
}

impl Epoch {
    /// Returns the epoch at a Unix time. An epoch size of 0 s is read as 1 s.
    pub fn at(unix_time_ns: u64, epoch_size_s: u64) -> Self {
        Self(unix_time_ns / NS_PER_S / epoch_size_s.max(1))
    }

    /// Encodes the wire form: the number as a little-endian u64, padded with zeros to 32 bytes.
    pub fn to_bytes(self) -> [u8; 32] {
        let mut bytes = [0; 32];
        bytes[..8].copy_from_slice(&self.0.to_le_bytes());
        bytes
    }

    /// Decodes the wire form of an epoch.
    ///
    /// # Errors
    /// [`MalformedEpoch`] when one of the 24 padding bytes is not 0: such a field would hash to another
    /// nullifier than the epoch with the same first eight bytes.
    pub fn from_bytes(bytes: &[u8; 32]) -> Result<Self, MalformedEpoch> {
        let (number, padding) = bytes
            .split_first_chunk::<8>()
            .expect("32 bytes have a first 8");
        match padding.iter().position(|byte| *byte != 0) {
            Some(at) => Err(MalformedEpoch {
                at: at + 8,
                value: padding[at],
            }),
            None => Ok(Self(u64::from_le_bytes(*number))),
        }
    }
}

impl fmt::Display for Epoch {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

#[cfg(test)]
#[path = "tests/epoch.rs"]
mod tests;
