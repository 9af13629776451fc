//! Slashing: members in every state, and everyone who might want to be quicker.

use alloy::primitives::{Address, U256};
use alloy::sol_types::SolCall;
use undertone_contracts::abi::RlnMembership;
use undertone_contracts::{ChainError, ContractTerms, Mined, Refusal, Slashed};
use undertone_rln::{Fr, recover_secret};

use crate::world::{
    ACTIVE_S, GRACE_S, PRICE, WEALTH, World, id, identity, ids, refusal, reward_of, word,
};

/// Account 2 slashes member `name` for its own benefit.
async fn slash(world: &World, name: u32) -> Result<Slashed, ChainError> {
    let (slasher, identity) = (world.account(2), identity(name));
    let receiver = slasher.address();
    world
        .contract
        .commit_slash(slasher, identity.secret(), receiver)
        .await
        .unwrap();
    world
        .contract
        .slash(slasher, identity.secret(), receiver)
        .await
}

/// Account 3, whom it does not concern, has the reward for slashing member `name` paid.
async fn claim(world: &World, name: u32) -> Result<Mined, ChainError> {
    world
        .contract
        .claim_reward(world.account(3), &id(name))
        .await
}

async fn is_slashed(world: &World, name: u32) -> bool {
    let call = RlnMembership::isSlashedCall {
        idCommitment: word(name),
    };
    world.read(call).await
}

#[tokio::test]
async fn two_messages_too_many_cost_the_membership_and_the_deposit() {
    let world = World::new().await;
    world.join(1).await;
    let index = world.join_with(2, 50, &[]).await.unwrap();
    world.join(3).await;

    // Two points of the line through the secret, as two messages with one message id show them.
    let member = identity(2);
    let slope = Fr::from(123_456_u64);
    let point = |x: u64| (Fr::from(x), *member.secret() + slope * Fr::from(x));
    let secret = recover_secret(point(5), point(9)).unwrap();

    let slasher = world.account(2);
    let receiver = Address::repeat_byte(0xab);
    world
        .contract
        .commit_slash(slasher, &secret, receiver)
        .await
        .unwrap();
    let slashed = world
        .contract
        .slash(slasher, &secret, receiver)
        .await
        .unwrap();
    assert_eq!(
        (slashed.index, slashed.reward),
        (index, U256::from(reward_of(50 * PRICE)))
    );
    assert_eq!(slashed.burned + slashed.reward, U256::from(50 * PRICE));
    assert_eq!(world.leaf(index).await, U256::ZERO);
    assert_eq!(world.total_rate_limit().await, U256::from(40));
    assert!(!world.is_member(2).await);
    assert!(is_slashed(&world, 2).await);
    assert_eq!(world.credit(1).await, 0);

    // The index is free, the commitment is not.
    assert_eq!(
        refusal(world.join_with(2, 20, &[]).await),
        Refusal::Slashed(word(2))
    );
    assert_eq!(world.join(4).await, index);
    assert_eq!(refusal(slash(&world, 2).await), Refusal::Slashed(word(2)));

    // The reward is there when the member could have left.
    let from = U256::from(slashed.payable_from_s);
    let refused = refusal(claim(&world, 2).await);
    assert_eq!(refused, Refusal::RewardTooEarly(from));
    let (now_s, _) = world.now().await;
    world.advance((slashed.payable_from_s - now_s) as u32).await;
    claim(&world, 2).await.unwrap();
    assert_eq!(world.tokens(receiver).await, reward_of(50 * PRICE));
    assert_eq!(refusal(claim(&world, 2).await), Refusal::NoReward(word(2)));
    assert_eq!(refusal(claim(&world, 4).await), Refusal::NoReward(word(4)));
}

/// The tokens for one deposit, and the wish to publish more than it pays for.
#[tokio::test]
async fn one_deposit_carries_one_identity_and_slashing_oneself_loses_a_share() {
    let world = World::new().await;
    let (poor, owner) = (world.chain.account(5).unwrap(), world.account(0));
    let (me, price) = (poor.address(), 600 * PRICE);
    let mint = world.deployment.mint(owner, me, U256::from(price));
    mint.await.unwrap();
    world.contract.approve(&poor, u32::MAX).await.unwrap();
    let mut carried = 0;
    for name in 1..5 {
        let joined = world.contract.register(&poor, &id(name), 600, &[]).await;
        if joined.is_err() {
            break;
        }
        carried += 1;
        let secret = *identity(name).secret();
        world
            .contract
            .commit_slash(&poor, &secret, me)
            .await
            .unwrap();
        world.contract.slash(&poor, &secret, me).await.unwrap();
        assert!(matches!(
            refusal(claim(&world, name).await),
            Refusal::RewardTooEarly(_)
        ));
    }
    assert_eq!((carried, world.tokens(me).await), (1, 0));

    world.advance(ACTIVE_S).await;
    claim(&world, 1).await.unwrap();
    let left = world.tokens(me).await;
    assert_eq!(left, reward_of(price));
    assert!(left < price, "leaving would have given all of it back");
    let again = world.contract.register(&poor, &id(5), 600, &[]).await;
    assert_eq!(refusal(again), Refusal::Balance);
}

#[tokio::test]
async fn the_burned_share_has_bounds_and_is_rounded_up() {
    for slash_burn_bps in [999, 9_001] {
        let world = World::new().await;
        let terms = ContractTerms {
            slash_burn_bps,
            ..crate::world::terms()
        };
        let deployed = undertone_contracts::deploy(world.account(0), &terms).await;
        assert_eq!(refusal(deployed), Refusal::InvalidTerms);
    }
    for slash_burn_bps in [1_000, 9_000] {
        let world = World::with(&ContractTerms {
            slash_burn_bps,
            min_rate_limit: 1,
            price_per_message: U256::from(1),
            ..crate::world::terms()
        })
        .await;
        world.join_with(1, 1, &[]).await.unwrap();
        let slashed = slash(&world, 1).await.unwrap();
        assert_eq!(
            (slashed.burned, slashed.reward),
            (U256::from(1), U256::ZERO)
        );
        world.join_with(2, 10, &[]).await.unwrap();
        let slashed = slash(&world, 2).await.unwrap();
        let burned = U256::from(slash_burn_bps / 1_000);
        assert_eq!(
            (slashed.burned, slashed.reward),
            (burned, U256::from(10) - burned)
        );
    }
}

#[tokio::test]
async fn in_grace_and_expired_the_deposit_goes_the_same_way() {
    let world = World::new().await;
    world.join(1).await;
    world.join(2).await;
    world.advance(ACTIVE_S).await;
    assert_eq!(
        slash(&world, 1).await.unwrap().reward,
        U256::from(reward_of(20 * PRICE))
    );
    claim(&world, 1).await.unwrap();
    world.advance(GRACE_S).await;
    assert_eq!(
        slash(&world, 2).await.unwrap().reward,
        U256::from(reward_of(20 * PRICE))
    );
    claim(&world, 2).await.unwrap();
    let expected = WEALTH + 2 * reward_of(20 * PRICE);
    assert_eq!(world.tokens(world.address(2)).await, expected);
    assert_eq!(world.total_rate_limit().await, U256::ZERO);
    let erased = world.erase(1, &[2], false).await;
    assert_eq!(refusal(erased), Refusal::NotAMember(word(2)));
}

#[tokio::test]
async fn a_lazily_erased_member_loses_its_leaf_and_a_deposit_not_yet_withdrawn() {
    let world = World::new().await;
    world.join(1).await;
    let index = world.join(2).await;
    world.advance(ACTIVE_S).await;
    world.erase(1, &[2, 1], false).await.unwrap();
    assert_ne!(world.leaf(index).await, U256::ZERO);
    assert_eq!(world.credit(1).await, 40 * PRICE);

    assert_eq!(
        slash(&world, 2).await.unwrap().reward,
        U256::from(reward_of(20 * PRICE))
    );
    claim(&world, 2).await.unwrap();
    assert_eq!(world.leaf(index).await, U256::ZERO);
    assert_eq!(world.credit(1).await, 20 * PRICE);
    // The index was free before; it is not free twice.
    assert_eq!(world.join(3).await, 0);
    assert_eq!(world.join(4).await, index);
    assert_eq!(world.join(5).await, 2);
}

#[tokio::test]
async fn a_deposit_that_was_withdrawn_is_not_taken_from_another_membership() {
    let world = World::new().await;
    let index = world.join(1).await;
    world.join(2).await;
    world.advance(ACTIVE_S).await;
    world.erase(1, &[1], false).await.unwrap();
    world
        .contract
        .withdraw(world.account(1), world.deployment.token)
        .await
        .unwrap();
    world.erase(1, &[2], false).await.unwrap();

    assert_eq!(slash(&world, 1).await.unwrap().reward, U256::ZERO);
    assert_eq!(refusal(claim(&world, 1).await), Refusal::NoReward(word(1)));
    assert_eq!(world.leaf(index).await, U256::ZERO);
    assert_eq!(world.credit(1).await, 20 * PRICE);
    assert_eq!(
        refusal(world.join_with(1, 20, &[]).await),
        Refusal::Slashed(word(1))
    );
}

#[tokio::test]
async fn slashing_an_erased_member_leaves_the_next_one_at_its_index_alone() {
    let world = World::new().await;
    let index = world.join(1).await;
    world.advance(ACTIVE_S + GRACE_S).await;
    assert_eq!(world.join_with(2, 20, &[1]).await.unwrap(), index);
    let root = world.root().await;
    assert_eq!(
        slash(&world, 1).await.unwrap().reward,
        U256::from(reward_of(20 * PRICE))
    );
    assert_eq!(world.root().await, root);
    assert!(world.is_member(2).await);
    assert!(is_slashed(&world, 1).await);
}

#[tokio::test]
async fn strangers_and_numbers_that_are_no_secrets_cannot_be_slashed() {
    let world = World::new().await;
    assert_eq!(
        refusal(slash(&world, 1).await),
        Refusal::NotAMember(word(1))
    );
    world.join(1).await;
    let slasher = world.account(2);
    let zero = Fr::from(0_u64);
    let me = slasher.address();
    world
        .contract
        .commit_slash(slasher, &zero, me)
        .await
        .unwrap();
    let slashed = world.contract.slash(slasher, &zero, me).await;
    assert_eq!(refusal(slashed), Refusal::InvalidSecret);

    let (member, nobody) = (identity(1), Address::ZERO);
    let secret = member.secret();
    world
        .contract
        .commit_slash(slasher, secret, nobody)
        .await
        .unwrap();
    let slashed = world.contract.slash(slasher, secret, nobody).await;
    assert_eq!(refusal(slashed), Refusal::InvalidReceiver);
}

#[tokio::test]
async fn a_copied_secret_is_worth_nothing_without_an_earlier_commitment() {
    let world = World::new().await;
    world.join(1).await;
    let (honest, thief) = (world.account(2), world.account(3));
    let member = identity(1);
    let secret = member.secret();
    world
        .contract
        .commit_slash(honest, secret, honest.address())
        .await
        .unwrap();

    // Copies the second transaction, as it is and for itself.
    for receiver in [honest.address(), thief.address()] {
        let stolen = world.contract.slash(thief, secret, receiver).await;
        assert!(matches!(refusal(stolen), Refusal::NotCommitted(_)));
    }
    // Copies the first one: the hash holds the honest sender's address.
    let commitment = undertone_contracts::membership::slash_commitment(
        secret,
        honest.address(),
        honest.address(),
    );
    let call = RlnMembership::commitSlashCall { commitment };
    let contract = world.contract.address();
    thief.call(contract, call.abi_encode()).await.unwrap();
    let stolen = world.contract.slash(thief, secret, honest.address()).await;
    assert!(matches!(refusal(stolen), Refusal::NotCommitted(_)));
    // The honest one cannot be made to pay somebody else either.
    let diverted = world.contract.slash(honest, secret, thief.address()).await;
    assert!(matches!(refusal(diverted), Refusal::NotCommitted(_)));

    world
        .contract
        .slash(honest, secret, honest.address())
        .await
        .unwrap();
}

#[tokio::test]
async fn in_the_block_of_the_reveal_a_thief_is_too_early() {
    let world = World::new().await;
    world.join(1).await;
    let (honest, thief) = (world.account(2), world.account(3));
    let member = identity(1);
    let secret = member.secret();
    world
        .contract
        .commit_slash(honest, secret, honest.address())
        .await
        .unwrap();

    // The thief sees the reveal wait, and gets both of its own transactions before it.
    world.chain.set_automine(false).await.unwrap();
    let (committed, stolen, slashed, ()) = tokio::join!(
        world.contract.commit_slash(thief, secret, thief.address()),
        async {
            world.await_pending(1).await;
            world.reveal(3, 1, thief.address()).await
        },
        async {
            world.await_pending(2).await;
            world.reveal(2, 1, honest.address()).await
        },
        async {
            world.await_pending(3).await;
            world.chain.mine(1).await.unwrap();
        }
    );
    let block = committed.unwrap().block;
    assert_eq!(slashed.unwrap().block, block);
    assert!(matches!(
        refusal(stolen),
        Refusal::SlashTooEarly(first) if first == U256::from(block + 1)
    ));
}

#[tokio::test]
async fn a_commitment_counts_for_a_while_and_once() {
    let world = World::new().await;
    world.join(1).await;
    let slasher = world.account(2);
    let (member, me) = (identity(1), slasher.address());
    let secret = member.secret();
    let committed = world
        .contract
        .commit_slash(slasher, secret, me)
        .await
        .unwrap();
    world.chain.mine(256).await.unwrap();
    let late = world.contract.slash(slasher, secret, me).await;
    let last = U256::from(committed.block + 256);
    assert_eq!(refusal(late), Refusal::CommitmentExpired(last));

    world
        .contract
        .commit_slash(slasher, secret, me)
        .await
        .unwrap();
    world.chain.mine(255).await.unwrap();
    world.contract.slash(slasher, secret, me).await.unwrap();
    let again = world.contract.slash(slasher, secret, me).await;
    assert!(matches!(refusal(again), Refusal::NotCommitted(_)));
}

#[tokio::test]
async fn a_member_that_sees_its_secret_cannot_get_away_with_the_deposit() {
    let world = World::new().await;
    world.join(1).await;
    world.advance(ACTIVE_S).await;
    let slasher = world.account(2);
    let (member, me) = (identity(1), slasher.address());
    let secret = member.secret();
    world
        .contract
        .commit_slash(slasher, secret, me)
        .await
        .unwrap();

    world.chain.set_automine(false).await.unwrap();
    let names = ids(&[1]);
    let token = world.deployment.token;
    let (erased, withdrawn, slashed, ()) = tokio::join!(
        world.contract.erase(world.account(1), &names, false),
        async {
            world.await_pending(1).await;
            let withdrawn = world.contract.withdraw(world.account(1), token).await;
            // It is refused in the block, so it was sent.
            assert!(
                !matches!(withdrawn, Err(ChainError::Rpc { .. })),
                "{withdrawn:?}"
            );
            withdrawn
        },
        async {
            world.await_pending(2).await;
            world.reveal(2, 1, me).await
        },
        async {
            world.await_pending(3).await;
            world.chain.mine(1).await.unwrap();
        }
    );
    let slashed = slashed.unwrap();
    assert_eq!(erased.unwrap().block, slashed.block);
    assert!(withdrawn.is_err());
    world.chain.set_automine(true).await.unwrap();
    claim(&world, 1).await.unwrap();
    assert_eq!(world.tokens(me).await, WEALTH + reward_of(20 * PRICE));
    assert_eq!(world.credit(1).await, 0);
    assert_eq!(world.contract.info(&id(1)).await.unwrap(), None);
}
