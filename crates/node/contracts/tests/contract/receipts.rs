//! Logs of a registration, in the order in which clients of the contract in use look for them.

use alloy::primitives::{B256, U256, keccak256};
use alloy::sol_types::{SolCall, SolEvent};
use undertone_contracts::abi::RlnMembership::{
    LeafCleared, MembershipErased, MembershipExpired, MembershipRegistered, RootStored,
};
use undertone_contracts::abi::TestToken;
use undertone_contracts::{Mined, Registered};

use crate::world::{ACTIVE_S, GRACE_S, PRICE, World, id, ids, word};

/// Where nwaku up to 0.37 looks for `MembershipRegistered` in a receipt, whatever else is in it.
const THIRD: usize = 2;

fn approval() -> B256 {
    keccak256("Approval(address,address,uint256)")
}

fn transfer() -> B256 {
    keccak256("Transfer(address,address,uint256)")
}

fn topics(mined: &Mined) -> Vec<B256> {
    let topics = mined.logs.iter().map(|log| log.topic0().copied());
    topics.map(Option::unwrap).collect()
}

/// Account 1 lets the contract take exactly the price of 20 messages, and registers member `name`.
async fn join_as_clients_do(world: &World, name: u32, erase: &[u32]) -> Registered {
    let account = world.account(1);
    let approve = TestToken::approveCall {
        spender: world.deployment.membership,
        amount: U256::from(20 * PRICE),
    };
    let approved = account.call(world.deployment.token, approve.abi_encode());
    approved.await.unwrap();
    let joined = world
        .contract
        .register(account, &id(name), 20, &ids(erase))
        .await;
    joined.unwrap()
}

#[tokio::test]
async fn the_third_log_of_a_registration_says_who_became_a_member_where() {
    let world = World::new().await;
    for name in 0..3 {
        let registered = join_as_clients_do(&world, name, &[]).await;
        let expected = [
            approval(),
            transfer(),
            MembershipRegistered::SIGNATURE_HASH,
            RootStored::SIGNATURE_HASH,
        ];
        assert_eq!(topics(&registered.mined), expected);
        let third = &registered.mined.logs[THIRD];
        assert_eq!(third.address(), world.contract.address());
        // The third word is the index: that is all that a client reads.
        let index = U256::from_be_slice(&third.data().data[64..96]);
        assert_eq!(index, U256::from(name));
        assert_eq!(U256::from_be_slice(&third.data().data[..32]), word(name));
        assert_eq!(registered.index, name);
    }
}

#[tokio::test]
async fn with_an_unlimited_allowance_it_is_the_second_and_our_client_finds_it_all_the_same() {
    // Accounts of this world have approved the greatest number there is.
    let world = World::new().await;
    for name in 0..2 {
        let account = world.account(1);
        let registered = world.contract.register(account, &id(name), 20, &[]).await;
        let registered = registered.unwrap();
        let expected = [
            transfer(),
            MembershipRegistered::SIGNATURE_HASH,
            RootStored::SIGNATURE_HASH,
        ];
        assert_eq!(topics(&registered.mined), expected);
        assert_eq!(registered.index, name);
    }
}

#[tokio::test]
async fn what_a_registration_erases_is_told_before_and_what_it_clears_after() {
    let world = World::new().await;
    for name in 0..3 {
        world.join(name).await;
    }
    world.advance(ACTIVE_S + GRACE_S).await;
    let registered = join_as_clients_do(&world, 10, &[0]).await;
    let expected = [
        MembershipExpired::SIGNATURE_HASH,
        MembershipErased::SIGNATURE_HASH,
        approval(),
        transfer(),
        MembershipRegistered::SIGNATURE_HASH,
        RootStored::SIGNATURE_HASH,
    ];
    assert_eq!(topics(&registered.mined), expected);
    assert_eq!(registered.index, 0);

    // Member 1 comes back at the index of member 2, and its old leaf goes.
    world.erase(1, &[1, 2], false).await.unwrap();
    let registered = join_as_clients_do(&world, 1, &[]).await;
    let expected = [
        approval(),
        transfer(),
        MembershipRegistered::SIGNATURE_HASH,
        LeafCleared::SIGNATURE_HASH,
        RootStored::SIGNATURE_HASH,
    ];
    assert_eq!(topics(&registered.mined), expected);
    assert_eq!(registered.index, 2);
}
