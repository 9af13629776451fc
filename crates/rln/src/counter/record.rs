//! The counter file: 32 bytes, replaced as a whole.
//!
//! ```text
//! 0   magic "UTRLNCT1"
//! 8   epoch, u64 little-endian
//! 16  ids below this may have been given out in the epoch, u32 little-endian
//! 20  the first 12 bytes of the SHA-256 of bytes 0..20
//! ```

use sha2::{Digest, Sha256};

use crate::epoch::Epoch;

/// Length of the file.
pub(super) const BYTES: usize = 32;

const MAGIC: &[u8; 8] = b"UTRLNCT1";
const CHECKED: usize = 20;

/// What the disk knows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Record {
    pub(super) epoch: Epoch,
    /// Ids below this may have been given out in `epoch`.
    pub(super) reserved: u32,
}

/// What is wrong with a counter file.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Damage {
    /// Shorter or longer than a counter file.
    #[error("not {BYTES} bytes long")]
    Length,
    /// Something else, or written by another version.
    #[error("it does not start with \"UTRLNCT1\"")]
    Magic,
    /// Bits have changed.
    #[error("its checksum does not fit")]
    Checksum,
}

impl Record {
    /// Before the first id.
    pub(super) const FRESH: Self = Self {
        epoch: Epoch(0),
        reserved: 0,
    };

    pub(super) fn encode(self) -> [u8; BYTES] {
        let mut bytes = [0; BYTES];
        bytes[..8].copy_from_slice(MAGIC);
        bytes[8..16].copy_from_slice(&self.epoch.0.to_le_bytes());
        bytes[16..CHECKED].copy_from_slice(&self.reserved.to_le_bytes());
        let sum = checksum(&bytes);
        bytes[CHECKED..].copy_from_slice(&sum);
        bytes
    }

    pub(super) fn decode(bytes: &[u8]) -> Result<Self, Damage> {
        let bytes: &[u8; BYTES] = bytes.try_into().map_err(|_| Damage::Length)?;
        if !bytes.starts_with(MAGIC) {
            return Err(Damage::Magic);
        }
        if bytes[CHECKED..] != checksum(bytes) {
            return Err(Damage::Checksum);
        }
        let mut epoch = [0; 8];
        epoch.copy_from_slice(&bytes[8..16]);
        let mut reserved = [0; 4];
        reserved.copy_from_slice(&bytes[16..CHECKED]);
        Ok(Self {
            epoch: Epoch(u64::from_le_bytes(epoch)),
            reserved: u32::from_le_bytes(reserved),
        })
    }
}

fn checksum(bytes: &[u8; BYTES]) -> [u8; BYTES - CHECKED] {
    let mut sum = [0; BYTES - CHECKED];
    sum.copy_from_slice(&Sha256::digest(&bytes[..CHECKED])[..BYTES - CHECKED]);
    sum
}
