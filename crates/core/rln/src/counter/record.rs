//! Format of the counter file: 100 bytes, replaced as a whole.
//!
//! ```text
//! 0   magic "UTRLNCT2"
//! 8   epoch, u64 little-endian (as are all that follow)
//! 16  ids below this may have been given out in the epoch, u32
//! 20  number of ranges of closed epochs, u32, at most 4
//! 24  their first and last epochs, u64 each, ascending; the rest is 0
//! 88  the first 12 bytes of the SHA-256 of bytes 0..88
//! ```
//!
//! Files of the first version are read too: 32 bytes, the magic "UTRLNCT1", epoch and ids as above, the
//! checksum at 20. They do not record epochs before their own, so all of those count as closed.

use sha2::{Digest, Sha256};

use super::closed::{ClosedEpochs, RANGES_MAX};
use crate::epoch::Epoch;

/// Length of the file, bytes.
pub(super) const BYTES: usize = CHECKED + SUM_BYTES;
const FIRST_BYTES: usize = FIRST_CHECKED + SUM_BYTES;

const MAGIC: &[u8; 8] = b"UTRLNCT2";
const FIRST_MAGIC: &[u8; 8] = b"UTRLNCT1";
const CHECKED: usize = 24 + RANGES_MAX * 16;
const FIRST_CHECKED: usize = 20;
const SUM_BYTES: usize = 12;

/// Content of the counter file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct CounterRecord {
    pub(super) epoch: Epoch,
    /// Bound on the ids of `epoch`: those below may have been issued.
    pub(super) reserved: u32,
    /// Other epochs in which ids may have been issued.
    pub(super) closed: ClosedEpochs,
}

/// Defect of a counter file.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum CounterDamage {
    /// The file's length is not that of a counter file of either version.
    #[error("neither {BYTES} nor {FIRST_BYTES} bytes long")]
    Length,
    /// The file does not begin with the magic of its version.
    #[error("it does not start with the magic of its version")]
    Magic,
    /// The checksum does not match the content.
    #[error("its checksum does not match")]
    Checksum,
    /// The ranges of closed epochs overlap or are too many.
    #[error("its closed epochs are out of order")]
    Ranges,
}

/// A record and whether the first version wrote it.
pub(super) struct DecodedRecord {
    pub(super) record: CounterRecord,
    /// Whether the first version wrote the file. It does not record the epochs used before `epoch`.
    pub(super) is_first_version: bool,
}

impl CounterRecord {
    /// Returns the record of a new counter, before the first id.
    pub(super) fn fresh() -> Self {
        Self {
            epoch: Epoch(0),
            reserved: 0,
            closed: ClosedEpochs::default(),
        }
    }

    pub(super) fn encode(&self) -> [u8; BYTES] {
        let mut bytes = [0; BYTES];
        bytes[..8].copy_from_slice(MAGIC);
        bytes[8..16].copy_from_slice(&self.epoch.0.to_le_bytes());
        bytes[16..20].copy_from_slice(&self.reserved.to_le_bytes());
        let ranges = self.closed.ranges();
        bytes[20] = u8::try_from(ranges.len()).expect("there are 4 ranges at most");
        for (range, place) in ranges.iter().zip(bytes[24..CHECKED].chunks_exact_mut(16)) {
            place[..8].copy_from_slice(&range.0.to_le_bytes());
            place[8..].copy_from_slice(&range.1.to_le_bytes());
        }
        let sum = checksum(&bytes[..CHECKED]);
        bytes[CHECKED..].copy_from_slice(&sum);
        bytes
    }

    pub(super) fn decode(bytes: &[u8]) -> Result<DecodedRecord, CounterDamage> {
        let is_first_version = bytes.len() == FIRST_BYTES;
        let (magic, checked) = match bytes.len() {
            BYTES => (MAGIC, CHECKED),
            FIRST_BYTES => (FIRST_MAGIC, FIRST_CHECKED),
            _ => return Err(CounterDamage::Length),
        };
        if !bytes.starts_with(magic) {
            return Err(CounterDamage::Magic);
        }
        let (content, sum) = bytes.split_at(checked);
        if sum != checksum(content) {
            return Err(CounterDamage::Checksum);
        }
        let (epoch, reserved) = (u64_at(content, 8), u32_at(content, 16));
        let ranges = match is_first_version {
            true => epoch
                .checked_sub(1)
                .map(|last| (0, last))
                .into_iter()
                .collect(),
            false => {
                let count = u32_at(content, 20) as usize;
                let places = content[24..].chunks_exact(16).take(count);
                let ranges: Vec<_> = places
                    .map(|place| (u64_at(place, 0), u64_at(place, 8)))
                    .collect();
                if ranges.len() != count {
                    return Err(CounterDamage::Ranges);
                }
                ranges
            }
        };
        let record = Self {
            epoch: Epoch(epoch),
            reserved,
            closed: ClosedEpochs::from_ranges(&ranges).ok_or(CounterDamage::Ranges)?,
        };
        Ok(DecodedRecord {
            record,
            is_first_version,
        })
    }
}

fn u64_at(bytes: &[u8], at: usize) -> u64 {
    let mut number = [0; 8];
    number.copy_from_slice(&bytes[at..at + 8]);
    u64::from_le_bytes(number)
}

fn u32_at(bytes: &[u8], at: usize) -> u32 {
    let mut number = [0; 4];
    number.copy_from_slice(&bytes[at..at + 4]);
    u32::from_le_bytes(number)
}

fn checksum(content: &[u8]) -> [u8; SUM_BYTES] {
    let mut sum = [0; SUM_BYTES];
    sum.copy_from_slice(&Sha256::digest(content)[..SUM_BYTES]);
    sum
}
