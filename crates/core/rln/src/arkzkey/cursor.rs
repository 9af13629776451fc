//! A reading position in an arkworks encoding, with bounds checks.

use ark_bn254::{Fq, Fq2, G1Affine, G2Affine};
use ark_ff::{BigInt, PrimeField};

use super::{Defect, MalformedArtefact, Matrix};
use crate::field::Fr;

/// Bytes of an uncompressed point of G1.
pub(super) const G1_BYTES: usize = 64;
/// Bytes of an uncompressed point of G2.
pub(super) const G2_BYTES: usize = 128;
/// Bytes of a matrix entry: a field element and a u64.
const ENTRY_BYTES: usize = 40;

/// Flag in a point's last byte that marks the point at infinity.
const INFINITY: u8 = 0x40;
/// Both flag bits of a point's last byte. The other one gives the sign of y, which is not needed
/// here because uncompressed points contain y in full.
const FLAGS: u8 = 0xc0;

pub(super) struct ByteCursor<'a> {
    bytes: &'a [u8],
    at: usize,
}

impl<'a> ByteCursor<'a> {
    pub(super) fn new(bytes: &'a [u8], at: usize) -> Self {
        Self { bytes, at }
    }

    pub(super) fn at(&self) -> usize {
        self.at
    }

    pub(super) fn end(&self) -> Result<(), MalformedArtefact> {
        match self.at == self.bytes.len() {
            true => Ok(()),
            false => Err(self.malformed(Defect::Trailing)),
        }
    }

    pub(super) fn u64(&mut self) -> Result<u64, MalformedArtefact> {
        Ok(u64::from_le_bytes(*self.take::<8>()?))
    }

    pub(super) fn g1(&mut self) -> Result<G1Affine, MalformedArtefact> {
        let x = *self.take::<32>()?;
        let (y, infinity) = flagged(*self.take::<32>()?);
        match infinity {
            true => Ok(G1Affine::identity()),
            false => Ok(G1Affine::new_unchecked(self.fq(&x)?, self.fq(&y)?)),
        }
    }

    pub(super) fn g2(&mut self) -> Result<G2Affine, MalformedArtefact> {
        let [x0, x1, y0] = [*self.take()?, *self.take()?, *self.take()?];
        let (y1, infinity) = flagged(*self.take::<32>()?);
        match infinity {
            true => Ok(G2Affine::identity()),
            false => Ok(G2Affine::new_unchecked(
                Fq2::new(self.fq(&x0)?, self.fq(&x1)?),
                Fq2::new(self.fq(&y0)?, self.fq(&y1)?),
            )),
        }
    }

    /// Reads a count, then that many items of `item_bytes` bytes each.
    pub(super) fn list<T>(
        &mut self,
        item_bytes: usize,
        item: impl Fn(&mut Self) -> Result<T, MalformedArtefact>,
    ) -> Result<Vec<T>, MalformedArtefact> {
        let count = self.count(item_bytes)?;
        (0..count).map(|_| item(self)).collect()
    }

    /// Skips a list and returns the bytes of its items.
    pub(super) fn skip_list(&mut self, item_bytes: usize) -> Result<&'a [u8], MalformedArtefact> {
        let bytes = self.count(item_bytes)? * item_bytes;
        let (items, _) = self.bytes[self.at..].split_at(bytes);
        self.at += bytes;
        Ok(items)
    }

    pub(super) fn matrix(&mut self, rows: u64, columns: u64) -> Result<Matrix, MalformedArtefact> {
        let at_byte = self.at;
        let count = self.count(8)?;
        if count as u64 != rows && count != 0 {
            return Err(MalformedArtefact {
                at_byte,
                what: Defect::Shape,
            });
        }
        let mut starts = Vec::with_capacity(count + 1);
        starts.push(0);
        let mut entries = Vec::new();
        for _ in 0..count {
            for _ in 0..self.count(ENTRY_BYTES)? {
                let coefficient = *self.take::<32>()?;
                let coefficient = self.fr(&coefficient)?;
                let column = self.u64()?;
                if column >= columns {
                    return Err(self.malformed(Defect::Index(column)));
                }
                entries.push((coefficient, column as u32));
            }
            starts.push(entries.len() as u32);
        }
        Ok(Matrix { starts, entries })
    }

    /// Reads an item count and checks that the remaining bytes can hold that many items.
    fn count(&mut self, item_bytes: usize) -> Result<usize, MalformedArtefact> {
        let count = self.u64()?;
        let room = (self.bytes.len() - self.at) / item_bytes;
        match usize::try_from(count) {
            Ok(items) if items <= room => Ok(items),
            _ => Err(self.malformed(Defect::Count(count))),
        }
    }

    fn take<const N: usize>(&mut self) -> Result<&'a [u8; N], MalformedArtefact> {
        let found = self.bytes.get(self.at..).and_then(<[u8]>::first_chunk);
        let found = found.ok_or(self.malformed(Defect::Truncated))?;
        self.at += N;
        Ok(found)
    }

    fn fq(&self, bytes: &[u8; 32]) -> Result<Fq, MalformedArtefact> {
        Fq::from_bigint(integer(bytes)).ok_or(self.malformed(Defect::NonCanonical))
    }

    fn fr(&self, bytes: &[u8; 32]) -> Result<Fr, MalformedArtefact> {
        Fr::from_bigint(integer(bytes)).ok_or(self.malformed(Defect::NonCanonical))
    }

    fn malformed(&self, what: Defect) -> MalformedArtefact {
        MalformedArtefact {
            at_byte: self.at,
            what,
        }
    }
}

fn flagged(mut bytes: [u8; 32]) -> ([u8; 32], bool) {
    let infinity = bytes[31] & INFINITY != 0;
    bytes[31] &= !FLAGS;
    (bytes, infinity)
}

fn integer(bytes: &[u8; 32]) -> BigInt<4> {
    let mut limbs = [0; 4];
    for (limb, chunk) in limbs.iter_mut().zip(bytes.as_chunks::<8>().0) {
        *limb = u64::from_le_bytes(*chunk);
    }
    BigInt::new(limbs)
}
