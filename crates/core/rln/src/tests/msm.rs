use ark_bn254::{G1Affine, G1Projective, G2Affine, g1, g2};
use ark_ec::{AffineRepr, CurveGroup};
use proptest::prelude::*;

use super::*;

/// Field elements, including the smallest and largest.
fn scalars(count: usize) -> impl Strategy<Value = Vec<Fr>> {
    let scalar = prop_oneof![
        4 => any::<[u8; 32]>().prop_map(|bytes| Fr::from_le_bytes_mod_order(&bytes)),
        1 => prop_oneof![Just(Fr::ZERO), Just(Fr::ONE), Just(-Fr::ONE), Just(Fr::from(1u64 << 12))],
        1 => Just(glv::LAMBDA),
    ];
    prop::collection::vec(scalar, count)
}

/// Points, including repetitions, opposites and the point at infinity.
fn points<G: MsmGroup>(kinds: &[u8]) -> Vec<Affine<G>> {
    let generator: Projective<G> = Affine::<G>::generator().into();
    let points: Vec<Projective<G>> = kinds
        .iter()
        .map(|kind| match kind % 8 {
            0 => Projective::ZERO,
            1 => -generator,
            _ => generator * Fr::from(u64::from(*kind / 2)),
        })
        .collect();
    Projective::normalize_batch(&points)
}

fn naive<G: MsmGroup>(points: &[Affine<G>], scalars: &[Fr]) -> Projective<G> {
    points
        .iter()
        .zip(scalars)
        .map(|(point, scalar)| *point * scalar)
        .sum()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(48))]

    #[test]
    fn sums_in_g1_are_the_naive_ones(
        (kinds, scalars, bits) in (1usize..40).prop_flat_map(|count| {
            (prop::collection::vec(any::<u8>(), count), scalars(count), 4usize..14)
        }),
    ) {
        let points = points::<g1::Config>(&kinds);
        let expected = naive(&points, &scalars);
        let terms = || scalars.iter().copied().enumerate();
        prop_assert_eq!(sum_of(&points, terms()), expected);
        prop_assert_eq!(MultiplesTable::new(&points, bits).sum(terms()), expected);
    }

    #[test]
    fn sums_in_g2_are_the_naive_ones(
        (kinds, scalars, bits) in (1usize..12).prop_flat_map(|count| {
            (prop::collection::vec(any::<u8>(), count), scalars(count), 4usize..11)
        }),
    ) {
        let points = points::<g2::Config>(&kinds);
        let expected = naive(&points, &scalars);
        let terms = || scalars.iter().copied().enumerate();
        prop_assert_eq!(sum_of(&points, terms()), expected);
        prop_assert_eq!(MultiplesTable::new(&points, bits).sum(terms()), expected);
    }

    #[test]
    fn halves_make_up_the_scalar_and_are_short(scalars in scalars(16)) {
        for scalar in scalars {
            let [first, second] = glv::halves(scalar);
            for half in [first, second] {
                prop_assert!(half.unsigned_abs() < 1 << glv::HALF_BITS);
            }
            prop_assert_eq!(signed(first) + glv::LAMBDA * signed(second), scalar);
        }
    }

    #[test]
    fn digits_make_up_the_number(bytes in any::<[u8; 32]>(), bits in 2usize..17) {
        let scalar = Fr::from_le_bytes_mod_order(&bytes);
        let windows = digits::windows_for(254, bits);
        let mut sum = Fr::ZERO;
        signed_digits(scalar.into_bigint().0, bits, windows, |window, digit| {
            assert!(digit.unsigned_abs() <= 1 << (bits - 1));
            sum += signed(digit.into()) * Fr::from(2).pow([(window * bits) as u64]);
        });
        prop_assert_eq!(sum, scalar);
    }
}

fn signed(number: i128) -> Fr {
    let size = Fr::from(number.unsigned_abs());
    if number < 0 { -size } else { size }
}

#[test]
fn the_endomorphism_multiplies_by_lambda() {
    let point = G1Affine::generator();
    let image = G1Affine::new(point.x * glv::BETA, point.y);
    assert_eq!(G1Projective::from(image), point * glv::LAMBDA);
}

#[test]
fn nothing_sums_up_to_infinity() {
    assert_eq!(
        sum_of::<g1::Config>(&[], std::iter::empty()),
        G1Projective::ZERO
    );
    let table = MultiplesTable::<g2::Config>::new(&[G2Affine::generator()], 6);
    assert_eq!(table.len(), 1);
    assert_eq!(table.sum(std::iter::empty()), Projective::ZERO);
}

#[test]
fn multiples_of_a_fixed_point_are_the_naive_ones() {
    let point = (G1Affine::generator() * Fr::from(77)).into_affine();
    let fixed = FixedBase::new(point);
    let wide = Fr::from(u128::MAX).square();
    for scalar in [
        Fr::ZERO,
        Fr::ONE,
        -Fr::ONE,
        Fr::from(64),
        Fr::from(65),
        wide,
    ] {
        let mut sum = point.into_group();
        fixed.add_to(&mut sum, scalar);
        assert_eq!(sum, point * (scalar + Fr::ONE));
    }
}
