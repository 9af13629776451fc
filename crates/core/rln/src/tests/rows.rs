use ark_bn254::g1;
use rand_chacha::ChaCha8Rng;
use rand_core::SeedableRng;

use super::*;
use crate::field::fr_random;
use crate::key::{Key, derive_row_tables};
use crate::msm::sum_of;

/// Computes the quotient's values on the coset as a standard Groth16 prover does.
fn on_coset(domain: &Domain, rows: &[Fr]) -> Vec<Fr> {
    let mut values = rows.to_vec();
    values.resize(SIZE, Fr::ZERO);
    domain.forward(&mut values);
    // forward() leaves Σ v_j ω^(jk), which is n times the interpolation's coefficient of -k.
    let mut coefficients = vec![Fr::ZERO; SIZE];
    let n_inverse = Fr::from(SIZE as u64).inverse().unwrap();
    for (place, value) in values.iter().enumerate() {
        let k = place.reverse_bits() >> (usize::BITS - SIZE.ilog2());
        coefficients[(SIZE - k) % SIZE] = *value * n_inverse;
    }
    let mut power = Fr::ONE;
    for coefficient in &mut coefficients {
        *coefficient *= power;
        power *= domain.shift;
    }
    domain.forward(&mut coefficients);
    let mut ordered = vec![Fr::ZERO; SIZE];
    for (place, value) in coefficients.iter().enumerate() {
        ordered[place.reverse_bits() >> (usize::BITS - SIZE.ilog2())] = *value;
    }
    ordered
}

/// The vendored points belong to the key: for random rows both formulas for the quotient's share agree.
/// A wrong point would be missed with probability 1/r.
#[test]
fn the_vendored_tables_are_the_keys() {
    let key = Key::load().unwrap();
    let h_query = key.h_query();
    let (rows, constraints) = (key.circuit().rows(), key.circuit().constraints);
    let domain = Domain::new();
    let mut rng = ChaCha8Rng::seed_from_u64(7);
    let mut a: Vec<Fr> = (0..rows).map(|_| fr_random(&mut rng)).collect();
    let mut b: Vec<Fr> = (0..rows).map(|_| fr_random(&mut rng)).collect();
    b[constraints..].fill(Fr::ZERO);
    let products: Vec<Fr> = a.iter().zip(&b).map(|(a, b)| *a * b).collect();
    let [on_a, on_b, on_c] = [&a, &b, &products].map(|rows| on_coset(&domain, rows));
    let quotient = (0..SIZE).map(|k| (k, on_a[k] * on_b[k] - on_c[k]));
    let expected = sum_of::<g1::Config>(&h_query, quotient);

    let (left, right) = (a.clone(), b.clone());
    a.resize(SIZE, Fr::ZERO);
    b.resize(SIZE, Fr::ZERO);
    domain.row_sums(&mut a);
    domain.row_sums(&mut b);
    let by_rows = (0..rows).map(|i| (i, left[i] * b[i] + right[i] * a[i]));
    let share = sum_of::<g1::Config>(&key.rows().lagrange, by_rows)
        + sum_of::<g1::Config>(
            &key.rows().squares,
            products[..constraints].iter().copied().enumerate(),
        );
    assert_eq!(share, expected);
}

/// Recomputes the vendored file, which takes seconds even with optimised arithmetic. To be run when the key or
/// the tables change.
#[test]
#[ignore = "takes half a minute of processor time; cargo xtask campaign --only tables"]
fn the_vendored_file_can_be_derived() {
    let key = Key::load().unwrap();
    let derived = derive_row_tables(crate::circuits::DEPLOYED).unwrap();
    let again = RowTables::parse(&derived, key.circuit().rows(), key.circuit().constraints);
    assert_eq!(again.as_ref(), Ok(key.rows()));
}
