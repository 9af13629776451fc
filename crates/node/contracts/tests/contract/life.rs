//! The life of a membership: active, in grace, expired, erased, withdrawn.

use alloy::primitives::{Address, U256};
use alloy::sol_types::{SolCall, SolEvent};
use undertone_contracts::abi::RlnMembership;
use undertone_contracts::{ContractTerms, MembershipPhase, Refusal, word_from_field};
use undertone_rln::rate_commitment;

use crate::world::{ACTIVE_S, GRACE_S, PRICE, WEALTH, World, id, ids, refusal, word};

#[tokio::test]
async fn registering_takes_the_price_and_sets_the_leaf() {
    let world = World::new().await;
    let (token, price) = world.contract.price(30).await.unwrap();
    assert_eq!(token, world.deployment.token);
    assert_eq!(price, U256::from(30 * PRICE));

    assert_eq!(world.join_with(1, 30, &[]).await.unwrap(), 0);
    assert_eq!(world.join_with(2, 40, &[]).await.unwrap(), 1);

    assert_eq!(world.tokens(world.address(1)).await, WEALTH - 70 * PRICE);
    assert_eq!(world.tokens(world.contract.address()).await, 70 * PRICE);
    assert_eq!(world.total_rate_limit().await, U256::from(70));
    let leaf = word_from_field(&rate_commitment(id(2), 40));
    assert_eq!(world.leaf(1).await, leaf);
    let call = RlnMembership::getMembershipInfoCall {
        idCommitment: word(2),
    };
    let info = world.read(call).await;
    assert_eq!(
        (info.rateLimit, info.index, info.rateCommitment),
        (40, 1, leaf)
    );
    assert!(world.is_member(2).await);
    assert!(!world.is_member(3).await);

    let info = world.contract.info(&id(1)).await.unwrap().unwrap();
    assert_eq!(info.state, MembershipPhase::Active);
    assert_eq!(info.holder, world.address(1));
    assert_eq!(info.deposit, U256::from(30 * PRICE));
    assert_eq!(info.expires_s - info.grace_starts_s, u64::from(GRACE_S));
    assert_eq!(world.contract.info(&id(3)).await.unwrap(), None);
}

#[tokio::test]
async fn what_cannot_be_registered_is_refused_with_the_reason() {
    let world = World::new().await;
    world.join(1).await;
    assert_eq!(
        refusal(world.join_with(1, 20, &[]).await),
        Refusal::Duplicate
    );
    assert_eq!(
        refusal(world.join_with(2, 19, &[]).await),
        Refusal::RateLimit
    );
    assert_eq!(
        refusal(world.join_with(2, 601, &[]).await),
        Refusal::RateLimit
    );
    world.join_with(2, 600, &[]).await.unwrap();
    assert_eq!(
        refusal(world.join_with(3, 381, &[]).await),
        Refusal::TotalRateLimit
    );
    world.join_with(3, 380, &[]).await.unwrap();

    let order = world.read(RlnMembership::QCall {}).await;
    for bad in [U256::ZERO, order, U256::MAX] {
        let call = RlnMembership::registerCall {
            idCommitment: bad,
            rateLimit: 20,
            idCommitmentsToErase: Vec::new(),
        };
        let result = world
            .account(1)
            .call(world.contract.address(), call.abi_encode())
            .await;
        assert_eq!(refusal(result), Refusal::InvalidCommitment(bad));
    }
}

#[tokio::test]
async fn without_tokens_or_approval_nobody_registers() {
    let world = World::new().await;
    let poor = world.chain.account(5).unwrap();
    let join = world.contract.register(&poor, &id(1), 20, &[]).await;
    assert_eq!(refusal(join), Refusal::Allowance);
    world.contract.approve(&poor, 20).await.unwrap();
    let join = world.contract.register(&poor, &id(1), 20, &[]).await;
    assert_eq!(refusal(join), Refusal::Balance);
    let price = U256::from(20 * PRICE);
    let owner = world.account(0);
    world
        .deployment
        .mint(owner, poor.address(), price)
        .await
        .unwrap();
    world
        .contract
        .register(&poor, &id(1), 20, &[])
        .await
        .unwrap();
    assert_eq!(world.tokens(poor.address()).await, 0);
    let mint = world.deployment.mint(&poor, poor.address(), price).await;
    assert_eq!(refusal(mint), Refusal::NotTheOwner);
}

#[tokio::test]
async fn an_active_membership_is_neither_extended_nor_erased() {
    let world = World::new().await;
    world.join(1).await;
    let extended = world.contract.extend(world.account(1), &ids(&[1])).await;
    assert_eq!(refusal(extended), Refusal::NotInGrace(word(1)));
    let erased = world.erase(1, &[1], false).await;
    assert_eq!(refusal(erased), Refusal::StillActive(word(1)));
    let erased = world.erase(1, &[2], false).await;
    assert_eq!(refusal(erased), Refusal::NotAMember(word(2)));
}

#[tokio::test]
async fn in_grace_the_holder_extends_by_a_whole_term() {
    let world = World::new().await;
    world.join(1).await;
    let before = world.contract.info(&id(1)).await.unwrap().unwrap();
    world.advance(ACTIVE_S + 10).await;
    let info = world.contract.info(&id(1)).await.unwrap().unwrap();
    assert_eq!(info.state, MembershipPhase::Grace);
    assert!(
        world
            .read(RlnMembership::isInGracePeriodCall {
                idCommitment: word(1)
            })
            .await
    );

    let extended = world.contract.extend(world.account(2), &ids(&[1])).await;
    assert_eq!(refusal(extended), Refusal::NotTheHolder(word(1)));
    let erased = world.erase(2, &[1], false).await;
    assert_eq!(refusal(erased), Refusal::NotTheHolder(word(1)));

    let mined = world
        .contract
        .extend(world.account(1), &ids(&[1]))
        .await
        .unwrap();
    let after = world.contract.info(&id(1)).await.unwrap().unwrap();
    assert_eq!(after.state, MembershipPhase::Active);
    let term = u64::from(GRACE_S + ACTIVE_S);
    assert_eq!(after.grace_starts_s, before.grace_starts_s + term);
    let event = RlnMembership::MembershipExtended::decode_log(&mined.logs[0].inner).unwrap();
    assert_eq!(
        event.newGracePeriodStartTimestamp,
        U256::from(after.grace_starts_s)
    );
}

#[tokio::test]
async fn an_expired_member_stays_until_anyone_erases_it() {
    let world = World::new().await;
    let index = world.join(1).await;
    world.advance(ACTIVE_S + GRACE_S).await;
    let info = world.contract.info(&id(1)).await.unwrap().unwrap();
    assert_eq!(info.state, MembershipPhase::Expired);
    assert!(
        world
            .read(RlnMembership::isExpiredCall {
                idCommitment: word(1)
            })
            .await
    );
    assert!(world.is_member(1).await);
    let extended = world.contract.extend(world.account(1), &ids(&[1])).await;
    assert_eq!(refusal(extended), Refusal::NotInGrace(word(1)));

    let mined = world
        .contract
        .erase(world.account(2), &ids(&[1]), false)
        .await
        .unwrap();
    let topics: Vec<_> = mined
        .logs
        .iter()
        .filter_map(|log| log.topic0().copied())
        .collect();
    assert_eq!(
        topics,
        [
            RlnMembership::MembershipExpired::SIGNATURE_HASH,
            RlnMembership::MembershipErased::SIGNATURE_HASH
        ]
    );
    assert!(!world.is_member(1).await);
    assert_eq!(world.contract.info(&id(1)).await.unwrap(), None);
    assert_eq!(world.total_rate_limit().await, U256::ZERO);
    // The holder's, whoever erased it.
    assert_eq!(world.credit(1).await, 20 * PRICE);
    assert_eq!(world.credit(2).await, 0);
    assert_ne!(world.leaf(index).await, U256::ZERO);
}

#[tokio::test]
async fn a_lazily_erased_leaf_stays_until_its_index_is_taken_again_last_freed_first() {
    let world = World::new().await;
    for name in 0..4 {
        assert_eq!(world.join(name).await, name);
    }
    world.advance(ACTIVE_S).await;
    let root = world.root().await;
    world.erase(1, &[1, 3, 0], false).await.unwrap();
    assert_eq!(world.root().await, root);

    assert_eq!(world.join(10).await, 0);
    assert_eq!(world.join(11).await, 3);
    assert_eq!(
        world.leaf(3).await,
        word_from_field(&rate_commitment(id(11), 20))
    );
    assert_eq!(
        world.leaf(1).await,
        word_from_field(&rate_commitment(id(1), 20))
    );
    assert_eq!(world.join(12).await, 1);
    assert_eq!(world.join(13).await, 4);
    assert_eq!(world.read(RlnMembership::nextFreeIndexCall {}).await, 5);
}

#[tokio::test]
async fn erasing_from_the_set_clears_the_leaves_at_once() {
    let world = World::new().await;
    for name in 0..3 {
        world.join(name).await;
    }
    world.advance(ACTIVE_S).await;
    world.erase(1, &[0, 2], true).await.unwrap();
    assert_eq!(world.leaf(0).await, U256::ZERO);
    assert_ne!(world.leaf(1).await, U256::ZERO);
    assert_eq!(world.leaf(2).await, U256::ZERO);
}

#[tokio::test]
async fn one_commitment_never_has_two_leaves() {
    let world = World::new().await;
    for name in 0..2 {
        world.join(name).await;
    }
    world.advance(ACTIVE_S).await;
    // Index 1 is given away before index 0, where member 0 still has a leaf.
    world.erase(1, &[0, 1], false).await.unwrap();
    assert_eq!(world.join(0).await, 1);
    assert_eq!(world.leaf(0).await, U256::ZERO);
    assert_eq!(
        world.leaf(1).await,
        word_from_field(&rate_commitment(id(0), 20))
    );
}

#[tokio::test]
async fn naming_expired_members_makes_room_under_the_total() {
    let world = World::new().await;
    world.join_with(1, 600, &[]).await.unwrap();
    world.join_with(2, 400, &[]).await.unwrap();
    world.advance(ACTIVE_S + GRACE_S).await;
    assert_eq!(
        refusal(world.join_with(3, 20, &[]).await),
        Refusal::TotalRateLimit
    );
    assert_eq!(world.join_with(3, 600, &[1]).await.unwrap(), 0);
    assert_eq!(world.total_rate_limit().await, U256::from(1_000));
    assert_eq!(world.credit(1).await, 600 * PRICE);
}

#[tokio::test]
async fn a_deposit_is_withdrawn_once_and_not_in_the_block_of_the_erasure() {
    let world = World::new().await;
    let token = world.deployment.token;
    world.join(1).await;
    world.advance(ACTIVE_S).await;
    let withdraw = world.contract.withdraw(world.account(1), token).await;
    assert_eq!(refusal(withdraw), Refusal::NoDeposit);

    world.chain.set_automine(false).await.unwrap();
    let names = ids(&[1]);
    let erase = world.contract.erase(world.account(1), &names, false);
    let withdraw = world.contract.withdraw(world.account(1), token);
    // The second one is sent when the first one waits, so that their nonces differ.
    let (erased, withdrawn, ()) = tokio::join!(
        erase,
        async {
            world.await_pending(1).await;
            withdraw.await
        },
        async {
            world.await_pending(2).await;
            world.chain.mine(1).await.unwrap();
        }
    );
    let block = erased.unwrap().block;
    assert_eq!(
        refusal(withdrawn),
        Refusal::WithdrawalTooEarly(U256::from(block + 1))
    );
    world.chain.set_automine(true).await.unwrap();

    world
        .contract
        .withdraw(world.account(1), token)
        .await
        .unwrap();
    assert_eq!(world.tokens(world.address(1)).await, WEALTH);
    let again = world.contract.withdraw(world.account(1), token).await;
    assert_eq!(refusal(again), Refusal::NoDeposit);
    let ether = world
        .contract
        .withdraw(world.account(1), Address::ZERO)
        .await;
    assert!(matches!(refusal(ether), Refusal::Unknown(_)));
}

#[tokio::test]
async fn the_owner_changes_terms_for_new_members_only() {
    let world = World::new().await;
    let change = async |account: usize, input: Vec<u8>| {
        world
            .account(account)
            .call(world.contract.address(), input)
            .await
    };
    world.join(1).await;
    let call = RlnMembership::setActiveDurationCall { activeDuration: 5 };
    assert_eq!(
        refusal(change(1, call.abi_encode()).await),
        Refusal::NotTheOwner
    );
    change(0, call.abi_encode()).await.unwrap();
    world.join(2).await;
    world.advance(10).await;
    assert_eq!(
        world.contract.info(&id(1)).await.unwrap().unwrap().state,
        MembershipPhase::Active
    );
    assert_eq!(
        world.contract.info(&id(2)).await.unwrap().unwrap().state,
        MembershipPhase::Grace
    );

    let bad = [
        RlnMembership::setActiveDurationCall { activeDuration: 0 }.abi_encode(),
        RlnMembership::setMaxTotalRateLimitCall {
            maxTotalRateLimit: 599,
        }
        .abi_encode(),
        RlnMembership::setMaxMembershipRateLimitCall {
            maxMembershipRateLimit: 19,
        }
        .abi_encode(),
        RlnMembership::setMinMembershipRateLimitCall {
            minMembershipRateLimit: 0,
        }
        .abi_encode(),
        RlnMembership::setMinMembershipRateLimitCall {
            minMembershipRateLimit: 601,
        }
        .abi_encode(),
    ];
    for input in bad {
        assert_eq!(refusal(change(0, input).await), Refusal::InvalidTerms);
    }
}

#[tokio::test]
async fn the_published_terms_are_accepted_and_contradictory_ones_are_not() {
    let world = World::with(&ContractTerms::published()).await;
    assert_eq!(
        world.read(RlnMembership::maxTotalRateLimitCall {}).await,
        1_000_000
    );
    let (_, price) = world.contract.price(100).await.unwrap();
    assert_eq!(price, U256::from(5_000_000_000_000_000_000_u64));
    let contradictory = ContractTerms {
        min_rate_limit: 700,
        ..ContractTerms::published()
    };
    let deployed = undertone_contracts::deploy(world.account(0), &contradictory).await;
    assert_eq!(refusal(deployed), Refusal::InvalidTerms);
}
