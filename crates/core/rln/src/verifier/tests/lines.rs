use ark_bn254::{Bn254, Fr, G1Affine};
use ark_ec::pairing::Pairing;
use ark_ec::short_weierstrass::SWCurveConfig;
use ark_ec::{AffineRepr, CurveConfig, CurveGroup};
use ark_ff::Zero;
use proptest::prelude::*;

use super::super::miller::{LinePoint, miller};
use super::*;

/// Subgroup membership by definition: r annihilates the point.
fn in_subgroup(point: &G2Affine) -> bool {
    ark_bn254::g2::Config::mul_affine(point, Fr::characteristic()).is_zero()
}

/// Point of the curve over a given x, almost never in the subgroup.
fn on_curve(c0: u64, c1: u64) -> Option<G2Affine> {
    G2Affine::get_point_from_x_unchecked(Fq2::new(c0.into(), c1.into()), c0.is_multiple_of(2))
}

fn verdicts(points: &[G2Affine]) -> Vec<bool> {
    let many = Lines::of_many(points);
    for (point, lines) in points.iter().zip(&many) {
        let one = Lines::of_one(point);
        assert_eq!(
            one.as_ref().map(Lines::as_slice),
            lines.as_ref().map(Lines::as_slice)
        );
    }
    many.iter().map(Option::is_some).collect()
}

/// Points of each kind: in the subgroup, of an order that divides the cofactor, and mixed.
#[test]
fn membership_is_decided_as_by_the_definition() {
    let g = G2Affine::generator();
    let mut points = vec![g, -g, (g * Fr::from(5)).into_affine()];
    for point in (1..40).filter_map(|x| on_curve(x, 7 * x)) {
        let cofactor_part = ark_bn254::g2::Config::mul_affine(&point, Fr::characteristic());
        points.push(point);
        points.push(cofactor_part.into_affine());
        points.push((cofactor_part + g).into_affine());
        points.push(point.clear_cofactor());
    }
    let expected: Vec<bool> = points.iter().map(in_subgroup).collect();
    assert!(expected.iter().filter(|member| **member).count() > 10);
    assert!(expected.iter().filter(|member| !**member).count() > 30);
    assert_eq!(verdicts(&points), expected);
}

/// Points of small order, for which an addition of the loop degenerates.
#[test]
fn small_orders_are_outside() {
    // The cofactor is 10069 * 5864401 * ... : the two smallest orders beside r.
    let cofactor = ark_bn254::g2::Config::COFACTOR;
    for order in [10_069u64, 5_864_401] {
        let rest = quotient(cofactor, order);
        let small = (1..)
            .filter_map(|x| on_curve(x, 3))
            .map(|point| {
                let point = ark_bn254::g2::Config::mul_affine(&point, Fr::characteristic());
                ark_bn254::g2::Config::mul_projective(&point, &rest).into_affine()
            })
            .find(|point| !point.is_zero())
            .unwrap();
        assert!(ark_bn254::g2::Config::mul_affine(&small, &[order]).is_zero());
        assert_eq!(verdicts(&[small, G2Affine::generator()]), [false, true]);
    }
}

/// Computes `limbs / divisor`, which leaves no remainder.
fn quotient(limbs: &[u64], divisor: u64) -> Vec<u64> {
    let mut rest = 0u128;
    let mut quotient = vec![0; limbs.len()];
    for at in (0..limbs.len()).rev() {
        let dividend = rest << 64 | u128::from(limbs[at]);
        quotient[at] = (dividend / u128::from(divisor)) as u64;
        rest = dividend % u128::from(divisor);
    }
    assert_eq!(rest, 0, "{divisor} divides the cofactor");
    quotient
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(16))]

    #[test]
    fn pairings_equal_those_of_arkworks(scalars in prop::collection::vec((1u64.., 1u64..), 1..4)) {
        let g1: Vec<G1Affine> = scalars
            .iter()
            .map(|(a, _)| (G1Affine::generator() * Fr::from(*a)).into_affine())
            .collect();
        let g2: Vec<G2Affine> = scalars
            .iter()
            .map(|(_, b)| (G2Affine::generator() * Fr::from(*b)).into_affine())
            .collect();
        let lines: Vec<Lines> = Lines::of_many(&g2).into_iter().map(Option::unwrap).collect();
        let evaluations = LinePoint::of_many(&g1);
        let pairs: Vec<_> = evaluations.into_iter().zip(&lines).collect();
        let ours = Bn254::final_exponentiation(miller(&pairs)).unwrap();
        prop_assert_eq!(ours, Bn254::multi_pairing(g1, g2));
    }
}
