//! The G2 half of the optimal ate pairing: the lines through multiples of a point.
//!
//! The loop visits `T = [k]Q` up to `[6x + 2]Q` and then adds `psi(Q)` and `-psi^2(Q)`, with psi the
//! Frobenius map carried over to the twist. A line with slope `s` through `(x, y)` is stored as `(-s,
//! s x - y)`. Its value at a point P of G1, divided by P's y (a factor in the base field, which the
//! final exponentiation removes), is `1 - s (x_P / y_P) w + (s x - y) (1 / y_P) w^3`.
//!
//! The loop also decides whether Q is in the subgroup of order r, at the cost of one comparison:
//! there, and only there, the last sum is `-psi^3(Q)`. In the subgroup psi multiplies by p, and
//! `6x + 2 + p - p^2 + p^3` is a multiple of r (Vercauteren, `https://eprint.iacr.org/2008/096`).
//! Conversely, let `f = X^3 - X^2 + X + 6x + 2` vanish on Q. So does `X^2 - tX + p`, with t the trace
//! of Frobenius; hence the resultant of the two annihilates Q. Its greatest common divisor with the
//! order of the whole group is r (the criterion of `https://eprint.iacr.org/2022/348`), so Q is in
//! the only subgroup of that order.

use ark_bn254::{Config, Fq2, G2Affine};
use ark_ec::bn::BnConfig;
use ark_ff::{AdditiveGroup, Field, batch_inversion};

mod one;

/// One step of the loop: a doubling or an addition.
#[derive(Clone, Copy)]
enum LoopStep {
    Double,
    Add,
    Subtract,
    AddFrobenius,
    SubtractFrobeniusSquared,
}

/// Lines of one point, in the order in which a Miller loop uses them.
#[derive(Clone, Debug)]
pub(super) struct Lines(Vec<LineValues>);

/// A line, as `(-slope, slope x - y)`.
pub(super) type LineValues = (Fq2, Fq2);

impl Lines {
    /// Returns the lines in order.
    pub(super) fn as_slice(&self) -> &[LineValues] {
        &self.0
    }

    /// Computes the lines of several points; `None` for a point outside the subgroup.
    ///
    /// The points must be finite and on the curve. They are processed in parallel steps, so that each
    /// step has one inversion for all points.
    pub(super) fn of_many(points: &[G2Affine]) -> Vec<Option<Self>> {
        let mut walks: Vec<Walk> = points.iter().map(Walk::new).collect();
        let mut denominators = vec![Fq2::ZERO; points.len()];
        for step in steps() {
            for (denominator, walk) in denominators.iter_mut().zip(&walks) {
                *denominator = walk.denominator(step);
            }
            batch_inversion(&mut denominators);
            for (inverse, walk) in denominators.iter().zip(&mut walks) {
                walk.take(step, inverse);
            }
        }
        walks.into_iter().map(Walk::finish).collect()
    }
}

/// Returns all steps of the loop, in order.
fn steps() -> impl Iterator<Item = LoopStep> {
    let digits = Config::ATE_LOOP_COUNT.iter().rev().skip(1);
    let doublings = digits.flat_map(|digit| {
        let add = match digit {
            1 => Some(LoopStep::Add),
            -1 => Some(LoopStep::Subtract),
            _ => None,
        };
        std::iter::once(LoopStep::Double).chain(add)
    });
    doublings.chain([LoopStep::AddFrobenius, LoopStep::SubtractFrobeniusSquared])
}

/// Points that the loop for Q adds.
struct Addends {
    q: G2Affine,
    frobenius: G2Affine,
    minus_frobenius_squared: G2Affine,
}

impl Addends {
    fn new(q: &G2Affine) -> Self {
        let frobenius = psi(q);
        Self {
            q: *q,
            frobenius,
            minus_frobenius_squared: -psi(&frobenius),
        }
    }

    /// Returns the point added in a step; `None` for a doubling.
    fn of(&self, step: LoopStep) -> Option<(Fq2, Fq2)> {
        let xy = |point: &G2Affine| Some((point.x, point.y));
        match step {
            LoopStep::Double => None,
            LoopStep::Add => xy(&self.q),
            LoopStep::Subtract => xy(&-self.q),
            LoopStep::AddFrobenius => xy(&self.frobenius),
            LoopStep::SubtractFrobeniusSquared => xy(&self.minus_frobenius_squared),
        }
    }

    /// Returns the last sum of the loop for a point of the subgroup: `-psi^3(Q)`.
    fn end(&self) -> (Fq2, Fq2) {
        let end = psi(&self.minus_frobenius_squared);
        (end.x, end.y)
    }
}

/// State of one point in the loop, in affine coordinates.
struct Walk {
    addends: Addends,
    /// Multiple of the point reached so far.
    t: (Fq2, Fq2),
    /// Whether an addition had two points with equal x, or a doubling a point with y = 0. In the
    /// subgroup neither occurs: the addend differs from `t` and `-t`, and no point has order two.
    degenerate: bool,
    lines: Vec<LineValues>,
}

impl Walk {
    fn new(q: &G2Affine) -> Self {
        Self {
            addends: Addends::new(q),
            t: (q.x, q.y),
            degenerate: false,
            lines: Vec::with_capacity(steps().count()),
        }
    }

    /// Denominator of the slope of the step's line.
    fn denominator(&self, step: LoopStep) -> Fq2 {
        match self.addends.of(step) {
            None => self.t.1.double(),
            Some((x, _)) => self.t.0 - x,
        }
    }

    fn take(&mut self, step: LoopStep, inverse: &Fq2) {
        self.degenerate |= *inverse == Fq2::ZERO;
        let (x, y) = self.t;
        let (numerator, other_x) = match self.addends.of(step) {
            None => {
                let square = x.square();
                (square.double() + square, x)
            }
            Some((other_x, other_y)) => (y - other_y, other_x),
        };
        let slope = numerator * inverse;
        self.lines.push((-slope, slope * x - y));
        let sum_x = slope.square() - x - other_x;
        self.t = (sum_x, slope * (x - sum_x) - y);
    }

    fn finish(self) -> Option<Lines> {
        let in_subgroup = !self.degenerate && self.t == self.addends.end();
        in_subgroup.then_some(Lines(self.lines))
    }
}

/// The Frobenius map of the curve, carried over to the twist.
fn psi(point: &G2Affine) -> G2Affine {
    let mut image = *point;
    image.x.frobenius_map_in_place(1);
    image.x *= &Config::TWIST_MUL_BY_Q_X;
    image.y.frobenius_map_in_place(1);
    image.y *= &Config::TWIST_MUL_BY_Q_Y;
    image
}

#[cfg(test)]
#[path = "tests/lines.rs"]
mod tests;
