use alloy::hex;
use alloy::sol_types::SolCall;

use super::*;

/// Selectors and topics are those of the contract in use.
#[test]
fn the_reference_abi() {
    let selectors = [
        (rootCall::SELECTOR, "ebf0c717"),
        (getRecentRootsCall::SELECTOR, "e63337c3"),
        (getMerkleProofCall::SELECTOR, "00ffef23"),
        (nextFreeIndexCall::SELECTOR, "d8826870"),
        (getMembershipInfoCall::SELECTOR, "3a7592f0"),
        (isInMembershipSetCall::SELECTOR, "686bb1cc"),
        (
            getRateCommitmentsInRangeBoundsInclusiveCall::SELECTOR,
            "9379f1b5",
        ),
        (deployedBlockNumberCall::SELECTOR, "4add651e"),
    ];
    for (selector, expected) in selectors {
        assert_eq!(hex::encode(selector), expected);
    }
    let topics = [
        (
            CHANGES[0],
            "09f1fd9af917aa77238ff2affbec28a0028188d74c0d4f974364cd383ce7090a",
        ),
        (
            CHANGES[1],
            "118d98e5da8bd057839934009ba36e51bf96a0435536f97ebbcb0515aef8e663",
        ),
        (
            ROOT,
            "db9f891ab8f2ac489678404eba9f461b43d50d2c6672200e0ce68c05b60efa54",
        ),
    ];
    for (topic, expected) in topics {
        assert_eq!(hex::encode(topic), expected);
    }
}

fn word(last: u8) -> [u8; 32] {
    let mut word = [0; 32];
    word[31] = last;
    word
}

#[test]
fn a_registration() {
    let data = [word(7), word(20), word(3)].concat();
    let expected = EventKind::Registered {
        commitment: Fr::from(7),
        limit: 20,
        index: MemberIndex::new(3).unwrap(),
    };
    assert_eq!(event(&[CHANGES[0]], &data), Some(expected));
}

/// An endpoint can send anything; data that does not fit is not an event.
#[test]
fn what_does_not_fit_is_refused() {
    let fits = [word(7), word(20), word(3)];
    assert!(event(&[CHANGES[0]], &fits.concat()).is_some());
    assert_eq!(event(&[CHANGES[0]], &fits.concat()[..95]), None, "short");
    assert_eq!(event(&[CHANGES[0]; 2], &fits.concat()), None, "indexed");
    assert_eq!(event(&[], &fits.concat()), None, "anonymous");
    let foreign = [[0xff; 32], word(20), word(3)].concat();
    assert_eq!(event(&[CHANGES[0]], &foreign), None, "not in the field");
    let outside = [word(7), word(20), [1; 32]].concat();
    assert_eq!(event(&[CHANGES[0]], &outside), None, "index over 2^32");
    let mut index = word(0);
    index[29] = 0x10;
    let outside = [word(7), word(20), index].concat();
    assert_eq!(event(&[CHANGES[0]], &outside), None, "index 2^20");
    let limit = [word(7), [1; 32], word(3)].concat();
    assert_eq!(event(&[CHANGES[0]], &limit), None, "limit over 2^32");
}
