use ark_ff::{AdditiveGroup, Field};
use proptest::prelude::*;

use super::*;

fn naive(a: &[Fr], b: &[Fr]) -> Fr {
    a.iter().zip(b).map(|(a, b)| *a * b).sum()
}

/// Sums of each length of the largest possible products reach the bounds of the module.
#[test]
fn largest_terms() {
    // The largest Montgomery form, r - 1, belongs to another element than the largest number.
    let largest = Fr::new_unchecked((-Fr::ONE).into_bigint());
    for extreme in [largest, -Fr::ONE, Fr::ZERO, Fr::ONE] {
        let terms = [extreme; 5];
        let square = extreme * extreme;
        let times = |n: u64| square * Fr::from(n);
        assert_eq!(sum_of_products(&[extreme], &[extreme]), times(1));
        assert_eq!(sum_of_products(&terms, &terms), times(5));
        for more in [largest, -Fr::ONE, Fr::ZERO] {
            let five = sum_of_two(&terms, &terms, &[], &[], more);
            assert_eq!(five, times(5) + more);
            let six = sum_of_two(&[extreme], &[extreme], &terms, &terms, more);
            assert_eq!(six, times(6) + more);
            let ten = sum_of_two(&terms, &terms, &terms, &terms, more);
            assert_eq!(ten, times(10) + more);
        }
        for constant in [largest, -Fr::ONE, Fr::ZERO] {
            assert_eq!(power_5(extreme, constant), (extreme + constant).pow([5]));
        }
    }
}

proptest! {
    #[test]
    fn equals_single_products(bytes in prop::array::uniform10(any::<[u8; 32]>())) {
        let elements = bytes.map(|bytes| Fr::from_le_bytes_mod_order(&bytes));
        let [a, b] = [&elements[..5], &elements[5..]].map(|half| <[Fr; 5]>::try_from(half).unwrap());
        prop_assert_eq!(sum_of_products(&a, &b), naive(&a, &b));
        prop_assert_eq!(sum_of_two(&a, &b, &b, &b, a[0]), naive(&a, &b) + naive(&b, &b) + a[0]);
        prop_assert_eq!(power_5(a[0], b[0]), (a[0] + b[0]).pow([5]));
    }
}
