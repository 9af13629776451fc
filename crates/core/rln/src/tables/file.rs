//! Storage of the tables in a file, so that they need not be computed at each start.
//!
//! ```text
//! 0    magic "UTRLNTB1"
//! 8    SHA-256 of: the proving key's and the row tables' checksums (hex), the tables' shapes
//! 40   SHA-256 of the rest
//! 72   the multiples of the three tables: coordinates as this crate computes with them, that is
//!      times 2^256 modulo the field's order, 32 bytes each, little-endian
//! ```
//!
//! The checksum detects damage, not manipulation: anyone who can write this file can also replace the
//! program. The file is readable and writable for its owner only.

use std::fs::File;
use std::io::{self, Read};
use std::path::Path;

use ark_bn254::{Fq, Fq2, g1, g2};
use ark_ff::{BigInt, PrimeField};
use sha2::{Digest, Sha256};

use super::{LONG_BITS, ProverTables, SHORT_BITS, TableLayout};
use crate::durable;
use crate::key::Key;
use crate::msm::{MultiplesTable, Point, TableShape};

const MAGIC: &[u8; 8] = b"UTRLNTB1";
const BODY: usize = 72;

/// Origin of the tables and state of their file.
#[derive(Debug)]
pub enum TableFileOutcome {
    /// The tables were read from the file.
    Loaded,
    /// There was no file, so the tables were computed and the file was written.
    Created,
    /// The file was unusable, so the tables were computed and the file was replaced.
    Replaced(TableFileDefect),
    /// The tables were computed, but the file could not be read or written.
    Unavailable(io::Error),
}

/// Defect that makes a table file unusable.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum TableFileDefect {
    /// The file's length is not that of the tables.
    #[error("not {expected_bytes} bytes long")]
    Length {
        /// Length that the file should have.
        expected_bytes: usize,
    },
    /// The file has another format or another version of this one.
    #[error("it does not start with \"UTRLNTB1\"")]
    Magic,
    /// The file holds tables of another key or of other sizes.
    #[error("made for another key or by another version")]
    OtherKey,
    /// The checksum does not match, or a coordinate is not below the field's modulus.
    #[error("its checksum does not match")]
    Checksum,
}

impl ProverTables {
    /// Reads the tables from `path`; if that fails, computes them and, unless reading met an I/O
    /// error, writes the file.
    pub(crate) fn open(key: &Key, path: &Path) -> (Self, TableFileOutcome) {
        let layout = TableLayout::of(key);
        let expected_bytes = BODY + body_bytes(layout);
        let outcome = match read(path, expected_bytes) {
            Ok(Some(bytes)) => match decode(&bytes, layout) {
                Ok(tables) => return (tables, TableFileOutcome::Loaded),
                Err(defect) => TableFileOutcome::Replaced(defect),
            },
            Ok(None) => TableFileOutcome::Created,
            Err(error) => return (Self::build(key), TableFileOutcome::Unavailable(error)),
        };
        let tables = Self::build(key);
        match durable::replace(path, &tables.encode()) {
            Ok(()) => (tables, outcome),
            Err(error) => (tables, TableFileOutcome::Unavailable(error)),
        }
    }

    fn encode(&self) -> Vec<u8> {
        let mut bytes = vec![0; BODY];
        for point in self.long.multiples().iter().chain(self.a.multiples()) {
            put(&mut bytes, [point.x, point.y]);
        }
        for point in self.b.multiples() {
            put(&mut bytes, [point.x.c0, point.x.c1, point.y.c0, point.y.c1]);
        }
        let sum = Sha256::digest(&bytes[BODY..]);
        bytes[..8].copy_from_slice(MAGIC);
        bytes[8..40].copy_from_slice(&binding(self.layout));
        bytes[40..BODY].copy_from_slice(&sum);
        bytes
    }
}

/// Reads the file, at most one byte more than expected; `None` when there is no file.
fn read(path: &Path, expected_bytes: usize) -> io::Result<Option<Vec<u8>>> {
    let file = match File::open(path) {
        Ok(file) => file,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
        Err(error) => return Err(error),
    };
    let mut bytes = Vec::with_capacity(expected_bytes + 1);
    file.take(expected_bytes as u64 + 1)
        .read_to_end(&mut bytes)?;
    Ok(Some(bytes))
}

fn decode(bytes: &[u8], layout: TableLayout) -> Result<ProverTables, TableFileDefect> {
    let expected_bytes = BODY + body_bytes(layout);
    if !bytes.starts_with(MAGIC) {
        return Err(TableFileDefect::Magic);
    }
    if bytes.len() != expected_bytes {
        return Err(TableFileDefect::Length { expected_bytes });
    }
    if bytes[8..40] != binding(layout) {
        return Err(TableFileDefect::OtherKey);
    }
    let (head, body) = bytes.split_at(BODY);
    if head[40..] != *Sha256::digest(body) {
        return Err(TableFileDefect::Checksum);
    }
    let [long, a, b] = shapes();
    let (long_bytes, rest) = body.split_at(64 * layout.end * long.windows);
    let (a_bytes, b_bytes) = rest.split_at(64 * layout.wires * a.windows);
    Ok(ProverTables {
        long: MultiplesTable::<g1::Config>::from_multiples(long, g1_points(long_bytes)?),
        a: MultiplesTable::<g1::Config>::from_multiples(a, g1_points(a_bytes)?),
        b: MultiplesTable::<g2::Config>::from_multiples(b, g2_points(b_bytes)?),
        layout,
    })
}

fn shapes() -> [TableShape; 3] {
    [
        TableShape::of::<g1::Config>(LONG_BITS),
        TableShape::of::<g1::Config>(SHORT_BITS),
        TableShape::of::<g2::Config>(SHORT_BITS),
    ]
}

fn body_bytes(layout: TableLayout) -> usize {
    let [long, a, b] = shapes();
    64 * (layout.end * long.windows + layout.wires * a.windows) + 128 * layout.wires * b.windows
}

/// Digest of the keys and shapes for which a file's tables were made.
fn binding(layout: TableLayout) -> [u8; 32] {
    let mut hasher = Sha256::new();
    let TableLayout {
        sha256,
        squares,
        l,
        b,
        end,
        wires,
    } = layout;
    sha256.iter().for_each(|sum| hasher.update(sum));
    for number in [squares, l, b, end, wires] {
        hasher.update((number as u64).to_le_bytes());
    }
    for shape in shapes() {
        hasher.update((shape.bits as u64).to_le_bytes());
    }
    hasher.finalize().into()
}

fn put<const N: usize>(bytes: &mut Vec<u8>, coordinates: [Fq; N]) {
    for limb in coordinates.iter().flat_map(|coordinate| coordinate.0.0) {
        bytes.extend_from_slice(&limb.to_le_bytes());
    }
}

fn g1_points(bytes: &[u8]) -> Result<Vec<Point<Fq>>, TableFileDefect> {
    let points = bytes.as_chunks::<64>().0.iter().map(|bytes| {
        let [x, y] = coordinates(bytes)?;
        Ok(Point { x, y })
    });
    points.collect()
}

fn g2_points(bytes: &[u8]) -> Result<Vec<Point<Fq2>>, TableFileDefect> {
    let points = bytes.as_chunks::<128>().0.iter().map(|bytes| {
        let [x0, x1, y0, y1] = coordinates(bytes)?;
        Ok(Point {
            x: Fq2::new(x0, x1),
            y: Fq2::new(y0, y1),
        })
    });
    points.collect()
}

fn coordinates<const N: usize>(bytes: &[u8]) -> Result<[Fq; N], TableFileDefect> {
    let mut found = [Fq::new_unchecked(BigInt::zero()); N];
    for (coordinate, chunk) in found.iter_mut().zip(bytes.as_chunks::<32>().0) {
        let mut limbs = [0; 4];
        for (limb, chunk) in limbs.iter_mut().zip(chunk.as_chunks::<8>().0) {
            *limb = u64::from_le_bytes(*chunk);
        }
        let number = BigInt::new(limbs);
        // Larger numbers would silently give wrong results.
        if number >= Fq::MODULUS {
            return Err(TableFileDefect::Checksum);
        }
        *coordinate = Fq::new_unchecked(number);
    }
    Ok(found)
}
