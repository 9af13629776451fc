//! Lines of a single point without an inversion per step: homogeneous coordinates
//! (`https://eprint.iacr.org/2013/722`, section 4), and one inversion for all lines at the end.

use ark_bn254::{Fq2, G2Affine, g2};
use ark_ec::short_weierstrass::SWCurveConfig;
use ark_ff::{AdditiveGroup, Field, batch_inversion};

use super::{Addends, Lines, steps};

impl Lines {
    /// Computes the lines of one point, equal to those of [`Lines::of_many`]; `None` outside the
    /// subgroup.
    pub(in crate::verifier) fn of_one(point: &G2Affine) -> Option<Self> {
        let addends = Addends::new(point);
        let mut t = Homogeneous {
            x: point.x,
            y: point.y,
            z: Fq2::ONE,
        };
        let mut divisors = Vec::new();
        let mut lines = Vec::new();
        for step in steps() {
            let (divisor, slope, constant) = match addends.of(step) {
                None => t.double(),
                Some(addend) => t.add(addend),
            };
            // A zero is the degenerate case; see `Walk::degenerate`.
            if divisor == Fq2::ZERO {
                return None;
            }
            divisors.push(divisor);
            lines.push((slope, constant));
        }
        let (end_x, end_y) = addends.end();
        if t.z == Fq2::ZERO || t.x != end_x * t.z || t.y != end_y * t.z {
            return None;
        }
        batch_inversion(&mut divisors);
        for ((slope, constant), inverse) in lines.iter_mut().zip(divisors) {
            *slope *= inverse;
            *constant *= inverse;
        }
        Some(Self(lines))
    }
}

struct Homogeneous {
    x: Fq2,
    y: Fq2,
    z: Fq2,
}

/// Coefficients of 1, w and w^3, up to a common factor.
type ScaledLine = (Fq2, Fq2, Fq2);

impl Homogeneous {
    /// Doubles the point. The resulting coordinates carry a common factor of 4.
    fn double(&mut self) -> ScaledLine {
        let y_squared = self.y.square();
        let z_squared = self.z.square();
        let e = g2::Config::COEFF_B * (z_squared.double() + z_squared);
        let f = e.double() + e;
        let g = y_squared + f;
        let h = (self.y + self.z).square() - y_squared - z_squared;
        let x_squared = self.x.square();
        let e_squared = e.square().double().double();
        self.x = (self.x * self.y * (y_squared - f)).double();
        self.y = g.square() - (e_squared.double() + e_squared);
        self.z = (y_squared * h).double().double();
        (-h, x_squared.double() + x_squared, e - y_squared)
    }

    /// Adds an affine point; returns the line through both.
    fn add(&mut self, (x, y): (Fq2, Fq2)) -> ScaledLine {
        let theta = self.y - y * self.z;
        let lambda = self.x - x * self.z;
        let square = lambda.square();
        let cube = lambda * square;
        let g = self.x * square;
        let h = cube + self.z * theta.square() - g.double();
        self.x = lambda * h;
        self.y = theta * (g - h) - cube * self.y;
        self.z *= cube;
        (lambda, -theta, theta * x - lambda * y)
    }
}
