//! Reading `rln_final.arkzkey`: a Groth16 proving key and its constraint matrices, as arkworks
//! writes them uncompressed.
//!
//! ```text
//! alpha_g1, beta_g2, gamma_g2, delta_g2, [gamma_abc_g1]        the verifying key
//! beta_g1, delta_g1, [a], [b_g1], [b_g2], [h], [l]             the proving key's queries
//! instance, witness, constraints, non-zeros of A, B, C         six u64
//! [[(coefficient, wire)]] of A, of B, of C                     the matrices, row by row
//! ```
//!
//! `[]` is a u64 count and that many items. Numbers are little-endian, field elements 32 bytes, G1
//! points 64, G2 points 128.
//!
//! The points of the queries are not checked to lie on the curve. The caller has compared the file's
//! SHA-256 with the one in the source, which fixes every byte, and checking each point would triple
//! the start-up time.

use ark_bn254::{Bn254, G1Affine, G2Affine};
use ark_groth16::VerifyingKey;
use ark_serialize::CanonicalDeserialize;

use crate::field::Fr;

mod cursor;

use cursor::ByteCursor;

/// Defect of an artefact with the right checksum but unexpected content.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Defect {
    /// The bytes end inside an item.
    #[error("the file ends early")]
    Truncated,
    /// Bytes follow the last item.
    #[error("bytes follow the last item")]
    Trailing,
    /// The file begins with another format's bytes.
    #[error("the magic bytes are missing")]
    Magic,
    /// A count is larger than the rest of the file could hold.
    #[error("a count of {0} items is more than the file can hold")]
    Count(u64),
    /// A field element is not below its modulus.
    #[error("a field element is not canonical")]
    NonCanonical,
    /// The verifying key's points are not in their groups.
    #[error("the verifying key is not one over BN254")]
    VerifyingKey,
    /// The verifying key is for another number of public inputs.
    #[error(
        "the verifying key is for {found} public inputs, and the table of circuits says {expected}"
    )]
    PublicInputs {
        /// Public inputs of the key.
        found: usize,
        /// Public inputs that the table of circuits states.
        expected: usize,
    },
    /// The witness calculator is for a tree of another depth.
    #[error(
        "the witness calculator is for a tree of depth {found}, and the table of circuits says {expected}"
    )]
    Depth {
        /// Depth of the calculator's paths.
        found: u64,
        /// Depth that the table of circuits states.
        expected: u64,
    },
    /// The sizes are inconsistent.
    #[error("the sizes do not belong to one circuit")]
    Shape,
    /// An index points outside its table.
    #[error("index {0} is out of range")]
    Index(u64),
    /// The witness calculator uses an operation that this evaluator does not have.
    #[error("operation {0} is unknown")]
    Operation(u64),
    /// A protobuf field has an unexpected wire type or number.
    #[error("unexpected protobuf tag {0}")]
    Tag(u64),
}

/// A defect and its position in the file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct MalformedArtefact {
    pub(crate) at_byte: usize,
    pub(crate) what: Defect,
}

/// One matrix of a constraint system, in compressed-row form.
#[derive(Debug)]
pub(crate) struct Matrix {
    /// First entry of each row: row `i` is `entries[starts[i]..starts[i + 1]]`.
    starts: Vec<u32>,
    /// Coefficients and the wires (columns) that they multiply.
    entries: Vec<(Fr, u32)>,
}

/// The proving key without the H query, which only [`crate::rows`] uses.
#[derive(Debug)]
pub(crate) struct ProvingKey {
    pub(crate) beta_g1: G1Affine,
    pub(crate) delta_g1: G1Affine,
    /// One point for each wire, also in `b_g1` and `b_g2`.
    pub(crate) a: Vec<G1Affine>,
    pub(crate) b_g1: Vec<G1Affine>,
    pub(crate) b_g2: Vec<G2Affine>,
    /// One point for each wire except the constant 1 and the public ones.
    pub(crate) l: Vec<G1Affine>,
    /// Left sides of the constraints (matrix A); wires are the columns.
    pub(crate) left: Matrix,
    /// Right sides of the constraints (matrix B); wires are the columns.
    pub(crate) right: Matrix,
}

/// Parsed contents of the proving-key file.
pub(crate) struct Contents<'a> {
    pub(crate) verifying_key: VerifyingKey<Bn254>,
    pub(crate) proving_key: ProvingKey,
    /// Bytes of the H query, unparsed; see [`h_query`].
    pub(crate) h_bytes: &'a [u8],
}

/// Parses the proving-key file of a circuit with `public_inputs` public inputs.
pub(crate) fn parse(bytes: &[u8], public_inputs: usize) -> Result<Contents<'_>, MalformedArtefact> {
    let mut rest = bytes;
    // The verifying key is checked in full (curve and subgroup): it is small, and every verification
    // relies on it.
    let verifying_key =
        VerifyingKey::<Bn254>::deserialize_uncompressed(&mut rest).map_err(|_| {
            MalformedArtefact {
                at_byte: 0,
                what: Defect::VerifyingKey,
            }
        })?;
    let found = verifying_key.gamma_abc_g1.len().saturating_sub(1);
    if found != public_inputs {
        return Err(MalformedArtefact {
            at_byte: 0,
            what: Defect::PublicInputs {
                found,
                expected: public_inputs,
            },
        });
    }
    let mut cursor = ByteCursor::new(bytes, bytes.len() - rest.len());
    let beta_g1 = cursor.g1()?;
    let delta_g1 = cursor.g1()?;
    let a = cursor.list(cursor::G1_BYTES, ByteCursor::g1)?;
    let b_g1 = cursor.list(cursor::G1_BYTES, ByteCursor::g1)?;
    let b_g2 = cursor.list(cursor::G2_BYTES, ByteCursor::g2)?;
    let h_bytes = cursor.skip_list(cursor::G1_BYTES)?;
    let l = cursor.list(cursor::G1_BYTES, ByteCursor::g1)?;
    let counts_at = cursor.at();
    let instance = cursor.u64()?;
    let witness = cursor.u64()?;
    let constraints = cursor.u64()?;
    let _non_zeros = (cursor.u64()?, cursor.u64()?, cursor.u64()?);
    let wires = a.len() as u64;
    // The writer counted the constant 1 both as an instance and as a witness variable.
    let fits = instance == public_inputs as u64 + 1
        && witness.checked_add(public_inputs as u64) == Some(wires)
        && b_g1.len() == a.len()
        && b_g2.len() == a.len()
        && l.len() + public_inputs + 1 == a.len();
    if !fits {
        return Err(MalformedArtefact {
            at_byte: counts_at,
            what: Defect::Shape,
        });
    }
    let left = cursor.matrix(constraints, wires)?;
    let right = cursor.matrix(constraints, wires)?;
    // The third matrix is implied: in a Groth16 proof only the product of the first two counts.
    cursor.matrix(constraints, wires)?;
    cursor.end()?;
    Ok(Contents {
        verifying_key,
        proving_key: ProvingKey {
            beta_g1,
            delta_g1,
            a,
            b_g1,
            b_g2,
            l,
            left,
            right,
        },
        h_bytes,
    })
}

/// Parses the points of the H query. Their scalars are the quotient's values on the coset.
pub(crate) fn h_query(h_bytes: &[u8]) -> Result<Vec<G1Affine>, MalformedArtefact> {
    let mut cursor = ByteCursor::new(h_bytes, 0);
    let points = (0..h_bytes.len() / cursor::G1_BYTES)
        .map(|_| cursor.g1())
        .collect::<Result<_, _>>()?;
    cursor.end()?;
    Ok(points)
}

impl Matrix {
    /// Number of rows of the matrix.
    pub(crate) fn rows(&self) -> usize {
        self.starts.len() - 1
    }

    /// Coefficients of one row, each with the wire that it multiplies.
    pub(crate) fn row(&self, row: usize) -> &[(Fr, u32)] {
        &self.entries[self.starts[row] as usize..self.starts[row + 1] as usize]
    }

    /// Inner product of one row with the witness `wires`.
    pub(crate) fn value(&self, row: usize, wires: &[Fr]) -> Fr {
        self.row(row)
            .iter()
            .map(|(coefficient, wire)| wires[*wire as usize] * coefficient)
            .sum()
    }
}

#[cfg(test)]
#[path = "tests/arkzkey.rs"]
mod tests;
