//! Storage of the tree in a file, so that a start need not read and hash the registry's whole log.
//!
//! ```text
//! 0    magic "UTRLNTRE"
//! 8    version of this format, u32 little-endian, as are all numbers: 2
//! 12   depth of the tree, u32
//! 16   nodes kept of the lowest level, u32; of the level above half as many, rounded up, and so on
//! 20   accepted roots, u32
//! 24   the registry's version that the tree belongs to, u64
//! 32   the registry that the tree belongs to, 16 bytes
//! 48   the nodes, the lowest level first; then the roots, the oldest first: 32 bytes each
//! end  SHA-256 of everything before
//! ```
//!
//! All inner nodes are kept, 64 bytes per leaf, so that loading computes no node. The checksum detects
//! damage, not manipulation: anyone who can write the file can also replace the registry.
//!
//! Version 1 did not name the registry; it is refused like any other version.

use std::fs::File;
use std::io::{self, Read};
use std::path::{Path, PathBuf};

use sha2::{Digest, Sha256};

use super::{CAPACITY, DEPTH, MerkleTree};
use crate::durable;
use crate::field::{Fr, fr_from_le, fr_to_le};
use crate::roots::RootWindow;

const MAGIC: &[u8; 8] = b"UTRLNTRE";
const FORMAT: u32 = 2;
const HEADER_BYTES: usize = 48;
const CHECKSUM_BYTES: usize = 32;

/// Maximum number of roots in a snapshot; more than any network accepts.
const MAX_ROOTS: u32 = 1 << 16;

/// Content of a snapshot file.
#[derive(Clone, Debug)]
pub struct TreeSnapshot {
    /// Identifier of the registry that the tree belongs to.
    pub registry: [u8; 16],
    /// Version of the registry that the tree belongs to.
    pub version: u64,
    /// Membership tree with all nodes.
    pub tree: MerkleTree,
    /// Accepted roots, the oldest first.
    pub roots: Vec<Fr>,
}

/// Error of reading or writing a snapshot.
///
/// With [`SnapshotError::Damaged`] the tree must be rebuilt from the registry; the file can stay, as the
/// next snapshot replaces it.
#[derive(Debug, thiserror::Error)]
pub enum SnapshotError {
    /// The operating system refused a file operation.
    #[error("{path}: {source}; check that the folder exists and that its files can be written")]
    Io {
        /// Path of the file.
        path: PathBuf,
        /// Error of the operating system.
        source: io::Error,
    },
    /// The content of the file is damaged or of another format.
    #[error("{path}: {what}; the tree has to be rebuilt from the registry")]
    Damaged {
        /// Path of the file.
        path: PathBuf,
        /// Defect that was found.
        what: SnapshotDamage,
    },
}

/// Defect of a snapshot file.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum SnapshotDamage {
    /// The file is not a snapshot.
    #[error("it does not start with \"UTRLNTRE\"")]
    Magic,
    /// The file has another format version.
    #[error("its format is version {found}, {FORMAT} is expected")]
    Format {
        /// Format version in the file.
        found: u32,
    },
    /// The tree's depth is not that of the circuit.
    #[error("its tree has depth {found}, {DEPTH} is expected")]
    Depth {
        /// Depth of the tree in the file.
        found: u32,
    },
    /// The header names more leaves than the tree has, or more roots than any network accepts.
    #[error("its header promises {leaves} leaves and {roots} roots")]
    TooMany {
        /// Number of leaves in the header.
        leaves: u32,
        /// Number of accepted roots in the header.
        roots: u32,
    },
    /// The file was cut short, or bytes were appended.
    #[error("it is {found_bytes} bytes long, {expected_bytes} are expected")]
    Length {
        /// Length of the file.
        found_bytes: u64,
        /// Length by the header; that of the smallest snapshot if the header is incomplete.
        expected_bytes: u64,
    },
    /// The checksum does not match the content.
    #[error("its checksum does not match")]
    Checksum,
    /// A node is not a canonical field element, though the checksum matches: the file was not written
    /// by this program.
    #[error("node {at} is not a canonical field element")]
    NonCanonical {
        /// Position among the nodes and the roots.
        at: usize,
    },
}

/// Replaces the snapshot at `path`, readable by the owner only. A crash leaves the old or the new file.
///
/// # Errors
/// [`SnapshotError::Io`] when the operating system refuses.
pub fn save(
    path: &Path,
    registry: [u8; 16],
    version: u64,
    tree: &MerkleTree,
    roots: &RootWindow,
) -> Result<(), SnapshotError> {
    let bytes = encode(registry, version, tree, roots);
    durable::replace(path, &bytes).map_err(|source| SnapshotError::Io {
        path: path.to_owned(),
        source,
    })
}

/// Reads the snapshot at `path`; `None` when there is no file.
///
/// # Errors
/// [`SnapshotError::Io`] when the file cannot be read, [`SnapshotError::Damaged`] when the content
/// cannot be used.
pub fn load(path: &Path) -> Result<Option<TreeSnapshot>, SnapshotError> {
    let io = |source| SnapshotError::Io {
        path: path.to_owned(),
        source,
    };
    let mut file = match File::open(path) {
        Ok(file) => file,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
        Err(error) => return Err(io(error)),
    };
    // The header's sizes are used only if the file's length agrees with them.
    let mut bytes = Vec::new();
    let found_bytes = file.metadata().map_err(io)?.len();
    let mut header = file.by_ref().take(HEADER_BYTES as u64);
    header.read_to_end(&mut bytes).map_err(io)?;
    let damaged = |what| SnapshotError::Damaged {
        path: path.to_owned(),
        what,
    };
    let header = Header::decode(&bytes, found_bytes).map_err(damaged)?;
    file.take(header.file_bytes())
        .read_to_end(&mut bytes)
        .map_err(io)?;
    decode(&header, &bytes).map(Some).map_err(damaged)
}

/// Header of the file, without magic, format and depth.
struct Header {
    leaves: u32,
    roots: u32,
    version: u64,
    registry: [u8; 16],
}

impl Header {
    /// Decodes the header and checks its numbers against the limits and the file's length.
    fn decode(bytes: &[u8], found_bytes: u64) -> Result<Self, SnapshotDamage> {
        let Some((header, _)) = bytes.split_first_chunk::<HEADER_BYTES>() else {
            let empty = Self {
                leaves: 0,
                roots: 0,
                version: 0,
                registry: [0; 16],
            };
            return Err(SnapshotDamage::Length {
                found_bytes,
                expected_bytes: empty.file_bytes(),
            });
        };
        if &header[..8] != MAGIC {
            return Err(SnapshotDamage::Magic);
        }
        let number = |at: usize| {
            let [a, b, c, d] = [header[at], header[at + 1], header[at + 2], header[at + 3]];
            u32::from_le_bytes([a, b, c, d])
        };
        match (number(8), number(12)) {
            (FORMAT, depth) if depth == DEPTH as u32 => {}
            (FORMAT, found) => return Err(SnapshotDamage::Depth { found }),
            (found, _) => return Err(SnapshotDamage::Format { found }),
        }
        let (leaves, roots) = (number(16), number(20));
        if leaves > CAPACITY || roots > MAX_ROOTS {
            return Err(SnapshotDamage::TooMany { leaves, roots });
        }
        let header = Self {
            leaves,
            roots,
            version: u64::from(number(24)) | u64::from(number(28)) << 32,
            registry: header[32..]
                .try_into()
                .expect("the header ends with 16 bytes of registry"),
        };
        let expected_bytes = header.file_bytes();
        if found_bytes != expected_bytes {
            return Err(SnapshotDamage::Length {
                found_bytes,
                expected_bytes,
            });
        }
        Ok(header)
    }

    fn encode(&self) -> [u8; HEADER_BYTES] {
        let mut bytes = [0; HEADER_BYTES];
        bytes[..8].copy_from_slice(MAGIC);
        let numbers = [FORMAT, DEPTH as u32, self.leaves, self.roots];
        for (chunk, number) in bytes[8..24].as_chunks_mut::<4>().0.iter_mut().zip(numbers) {
            *chunk = number.to_le_bytes();
        }
        bytes[24..32].copy_from_slice(&self.version.to_le_bytes());
        bytes[32..].copy_from_slice(&self.registry);
        bytes
    }

    /// Number of nodes kept of a level.
    fn nodes(&self, level: usize) -> usize {
        (self.leaves as usize).div_ceil(1 << level)
    }

    fn file_bytes(&self) -> u64 {
        let nodes: usize = (0..=DEPTH).map(|level| self.nodes(level)).sum();
        let elements = nodes as u64 + u64::from(self.roots);
        elements * 32 + (HEADER_BYTES + CHECKSUM_BYTES) as u64
    }
}

fn encode(registry: [u8; 16], version: u64, tree: &MerkleTree, roots: &RootWindow) -> Vec<u8> {
    let kept = roots.len().saturating_sub(MAX_ROOTS as usize);
    let roots: Vec<Fr> = roots.iter().skip(kept).copied().collect();
    let header = Header {
        leaves: tree.levels[0].len() as u32,
        roots: roots.len() as u32,
        version,
        registry,
    };
    let mut bytes = Vec::with_capacity(header.file_bytes() as usize);
    bytes.extend_from_slice(&header.encode());
    for node in tree.levels.iter().flatten().chain(&roots) {
        bytes.extend_from_slice(&fr_to_le(node));
    }
    let checksum = Sha256::digest(&bytes);
    bytes.extend_from_slice(&checksum);
    bytes
}

/// Decodes the content of a file, whose length must agree with its header.
fn decode(header: &Header, bytes: &[u8]) -> Result<TreeSnapshot, SnapshotDamage> {
    let (content, checksum) = bytes
        .split_last_chunk::<CHECKSUM_BYTES>()
        .filter(|_| bytes.len() as u64 == header.file_bytes())
        .ok_or(SnapshotDamage::Length {
            found_bytes: bytes.len() as u64,
            expected_bytes: header.file_bytes(),
        })?;
    if Sha256::digest(content)[..] != checksum[..] {
        return Err(SnapshotDamage::Checksum);
    }
    let mut elements = content[HEADER_BYTES..]
        .as_chunks::<32>()
        .0
        .iter()
        .enumerate();
    let mut take = |n: usize| {
        let elements = elements.by_ref().take(n);
        elements
            .map(|(at, bytes)| fr_from_le(bytes).map_err(|_| SnapshotDamage::NonCanonical { at }))
            .collect::<Result<Vec<Fr>, _>>()
    };
    let mut tree = MerkleTree::new();
    for (level, nodes) in tree.levels.iter_mut().enumerate() {
        *nodes = take(header.nodes(level))?;
    }
    Ok(TreeSnapshot {
        registry: header.registry,
        version: header.version,
        tree,
        roots: take(header.roots as usize)?,
    })
}

#[cfg(test)]
#[path = "tests/snapshot.rs"]
mod tests;
