//! Data shared by the proofs of all members: the key, its tables, and the constants of the signal.

use std::sync::Arc;

use ark_bn254::{g1, g2};
use ark_ec::CurveGroup;
use ark_ff::{Field, batch_inversion};

use crate::circuit::{WIRE_X, WIRE_Y};
use crate::field::Fr;
use crate::key::Key;
use crate::msm::FixedBase;
use crate::tables::ProverTables;
use crate::transform::{Domain, SIZE};

/// Key, tables and constants shared by everything that makes proofs.
pub(crate) struct Engine {
    pub(crate) key: Arc<Key>,
    pub(crate) domain: Domain,
    pub(crate) tables: ProverTables,
    pub(crate) signal: Signal,
    /// Multiples of δ in G1.
    pub(crate) delta_g1: FixedBase<g1::Config>,
    /// Multiples of δ in G2.
    pub(crate) delta_g2: FixedBase<g2::Config>,
}

/// Constants of the circuit by which the signal x enters a proof.
///
/// x is the value of the row `p` of its own wire, y that of row `q`, and x times a coefficient is
/// the right side of the row `k`. See `docs/design/rln-fast-path.md`.
pub(crate) struct Signal {
    /// Row whose right side is x times `coefficient`.
    pub(crate) k: usize,
    /// Row of x's own wire.
    pub(crate) p: usize,
    /// Row of y's own wire.
    pub(crate) q: usize,
    /// Factor of each row's left value in the part of the quotient that is linear in x, from row k.
    pub(crate) left_k: Vec<Fr>,
    /// Factor of each row's right value in that part of the quotient, from row p.
    pub(crate) right_p: Vec<Fr>,
    /// Factor of each row's right value in that part of the quotient, from row q; times the slope a1.
    pub(crate) right_q: Vec<Fr>,
    /// Coefficient of x in the right side of row k.
    pub(crate) coefficient: Fr,
    /// The constant -2/n, with n the size of the domain.
    pub(crate) scale: Fr,
    /// Point of A that x multiplies.
    pub(crate) a_x: FixedBase<g1::Config>,
    /// Point of A that y multiplies.
    pub(crate) a_y: FixedBase<g1::Config>,
    /// Point of B in G2 that x multiplies; y has none.
    pub(crate) b_x: FixedBase<g2::Config>,
    /// First term of the quotient's coefficient of x²: `square_x + a1 square_y`.
    pub(crate) square_x: FixedBase<g1::Config>,
    /// Second term of the quotient's coefficient of x², to be multiplied by the slope a1.
    pub(crate) square_y: FixedBase<g1::Config>,
}

impl Engine {
    pub(crate) fn new(key: Arc<Key>, tables: ProverTables) -> Self {
        let domain = Domain::new();
        let signal = Signal::new(&key, &domain);
        Self {
            delta_g1: FixedBase::new(key.proving_key().delta_g1),
            delta_g2: FixedBase::new(key.verifying_key().delta_g2),
            domain,
            tables,
            signal,
            key,
        }
    }
}

impl Signal {
    fn new(key: &Key, domain: &Domain) -> Self {
        let (circuit, proving_key) = (key.circuit(), key.proving_key());
        let k = circuit.signal_row;
        let (p, q) = (circuit.constraints + WIRE_X, circuit.constraints + WIRE_Y);
        let coefficient = circuit.signal_coefficient;
        let n = Fr::from(SIZE as u64);
        let scale = -Fr::from(2) * n.inverse().expect("the domain's size is not 0 modulo r");
        let rows = circuit.rows();
        let powers: Vec<Fr> =
            std::iter::successors(Some(Fr::ONE), |power| Some(*power * domain.root))
                .take(rows)
                .collect();
        // -2/n ω^j / (ω^i - ω^j) for each i; 0 at j itself.
        let weights = |j: usize, factor: Fr| {
            let mut weights: Vec<Fr> = powers.iter().map(|power| *power - powers[j]).collect();
            batch_inversion(&mut weights);
            for weight in &mut weights {
                *weight *= factor * scale * powers[j];
            }
            weights
        };
        // L_i L_k is -2/n (ω^k L_i - ω^i L_k) / (ω^i - ω^k), here for i = p and q.
        let lagrange = &key.rows().lagrange;
        let square = |i: usize| {
            let gap = (powers[i] - powers[k]).inverse().expect("the rows differ");
            let point = lagrange[i] * powers[k] - lagrange[k] * powers[i];
            FixedBase::new((point * (coefficient * scale * gap)).into_affine())
        };
        Self {
            k,
            p,
            q,
            left_k: weights(k, coefficient),
            right_p: weights(p, Fr::ONE),
            right_q: weights(q, Fr::ONE),
            coefficient,
            scale,
            a_x: FixedBase::new(proving_key.a[WIRE_X]),
            a_y: FixedBase::new(proving_key.a[WIRE_Y]),
            b_x: FixedBase::new(proving_key.b_g2[WIRE_X]),
            square_x: square(p),
            square_y: square(q),
        }
    }
}
