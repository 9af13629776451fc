use ark_ff::{AdditiveGroup, Zero};

use super::*;

fn values(seed: u64) -> Vec<Fr> {
    let mut value = Fr::from(seed);
    (0..SIZE)
        .map(|_| {
            value = value.square() + Fr::from(seed);
            value
        })
        .collect()
}

#[test]
fn backward_undoes_forward() {
    let domain = Domain::new();
    let before = values(3);
    let mut after = before.clone();
    domain.forward(&mut after);
    let sum: Fr = before.iter().sum();
    assert_eq!(after[0], sum);
    // Value 1 is at index 4096: 1 with its 13 bits reversed.
    let mut power = Fr::ONE;
    let mut expected = Fr::ZERO;
    for value in &before {
        expected += power * value;
        power *= domain.root;
    }
    assert_eq!(after[4096], expected);
    domain.backward(&mut after);
    let n = Fr::from(SIZE as u64);
    assert!(before.iter().zip(&after).all(|(a, b)| *a * n == *b));
}

#[test]
fn the_roots_are_what_they_are_called() {
    let domain = Domain::new();
    assert_eq!(domain.shift.square(), domain.root);
    assert_eq!(domain.shift.pow([SIZE as u64]), -Fr::ONE);
}

#[test]
fn row_sums_are_the_sums_of_the_definition() {
    let domain = Domain::new();
    let before = values(5);
    let mut after = before.clone();
    domain.row_sums(&mut after);
    let powers: Vec<Fr> = std::iter::successors(Some(Fr::ONE), |power| Some(*power * domain.root))
        .take(SIZE)
        .collect();
    let factor = -Fr::from(2) / Fr::from(SIZE as u64);
    for i in [0, 1, 2, 17, 4096, 5000, SIZE - 1] {
        let mut gaps: Vec<Fr> = powers.iter().map(|power| powers[i] - power).collect();
        ark_ff::batch_inversion(&mut gaps);
        assert!(gaps[i].is_zero());
        let sum: Fr = (0..SIZE).map(|j| before[j] * powers[j] * gaps[j]).sum();
        assert_eq!(after[i], factor * sum, "row {i}");
    }
}
