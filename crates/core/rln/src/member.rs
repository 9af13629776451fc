//! A member's cached share of proofs: the part determined by secret, limit and path.

use std::fmt;
use std::sync::{Arc, OnceLock};

use ark_bn254::{G1Projective, G2Projective};
use ark_ec::AffineRepr;
use ark_ff::AdditiveGroup;
use zeroize::Zeroize;

use crate::circuit::{INSTANCE_WIRES, WIRE_ROOT};
use crate::engine::Engine;
use crate::field::Fr;
use crate::graph::Wire;
use crate::identity::Identity;
use crate::msm::sum_of;
use crate::proof_request::{MAX_LIMIT, ProveError};
use crate::tree::MerklePath;

mod full;
mod prepare;
mod request;

pub(crate) use full::compress;

/// A member at one leaf of one tree, ready to make proofs and tokens.
///
/// The member holds the identity's secret, which is wiped from memory on drop.
pub struct Member {
    engine: Arc<Engine>,
    secret: Fr,
    limit: u32,
    path: MerklePath,
    share: Share,
    signal: OnceLock<SignalShare>,
}

/// The part of a proof that the membership determines; values that depend on a message are 0.
struct Share {
    /// Boundary values, which are inputs of the message's program.
    values: Vec<Fr>,
    /// All wires of the circuit.
    wires: Vec<Fr>,
    /// Left sides of all rows.
    left: Vec<Fr>,
    /// Right sides of all rows.
    right: Vec<Fr>,
    /// α + Σ wire * point of the A query.
    a: G1Projective,
    /// β + Σ wire * point of the B query, in G1.
    b_g1: G1Projective,
    /// β + Σ wire * point of the B query, in G2.
    b_g2: G2Projective,
    /// Part of C: Σ wire * L + Σ left * right * F.
    c: G1Projective,
}

/// The membership's part of the proof's coefficient of x, see [`crate::engine::Signal`].
struct SignalShare {
    /// Part without the slope: Σ (left * left_k + right * right_p) * E.
    fixed: G1Projective,
    /// Part that is multiplied by the slope a1: Σ right * right_q * E.
    sloped: G1Projective,
    /// Factor of E in row k.
    at_k: Fr,
    /// Factor of E in row p.
    at_p: Fr,
    /// Factor of E in row q, to be multiplied by the slope a1.
    at_q: Fr,
}

impl Member {
    /// Computes a member's share; takes about 0.2 s.
    ///
    /// # Errors
    /// [`ProveError::LimitOutOfRange`] when the limit cannot be registered.
    pub(crate) fn new(
        engine: Arc<Engine>,
        identity: &Identity,
        limit: u32,
        path: &MerklePath,
    ) -> Result<Self, ProveError> {
        if !(1..=MAX_LIMIT).contains(&limit) {
            return Err(ProveError::LimitOutOfRange { limit });
        }
        let empty = Share::empty(&engine);
        let mut member = Self {
            engine,
            secret: *identity.secret(),
            limit,
            path: path.clone(),
            share: empty,
            signal: OnceLock::new(),
        };
        member.recompute();
        Ok(member)
    }

    /// Moves the member to another Merkle path.
    ///
    /// The work is proportional to the number of wires that depend on the path's changed nodes: about
    /// a third of all when a distant leaf was set, none when no node changed.
    pub fn update(&mut self, path: &MerklePath) {
        if self.path != *path {
            self.path = path.clone();
            self.recompute();
        }
    }

    /// Root of the tree that the member's path leads to.
    pub fn root(&self) -> Fr {
        self.share.wires[WIRE_ROOT]
    }

    /// The member's limit, in messages per epoch.
    pub fn limit(&self) -> u32 {
        self.limit
    }

    /// Merkle path of the member's leaf.
    pub fn path(&self) -> &MerklePath {
        &self.path
    }

    pub(crate) fn is(&self, identity: &Identity, limit: u32) -> bool {
        self.secret == *identity.secret() && self.limit == limit
    }

    /// Updates everything that the path determines by adding only differences to the previous sums:
    /// all sums are linear in the wires and in the rows' products.
    fn recompute(&mut self) {
        let engine = &*self.engine;
        let (key, circuit) = (engine.key.proving_key(), engine.key.circuit());
        let mut inputs =
            circuit.member_inputs(self.secret, self.limit, &self.path.siblings, |at| {
                self.path.is_right_child(at)
            });
        let mut values = circuit.split.member.run(&inputs);
        inputs.zeroize();
        let wires: Vec<Fr> = circuit
            .split
            .wires
            .iter()
            .map(|wire| match wire {
                Wire::Member(value) => values[*value as usize],
                Wire::Message(_) => Fr::ZERO,
            })
            .collect();
        let mut sides: Vec<(Fr, Fr)> = (0..circuit.rows())
            .map(|row| circuit.row(key, row, &wires))
            .collect();
        for row in &circuit.message_rows {
            sides[*row as usize] = (Fr::ZERO, Fr::ZERO);
        }
        let (left, right): (Vec<Fr>, Vec<Fr>) = sides.into_iter().unzip();
        let old = &self.share;
        let changed: Vec<(usize, Fr)> = differences(&old.wires, &wires).collect();
        let changed_wires = || changed.iter().copied();
        let changed_l =
            changed_wires().filter_map(|(wire, by)| Some((wire.checked_sub(INSTANCE_WIRES)?, by)));
        let products = |left: &[Fr], right: &[Fr]| -> Vec<Fr> {
            left.iter().zip(right).map(|(a, b)| *a * b).collect()
        };
        let mut products = [products(&old.left, &old.right), products(&left, &right)];
        let changed_products = differences(&products[0], &products[1]);
        let share = Share {
            a: old.a + sum_of(&key.a, changed_wires()),
            b_g1: old.b_g1 + sum_of(&key.b_g1, changed_wires()),
            b_g2: old.b_g2 + sum_of(&key.b_g2, changed_wires()),
            c: old.c
                + sum_of(&key.l, changed_l)
                + sum_of(&engine.key.rows().squares, changed_products),
            values: circuit
                .split
                .boundary
                .iter()
                .map(|at| values[*at as usize])
                .collect(),
            wires,
            left,
            right,
        };
        products.iter_mut().for_each(Zeroize::zeroize);
        values.zeroize();
        let signal = match self.signal.take() {
            Some(signal) => OnceLock::from(signal.advanced(engine, old, &share)),
            None => OnceLock::new(),
        };
        self.share = share;
        self.signal = signal;
    }

    fn signal(&self) -> &SignalShare {
        self.signal.get_or_init(|| {
            let nothing = Share::empty(&self.engine);
            SignalShare::EMPTY.advanced(&self.engine, &nothing, &self.share)
        })
    }
}

impl Share {
    fn empty(engine: &Engine) -> Self {
        let verifying_key = engine.key.verifying_key();
        let circuit = engine.key.circuit();
        Self {
            values: Vec::new(),
            wires: vec![Fr::ZERO; circuit.split.wires.len()],
            left: vec![Fr::ZERO; circuit.rows()],
            right: vec![Fr::ZERO; circuit.rows()],
            a: verifying_key.alpha_g1.into_group(),
            b_g1: engine.key.proving_key().beta_g1.into_group(),
            b_g2: verifying_key.beta_g2.into_group(),
            c: G1Projective::ZERO,
        }
    }
}

impl SignalShare {
    const EMPTY: Self = Self {
        fixed: G1Projective::ZERO,
        sloped: G1Projective::ZERO,
        at_k: Fr::ZERO,
        at_p: Fr::ZERO,
        at_q: Fr::ZERO,
    };

    /// Returns the share after the rows' values changed from `old` to `new`.
    fn advanced(&self, engine: &Engine, old: &Share, new: &Share) -> Self {
        let signal = &engine.signal;
        let left: Vec<(usize, Fr)> = differences(&old.left, &new.left).collect();
        let right: Vec<(usize, Fr)> = differences(&old.right, &new.right).collect();
        let mut fixed = vec![Fr::ZERO; new.left.len()];
        let (mut at_k, mut at_p, mut at_q) = (self.at_k, self.at_p, self.at_q);
        for (row, by) in &left {
            fixed[*row] += signal.left_k[*row] * by;
            at_k -= *by * (signal.coefficient * signal.scale + signal.left_k[*row]);
        }
        for (row, by) in &right {
            fixed[*row] += signal.right_p[*row] * by;
            at_p -= *by * (signal.scale + signal.right_p[*row]);
            at_q -= *by * (signal.scale + signal.right_q[*row]);
        }
        let fixed = fixed
            .into_iter()
            .enumerate()
            .filter(|(_, factor)| *factor != Fr::ZERO);
        let sloped = right
            .iter()
            .map(|(row, by)| (*row, signal.right_q[*row] * by));
        Self {
            fixed: self.fixed + engine.tables.long.sum(fixed),
            sloped: self.sloped + engine.tables.long.sum(sloped),
            at_k,
            at_p,
            at_q,
        }
    }
}

/// Positions at which two lists differ, with the differences.
fn differences(old: &[Fr], new: &[Fr]) -> impl Iterator<Item = (usize, Fr)> {
    let pairs = old.iter().zip(new).enumerate();
    let changed = pairs.filter(|(_, (old, new))| old != new);
    changed.map(|(at, (old, new))| (at, *new - old))
}

impl Drop for Share {
    fn drop(&mut self) {
        for secrets in [
            &mut self.values,
            &mut self.wires,
            &mut self.left,
            &mut self.right,
        ] {
            secrets.zeroize();
        }
        self.a.zeroize();
        self.b_g1.zeroize();
        self.b_g2.zeroize();
        self.c.zeroize();
    }
}

impl Drop for SignalShare {
    fn drop(&mut self) {
        self.fixed.zeroize();
        self.sloped.zeroize();
        for factor in [&mut self.at_k, &mut self.at_p, &mut self.at_q] {
            factor.zeroize();
        }
    }
}

impl Drop for Member {
    fn drop(&mut self) {
        self.secret.zeroize();
    }
}

impl fmt::Debug for Member {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Member")
            .field("index", &self.path.index)
            .field("limit", &self.limit)
            .field("root", &self.root())
            .finish_non_exhaustive()
    }
}

#[cfg(test)]
#[path = "tests/member.rs"]
mod tests;
