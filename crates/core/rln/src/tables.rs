//! Precomputed tables for proofs: multiples of the circuit's points.

use ark_bn254::{G1Affine, g1, g2};

use crate::circuit::{Circuit, INSTANCE_WIRES};
use crate::key::Key;
use crate::msm::MultiplesTable;

mod file;

pub use file::{TableFileDefect, TableFileOutcome};

/// Bits of a digit in the long sum.
const LONG_BITS: usize = 13;
/// Bits of a digit in the two short sums, of about 500 points each.
const SHORT_BITS: usize = 9;

/// Tables of the points that a proof sums, which are the same for all proofs.
///
/// The table [`ProverTables::long`] holds, in this order: E of each row ([`ProverTables::lagrange`]), F of
/// the message's constraints, then L and then B of the message's wires.
pub(crate) struct ProverTables {
    /// Points of the long sum, in G1.
    pub(crate) long: MultiplesTable<g1::Config>,
    /// Points A of the wires that depend on a message.
    pub(crate) a: MultiplesTable<g1::Config>,
    /// Points B of the wires that depend on a message, in G2.
    pub(crate) b: MultiplesTable<g2::Config>,
    layout: TableLayout,
}

/// Start indices of the parts of the long table, with the number of message wires.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct TableLayout {
    /// Checksums of the proving key and of the row tables, which table files record.
    sha256: [&'static str; 2],
    squares: usize,
    l: usize,
    b: usize,
    end: usize,
    wires: usize,
}

impl TableLayout {
    fn of(key: &Key) -> Self {
        let (circuit, spec): (&Circuit, _) = (key.circuit(), key.spec());
        let squares = circuit.rows();
        let l = squares + circuit.message_rows.len() - INSTANCE_WIRES;
        let wires = circuit.message_wires.len();
        Self {
            sha256: [spec.key.sha256, spec.rows.sha256],
            squares,
            l,
            b: l + wires,
            end: l + 2 * wires,
            wires,
        }
    }
}

impl ProverTables {
    /// Computes the tables; takes about 0.25 s.
    pub(crate) fn build(key: &Key) -> Self {
        let (circuit, proving_key) = (key.circuit(), key.proving_key());
        let layout = TableLayout::of(key);
        let mut long = key.rows().lagrange.clone();
        let constraints = circuit.message_rows.iter().map(|row| *row as usize);
        let constraints = constraints.filter(|row| *row < circuit.constraints);
        long.extend(constraints.map(|row| key.rows().squares[row]));
        let wires = || circuit.message_wires.iter().map(|wire| *wire as usize);
        // Public wires have no point in L: the verifier adds their part.
        long.extend(wires().map(|wire| match wire.checked_sub(INSTANCE_WIRES) {
            Some(auxiliary) => proving_key.l[auxiliary],
            None => G1Affine::identity(),
        }));
        long.extend(wires().map(|wire| proving_key.b_g1[wire]));
        debug_assert_eq!(long.len(), layout.end);
        let a: Vec<_> = wires().map(|wire| proving_key.a[wire]).collect();
        let b: Vec<_> = wires().map(|wire| proving_key.b_g2[wire]).collect();
        Self {
            long: MultiplesTable::new(&long, LONG_BITS),
            a: MultiplesTable::new(&a, SHORT_BITS),
            b: MultiplesTable::new(&b, SHORT_BITS),
            layout,
        }
    }

    /// Index in the long table of a row's E.
    pub(crate) fn lagrange(&self, row: usize) -> usize {
        debug_assert!(row < self.layout.squares);
        row
    }

    /// Index in the long table of the F that belongs to the circuit's n-th message row.
    pub(crate) fn square(&self, nth_row: usize) -> usize {
        debug_assert!(self.layout.squares + nth_row < self.layout.l);
        self.layout.squares + nth_row
    }

    /// Index in the long table of the L of the circuit's n-th message wire.
    pub(crate) fn l(&self, nth_wire: usize) -> usize {
        self.layout.l + nth_wire
    }

    /// Index in the long table of the B of the circuit's n-th message wire.
    pub(crate) fn b(&self, nth_wire: usize) -> usize {
        self.layout.b + nth_wire
    }
}

#[cfg(test)]
#[path = "tests/tables.rs"]
mod tests;
