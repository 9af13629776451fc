use std::str::FromStr;

use ark_ff::{AdditiveGroup, Field, PrimeField};
use proptest::prelude::*;
use rln::hashers::PoseidonHash;
use zerokit_utils::hasher::ZerokitHasher;

use super::*;

fn decimal(digits: &str) -> Fr {
    Fr::from_str(digits).unwrap()
}

/// Test vectors of circomlib's own test suite.
#[test]
fn circomlib_vectors() {
    let [one, two, three] = [1u64, 2, 3].map(Fr::from);
    assert_eq!(
        poseidon(&[one]),
        decimal("18586133768512220936620570745912940619677854269274689475585506675881198879027")
    );
    assert_eq!(
        poseidon(&[one, two]),
        decimal("7853200120776062878684798364095072458815029376092732009249414926327459813530")
    );
    assert_eq!(
        poseidon(&[one, two, three]),
        decimal("6542985608222806190361240322586112750744169038454362455181422643027100751666")
    );
}

/// Random element over the whole range of the field.
fn element() -> impl Strategy<Value = Fr> {
    any::<[u8; 32]>().prop_map(|bytes| Fr::from_le_bytes_mod_order(&bytes))
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn equals_zerokit(a in element(), b in element(), c in element()) {
        prop_assert_eq!(poseidon(&[a]), PoseidonHash::hash(&[a]));
        prop_assert_eq!(poseidon(&[a, b]), PoseidonHash::hash(&[a, b]));
        prop_assert_eq!(poseidon(&[a, b, c]), PoseidonHash::hash(&[a, b, c]));
    }
}

#[test]
fn extreme_elements() {
    for extreme in [Fr::ZERO, -Fr::ONE, Fr::ONE] {
        assert_eq!(poseidon(&[extreme; 2]), PoseidonHash::hash(&[extreme; 2]));
        assert_eq!(poseidon(&[extreme; 3]), PoseidonHash::hash(&[extreme; 3]));
    }
}
