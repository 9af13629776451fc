//! What all members' proofs share: the key, its tables, and the constants of the signal.

use std::sync::Arc;

use ark_bn254::{g1, g2};
use ark_ec::CurveGroup;
use ark_ff::{Field, batch_inversion};

use crate::circuit::{WIRE_X, WIRE_Y};
use crate::field::Fr;
use crate::key::Key;
use crate::msm::FixedBase;
use crate::tables::Tables;
use crate::transform::{Domain, SIZE};

/// Shared by everything that makes proofs.
pub(crate) struct Engine {
    pub(crate) key: Arc<Key>,
    pub(crate) domain: Domain,
    pub(crate) tables: Tables,
    pub(crate) signal: Signal,
    /// δ in both groups.
    pub(crate) delta_g1: FixedBase<g1::Config>,
    pub(crate) delta_g2: FixedBase<g2::Config>,
}

/// How the signal enters a proof: constants of the circuit.
///
/// x is the value of the row `p` of its own wire, y that of row `q`, and x times a coefficient is
/// the right side of the row `k`. See `docs/rln-fast-path.md`.
pub(crate) struct Signal {
    /// Rows k, p and q.
    pub(crate) k: usize,
    pub(crate) p: usize,
    pub(crate) q: usize,
    /// What the rows add to the quotient's share in x, by the values of the sides of each row.
    pub(crate) left_k: Vec<Fr>,
    pub(crate) right_p: Vec<Fr>,
    pub(crate) right_q: Vec<Fr>,
    /// The coefficient in row k, and -2/n.
    pub(crate) coefficient: Fr,
    pub(crate) scale: Fr,
    /// The points of A and B that x and y multiply.
    pub(crate) a_x: FixedBase<g1::Config>,
    pub(crate) a_y: FixedBase<g1::Config>,
    pub(crate) b_x: FixedBase<g2::Config>,
    /// The quotient's share in x squared is `square_x + a1 square_y`.
    pub(crate) square_x: FixedBase<g1::Config>,
    pub(crate) square_y: FixedBase<g1::Config>,
}

impl Engine {
    pub(crate) fn new(key: Arc<Key>, tables: Tables) -> Self {
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
