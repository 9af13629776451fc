//! The Poseidon permutation; `params.rs` derives the formulas used here.

use std::array;

use ark_ff::AdditiveGroup;
use zeroize::Zeroizing;

use super::params::{HALF_FULL, Params};
use super::products::{power_5, sum_of_products, sum_of_two};
use crate::field::Fr;

impl<const T: usize, const N: usize> Params<T, N> {
    /// Computes the digest of `N` elements. They may be secret, so the state computed from them is wiped.
    pub(super) fn hash(&self, inputs: &[Fr; N]) -> Fr {
        let mut state = Zeroizing::new([Fr::ZERO; T]);
        state[1..].copy_from_slice(inputs);
        let (first, last) = self.full.split_at(HALF_FULL);
        for constants in first {
            *state = self.full_round(&state, constants);
        }
        *state = self.partial_rounds(&state);
        let (last, before) = last.split_last().expect("there are four last full rounds");
        for constants in before {
            *state = self.full_round(&state, constants);
        }
        sum_of_products(&self.mix[0], &substitute(&state, last))
    }

    fn full_round(&self, state: &[Fr; T], constants: &[Fr; T]) -> [Fr; T] {
        let substituted = substitute(state, constants);
        array::from_fn(|i| sum_of_products(&self.mix[i], &substituted))
    }

    fn partial_rounds(&self, state: &[Fr; T]) -> [Fr; T] {
        let rest: [Fr; N] = array::from_fn(|i| state[i + 1]);
        // The newest N values of x and of y.
        let mut xs = Zeroizing::new([Fr::ZERO; N]);
        let mut ys = Zeroizing::new([Fr::ZERO; N]);
        let mut x = state[0];
        for (j, k) in self.start.iter().enumerate() {
            ys[j] = power_5(x, *k);
            x = sum_of_products(&self.entry[j], &rest);
            for (h, y) in self.impulse.iter().zip(ys[..=j].iter().rev()) {
                x += *h * y;
            }
            xs[j] = x;
        }
        for round in &self.steady {
            let y = power_5(x, round.constant);
            x = sum_of_two(&round.feedback, &xs, &round.feed, &ys, y);
            *xs = array::from_fn(|j| if j + 1 < N { xs[j + 1] } else { x });
            *ys = array::from_fn(|j| if j + 1 < N { ys[j + 1] } else { y });
        }
        array::from_fn(|i| match i {
            0 => x * self.exit_scale,
            _ => sum_of_two(&self.exit_x[i - 1], &xs, &self.exit_y[i - 1], &ys, Fr::ZERO),
        })
    }
}

fn substitute<const T: usize>(state: &[Fr; T], constants: &[Fr; T]) -> [Fr; T] {
    array::from_fn(|i| power_5(state[i], constants[i]))
}
