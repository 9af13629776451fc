use ark_ec::{AffineRepr, PrimeGroup};
use proptest::prelude::*;
use rand_chacha::ChaCha8Rng;
use rand_core::SeedableRng;

use super::*;

fn points(n: usize) -> Vec<G1Affine> {
    let multiples = (0..n).map(|i| G1Projective::generator() * Fr::from(7 * i as u64 + 3));
    multiples.map(CurveGroup::into_affine).collect()
}

#[test]
fn extreme_coefficients() {
    let point = points(1);
    for (a, b) in [(1, 0), (0, 1), (1, 1), (u64::MAX, u64::MAX), (u64::MAX, 0)] {
        let coefficient = Coefficient { a, b };
        let expected = point[0] * coefficient.scalar();
        assert_eq!(Multiples::new(&point).each(&[coefficient]), [expected]);
    }
}

#[test]
fn extreme_scalars() {
    let point = G1Affine::generator();
    let base = DigitTable::new(point);
    for scalar in [
        Fr::from(0),
        Fr::from(1),
        Fr::from(255),
        Fr::from(256),
        -Fr::from(1),
    ] {
        let mut sum = G1Projective::ZERO;
        base.add_multiple(&mut sum, &scalar);
        assert_eq!(sum, point * scalar);
    }
}

/// No combination of the lattice's two short vectors is shorter than 2^126, which is what makes
/// coefficients of 64-bit halves distinct.
#[test]
fn the_lattice_of_zero_coefficients_has_no_short_vector() {
    let entries = <g1::Config as GLVConfig>::SCALAR_DECOMP_COEFFS;
    let [n11, n12, n21, n22] = entries.map(|(positive, limbs)| {
        let magnitude = i128::from(limbs.0[0]) | i128::from(limbs.0[1]) << 64;
        if positive { magnitude } else { -magnitude }
    });
    let field = |n: i128| match n {
        0.. => Fr::from(n.unsigned_abs()),
        _ => -Fr::from(n.unsigned_abs()),
    };
    for (a, b) in [(n11, n12), (n21, n22)] {
        assert_eq!(field(a) + field(b) * g1::Config::LAMBDA, Fr::from(0));
    }
    // The vectors are nearly orthogonal: their long components are in different columns.
    assert!(n12.unsigned_abs() < 1 << 64 && n21.unsigned_abs() < 1 << 64);
    assert!(n11.unsigned_abs() > 1 << 126 && n22.unsigned_abs() > 1 << 126);
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(16))]

    #[test]
    fn sums_equal_those_of_scalars(seed: u64, n in 1usize..6) {
        let mut rng = ChaCha8Rng::seed_from_u64(seed);
        let points = points(n);
        let coefficients: Vec<_> = (0..n).map(|_| Coefficient::random(&mut rng)).collect();
        let multiples = Multiples::new(&points);
        let expected: Vec<_> = points.iter().zip(&coefficients).map(|(p, c)| *p * c.scalar()).collect();
        prop_assert_eq!(&multiples.each(&coefficients), &expected);
        let sum: G1Projective = expected.iter().sum();
        prop_assert_eq!(multiples.sum(&coefficients), sum);
    }
}
