use alloy::primitives::{Bytes, U256};
use alloy::sol_types::{Revert, SolError};

use super::Refusal;
use crate::abi::RlnMembership::CannotEraseActiveMembership;

#[test]
fn errors_with_a_name_of_their_own_are_decoded() {
    let error = CannotEraseActiveMembership {
        idCommitment: U256::from(7),
    };
    let refusal = Refusal::decode(&error.abi_encode().into());
    assert_eq!(refusal, Refusal::StillActive(U256::from(7)));
}

#[test]
fn errors_that_are_text_are_decoded() {
    let text = "Duplicate idCommitment: membership already exists";
    let data = Revert::from(text).abi_encode();
    assert_eq!(Refusal::decode(&data.into()), Refusal::Duplicate);
}

#[test]
fn what_is_not_understood_is_shown_as_it_came() {
    for data in [
        Bytes::new(),
        Bytes::from_static(&[1, 2, 3]),
        Bytes::from_static(&[0xde, 0xad, 0xbe, 0xef, 0]),
        Revert::from("something else").abi_encode().into(),
    ] {
        assert_eq!(Refusal::decode(&data), Refusal::Unknown(data));
    }
}
