use std::str::FromStr;

use super::*;

fn decimal(digits: &str) -> Fr {
    Fr::from_str(digits).unwrap()
}

/// The values of circomlib's own test suite.
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
