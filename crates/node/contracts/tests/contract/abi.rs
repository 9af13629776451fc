//! Selectors and topics of the contract in use, as recorded from it.

use alloy::primitives::{B256, hex, keccak256};
use alloy::sol_types::{SolCall, SolEvent};
use undertone_contracts::abi::PriceCalculator;
use undertone_contracts::abi::RlnMembership::*;

#[test]
fn selectors_are_those_of_the_contract_in_use() {
    let recorded: [([u8; 4], [u8; 4]); 21] = [
        (registerCall::SELECTOR, hex!("6bfdc994")),
        (rootCall::SELECTOR, hex!("ebf0c717")),
        (getRecentRootsCall::SELECTOR, hex!("e63337c3")),
        (getRootAtCall::SELECTOR, hex!("f3ffa3d8")),
        (getMerkleProofCall::SELECTOR, hex!("00ffef23")),
        (nextFreeIndexCall::SELECTOR, hex!("d8826870")),
        (isInMembershipSetCall::SELECTOR, hex!("686bb1cc")),
        (getMembershipInfoCall::SELECTOR, hex!("3a7592f0")),
        (
            getRateCommitmentsInRangeBoundsInclusiveCall::SELECTOR,
            hex!("9379f1b5"),
        ),
        (maxMembershipRateLimitCall::SELECTOR, hex!("2058bfea")),
        (extendMembershipsCall::SELECTOR, hex!("075a94ea")),
        (eraseMemberships_0Call::SELECTOR, hex!("89232758")),
        (eraseMemberships_1Call::SELECTOR, hex!("9adeea0c")),
        (withdrawCall::SELECTOR, hex!("51cff8d9")),
        (deployedBlockNumberCall::SELECTOR, hex!("4add651e")),
        (priceCalculatorCall::SELECTOR, hex!("8b95e335")),
        (PriceCalculator::calculateCall::SELECTOR, hex!("c96ca02f")),
        // The rest is known by signature.
        (
            minMembershipRateLimitCall::SELECTOR,
            selector("minMembershipRateLimit()"),
        ),
        (
            maxTotalRateLimitCall::SELECTOR,
            selector("maxTotalRateLimit()"),
        ),
        (
            currentTotalRateLimitCall::SELECTOR,
            selector("currentTotalRateLimit()"),
        ),
        (membershipsCall::SELECTOR, selector("memberships(uint256)")),
    ];
    for (ours, theirs) in recorded {
        assert_eq!(hex::encode(ours), hex::encode(theirs));
    }
}

#[test]
fn other_functions_of_the_contract_in_use_are_there() {
    for signature in [
        "HISTORY_SIZE()",
        "MAX_MEMBERSHIP_SET_SIZE()",
        "MERKLE_TREE_DEPTH()",
        "Q()",
        "activeDurationForNewMemberships()",
        "depositsToWithdraw(address,address)",
        "gracePeriodDurationForNewMemberships()",
        "indicesOfLazilyErasedMemberships(uint256)",
        "initialize(address,uint32,uint32,uint32,uint32,uint32)",
        "isExpired(uint256)",
        "isInGracePeriod(uint256)",
        "isValidIdCommitment(uint256)",
        "isValidMembershipRateLimit(uint32)",
        "membershipExpirationTimestamp(uint256)",
        "merkleTree()",
        "owner()",
        "proxiableUUID()",
        "renounceOwnership()",
        "setActiveDuration(uint32)",
        "setGracePeriodDuration(uint32)",
        "setMaxMembershipRateLimit(uint32)",
        "setMaxTotalRateLimit(uint32)",
        "setMinMembershipRateLimit(uint32)",
        "setPriceCalculator(address)",
        "transferOwnership(address)",
        "upgradeTo(address)",
        "upgradeToAndCall(address,bytes)",
    ] {
        let selectors = RlnMembershipCalls::SELECTORS;
        assert!(selectors.contains(&selector(signature)), "{signature}");
    }
}

#[test]
fn topics_are_those_of_the_contract_in_use() {
    let recorded: [(B256, [u8; 32]); 5] = [
        (
            MembershipRegistered::SIGNATURE_HASH,
            hex!("09f1fd9af917aa77238ff2affbec28a0028188d74c0d4f974364cd383ce7090a"),
        ),
        (
            MembershipExpired::SIGNATURE_HASH,
            hex!("e7f720367f3df92dbd6ef76930600b114186a1897cf463da239e170fee16bc36"),
        ),
        (
            MembershipErased::SIGNATURE_HASH,
            hex!("118d98e5da8bd057839934009ba36e51bf96a0435536f97ebbcb0515aef8e663"),
        ),
        (
            MembershipExtended::SIGNATURE_HASH,
            hex!("07e66a422baf047875ab1c5c819029d4d606e40aed04544d906e7ced44cb6653"),
        ),
        (
            RootStored::SIGNATURE_HASH,
            hex!("db9f891ab8f2ac489678404eba9f461b43d50d2c6672200e0ce68c05b60efa54"),
        ),
    ];
    for (ours, theirs) in recorded {
        assert_eq!(ours, B256::from(theirs));
    }
}

#[test]
fn errors_of_the_contract_in_use_are_there() {
    for signature in [
        "InvalidIdCommitment(uint256)",
        "InvalidPaginationQuery(uint256,uint256)",
        "InvalidMembershipRateLimit()",
        "CannotExceedMaxTotalRateLimit()",
        "CannotExtendNonGracePeriodMembership(uint256)",
        "NonHolderCannotExtend(uint256)",
        "CannotEraseActiveMembership(uint256)",
        "NonHolderCannotEraseGracePeriodMembership(uint256)",
        "MembershipDoesNotExist(uint256)",
    ] {
        let selectors = RlnMembershipErrors::SELECTORS;
        assert!(selectors.contains(&selector(signature)), "{signature}");
    }
}

fn selector(signature: &str) -> [u8; 4] {
    let hash = keccak256(signature);
    [hash[0], hash[1], hash[2], hash[3]]
}
