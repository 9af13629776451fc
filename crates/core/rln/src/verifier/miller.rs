//! The Miller loop: evaluates lines at points of G1 and multiplies them with shared squarings.

use ark_bn254::{Bn254, Config, Fq, Fq2, Fq6, Fq12, Fq12Config, G1Affine};
use ark_ec::bn::BnConfig;
use ark_ec::pairing::MillerLoopOutput;
use ark_ff::{Field, Fp12Config, batch_inversion};

use super::lines::{LineValues, Lines};

/// A point of G1 in the form in which lines are evaluated.
#[derive(Clone, Copy, Debug)]
pub(super) struct LinePoint {
    /// Quotient `x / y` of the coordinates.
    x_over_y: Fq,
    /// Inverse `1 / y` of the coordinate.
    inverse_y: Fq,
}

impl LinePoint {
    /// Prepares points, which must be finite; then y is not zero, as the group's order is odd.
    pub(super) fn of_many(points: &[G1Affine]) -> Vec<Self> {
        let mut inverses: Vec<Fq> = points.iter().map(|point| point.y).collect();
        batch_inversion(&mut inverses);
        let evaluate = |(point, inverse_y): (&G1Affine, Fq)| Self {
            x_over_y: point.x * inverse_y,
            inverse_y,
        };
        points.iter().zip(inverses).map(evaluate).collect()
    }
}

/// Computes the product of all pairs' Miller values: pairings without the final exponentiation.
pub(super) fn miller(pairs: &[(LinePoint, &Lines)]) -> MillerLoopOutput<Bn254> {
    let mut lines: Vec<_> = pairs
        .iter()
        .map(|(point, lines)| (point, lines.as_slice().iter()))
        .collect();
    let mut value = Fq12::ONE;
    let mut multiply_by_next_lines = |value: &mut Fq12| {
        for (point, lines) in &mut lines {
            let line = lines.next().expect("each point has a line for each step");
            multiply_by_line(value, line, point);
        }
    };
    let mut digits = Config::ATE_LOOP_COUNT.iter().rev().skip(1);
    let first = digits.next();
    multiply_by_next_lines(&mut value);
    if first.is_some_and(|digit| *digit != 0) {
        multiply_by_next_lines(&mut value);
    }
    for digit in digits {
        value.square_in_place();
        multiply_by_next_lines(&mut value);
        if *digit != 0 {
            multiply_by_next_lines(&mut value);
        }
    }
    // The two final steps, which add Frobenius images.
    multiply_by_next_lines(&mut value);
    multiply_by_next_lines(&mut value);
    MillerLoopOutput(value)
}

/// Multiplies by the line's value `1 + b w + c w^3`: the 1 saves three of thirteen products.
fn multiply_by_line(value: &mut Fq12, line: &LineValues, point: &LinePoint) {
    let (mut b, mut c) = *line;
    b.mul_assign_by_fp(&point.x_over_y);
    c.mul_assign_by_fp(&point.inverse_y);
    // (u + v w)(1 + l w) with l = b + c w^2: u + v l w^2, and (u + v)(1 + l) - u - v l for w.
    let u = value.c0;
    let mut v_l: Fq6 = value.c1;
    v_l.mul_by_01(&b, &c);
    let mut sum = u + value.c1;
    sum.mul_by_01(&(Fq2::ONE + b), &c);
    value.c1 = sum - u - v_l;
    Fq12Config::mul_fp6_by_nonresidue_in_place(&mut v_l);
    value.c0 = u + v_l;
}
