//! Random operations on the contract and on the model of it.

use std::env;
use std::thread;

use alloy::primitives::U256;
use rand_chacha::ChaCha8Rng;
use rand_core::{RngCore, SeedableRng};
use serde_json::Value;
use undertone_contracts::abi::RlnMembership;
use undertone_contracts::{ChainError, Refusal, word_from_field};

use crate::ledger::Ledger;
use crate::model::{Model, No, Op, leaf};
use crate::world::{ACTIVE_S, GRACE_S, World, id, identity, ids, word};

/// Replays one run.
const SEED: &str = "UNDERTONE_CONTRACT_SEED";
/// How many operations a run has; 120 unless told otherwise.
const OPS: &str = "UNDERTONE_CONTRACT_OPS";
/// Few, so that operations meet the same members again and again.
const NAMES: u32 = 8;
const ACCOUNTS: u32 = 4;

#[tokio::test]
async fn random_operations_do_what_the_model_says() {
    let ops = env::var(OPS).map_or(120, |ops| ops.parse().expect(OPS));
    match env::var(SEED) {
        Ok(seed) => run(seed.parse().expect(SEED), ops).await,
        Err(_) => {
            for seed in 0..4 {
                run(seed, ops).await;
            }
        }
    }
}

/// Says how to run it again when it fails.
struct Replay {
    seed: u64,
    ops: u32,
}

impl Drop for Replay {
    fn drop(&mut self) {
        if thread::panicking() {
            let Self { seed, ops } = self;
            eprintln!(
                "replay: {SEED}={seed} {OPS}={ops} cargo test -p undertone-contracts --test contract fuzz"
            );
        }
    }
}

async fn run(seed: u64, ops: u32) {
    let _replay = Replay { seed, ops };
    let world = World::new().await;
    // Each block is one second after the one before.
    let interval = world
        .chain
        .request::<Value>("anvil_setBlockTimestampInterval", [1]);
    interval.await.unwrap();
    let (now_s, block) = world.now().await;
    let mut model = Model::new(now_s, block);
    let mut ledger = Ledger::default();
    let mut rng = ChaCha8Rng::seed_from_u64(seed);
    let (mut done, mut refused) = (0, 0);
    for step in 0..ops {
        let op = choose(&mut rng);
        let expected = model.apply(&op);
        let found = apply(&world, &op, &model).await;
        assert_eq!(found, expected, "seed {seed}, step {step}: {op:?}");
        match found {
            Ok(()) => done += 1,
            Err(_) => refused += 1,
        }
        let place = format!("seed {seed}, step {step}, after {op:?}");
        if found.is_ok() {
            ledger.note(&op, model.now_s);
        }
        let here = world.tokens(world.contract.address()).await;
        assert!(
            here >= ledger.locked(model.now_s),
            "{place}: paid out too soon or too much"
        );
        assert_eq!(world.now().await, (model.now_s, model.block), "{place}");
        assert_eq!(world.root().await, model.root(), "{place}");
        if step % 10 == 9 || step + 1 == ops {
            compare(&world, &model, &place).await;
        }
    }
    // Otherwise the choice of operations tests too little.
    assert!(
        done >= ops / 4 && refused >= ops / 8,
        "{done} done, {refused} refused"
    );
}

fn choose(rng: &mut ChaCha8Rng) -> Op {
    let mut below = |bound: u32| rng.next_u32() % bound;
    let who = below(ACCOUNTS) as usize;
    let name = below(NAMES);
    match below(22) {
        0..5 => {
            let limit = if below(10) == 0 {
                below(700)
            } else {
                20 + below(200)
            };
            let erase = if below(4) == 0 {
                vec![below(NAMES)]
            } else {
                Vec::new()
            };
            Op::Register {
                who,
                name,
                limit,
                erase,
            }
        }
        5..7 => Op::Extend { who, name },
        7..10 => {
            let mut names = vec![name];
            if below(3) == 0 {
                names.push(below(NAMES));
            }
            let clear = below(2) == 0;
            Op::Erase { who, names, clear }
        }
        10..12 => Op::Withdraw { who },
        12..14 => Op::Commit {
            who: who % 2,
            name,
            receiver: below(2) as usize,
        },
        14..16 => Op::Slash {
            who: who % 2,
            name,
            receiver: below(2) as usize,
        },
        16..18 => Op::Claim { who, name },
        18..21 => Op::Wait {
            seconds: match below(3) {
                0 => u64::from(ACTIVE_S),
                1 => u64::from(GRACE_S),
                _ => 1 + u64::from(below(ACTIVE_S)),
            },
        },
        _ => Op::Mine {
            blocks: 1 + u64::from(below(200)),
        },
    }
}

/// Does it on the chain; `model` has it done already.
async fn apply(world: &World, op: &Op, model: &Model) -> Result<(), No> {
    let contract = &world.contract;
    let done = match op {
        Op::Register {
            who,
            name,
            limit,
            erase,
        } => {
            let erase = ids(erase);
            let who = world.account(*who);
            contract
                .register(who, &id(*name), *limit, &erase)
                .await
                .map(drop)
        }
        Op::Extend { who, name } => {
            let names = ids(&[*name]);
            contract.extend(world.account(*who), &names).await.map(drop)
        }
        Op::Erase { who, names, clear } => world.erase(*who, names, *clear).await,
        Op::Withdraw { who } => {
            let token = world.deployment.token;
            contract
                .withdraw(world.account(*who), token)
                .await
                .map(drop)
        }
        Op::Commit {
            who,
            name,
            receiver,
        } => {
            let (who, to) = (world.account(*who), world.address(*receiver));
            let member = identity(*name);
            contract
                .commit_slash(who, member.secret(), to)
                .await
                .map(drop)
        }
        Op::Slash {
            who,
            name,
            receiver,
        } => {
            let to = world.address(*receiver);
            world.reveal(*who, *name, to).await.map(drop)
        }
        Op::Claim { who, name } => {
            let (who, name) = (world.account(*who), id(*name));
            contract.claim_reward(who, &name).await.map(drop)
        }
        Op::Wait { .. } => {
            let chain = &world.chain;
            let next = chain.request::<Value>("evm_setNextBlockTimestamp", [model.now_s]);
            next.await.unwrap();
            chain.mine(1).await
        }
        Op::Mine { blocks } => world.chain.mine(*blocks).await,
    };
    done.map_err(|error| reason(&error))
}

fn reason(error: &ChainError) -> No {
    match error.refusal() {
        Some(Refusal::Duplicate) => No::Duplicate,
        Some(Refusal::Slashed(_)) => No::Slashed,
        Some(Refusal::RateLimit) => No::RateLimit,
        Some(Refusal::TotalRateLimit) => No::Total,
        Some(Refusal::NotAMember(_)) => No::NotAMember,
        Some(Refusal::NotInGrace(_)) => No::NotInGrace,
        Some(Refusal::NotTheHolder(_)) => No::NotTheHolder,
        Some(Refusal::StillActive(_)) => No::Active,
        Some(Refusal::NoDeposit) => No::NothingFreed,
        Some(
            Refusal::WithdrawalTooEarly(_) | Refusal::SlashTooEarly(_) | Refusal::RewardTooEarly(_),
        ) => No::TooEarly,
        Some(Refusal::NoReward(_)) => No::Unrewarded,
        Some(Refusal::NotCommitted(_)) => No::NotCommitted,
        Some(Refusal::CommitmentExpired(_)) => No::Expired,
        _ => panic!("unforeseen: {error}"),
    }
}

async fn compare(world: &World, model: &Model, place: &str) {
    let recent = world.read(RlnMembership::getRecentRootsCall {}).await;
    assert_eq!(
        recent,
        [0, 1, 2, 3, 4].map(|at| word_from_field(&model.recent[at])),
        "{place}"
    );
    assert_eq!(
        world.total_rate_limit().await,
        U256::from(model.total()),
        "{place}"
    );
    let next = world.read(RlnMembership::nextFreeIndexCall {}).await;
    assert_eq!(next as usize, model.leaves.len(), "{place}");
    for (at, member) in model.leaves.iter().enumerate() {
        let found = world.leaf(at as u32).await;
        assert_eq!(found, word_from_field(&leaf(*member)), "{place}: leaf {at}");
    }
    for (at, index) in model.free.iter().enumerate() {
        let call = RlnMembership::indicesOfLazilyErasedMembershipsCall {
            position: U256::from(at),
        };
        assert_eq!(world.read(call).await, *index, "{place}: free index {at}");
    }
    let none = RlnMembership::indicesOfLazilyErasedMembershipsCall {
        position: U256::from(model.free.len()),
    };
    assert!(world.contract.read(none).await.is_err(), "{place}");
    for who in 0..4 {
        assert_eq!(
            world.credit(who).await,
            model.credit(who),
            "{place}: credit of {who}"
        );
        let tokens = world.tokens(world.address(who)).await;
        assert_eq!(tokens, model.wallets[who], "{place}: tokens of {who}");
    }
    let deposits = world.tokens(world.contract.address()).await;
    assert_eq!(deposits, model.deposits(), "{place}");
    let token = world.deployment.token;
    let burned = world
        .read(RlnMembership::burnedDepositsCall { token })
        .await;
    assert_eq!(burned, U256::from(model.burned), "{place}");
    for name in 0..NAMES {
        let info = world.contract.info(&id(name)).await.unwrap();
        let found = info.map(|i| (i.holder, i.rate_limit, i.index, i.grace_starts_s));
        let held = model.held.get(&name);
        let expected = held.map(|h| (world.address(h.holder), h.limit, h.index, h.grace_starts_s));
        assert_eq!(found, expected, "{place}: member {name}");
        let call = RlnMembership::isSlashedCall {
            idCommitment: word(name),
        };
        let slashed = world.read(call).await;
        assert_eq!(
            slashed,
            model.slashed.contains(&name),
            "{place}: member {name}"
        );
        let reward = world.contract.reward(&id(name)).await.unwrap();
        let found = reward.map(|r| (r.receiver, r.amount, r.payable_from_s));
        let expected = model.rewards.get(&name).map(|r| {
            let amount = U256::from(r.amount);
            (world.address(r.receiver), amount, r.payable_from_s)
        });
        assert_eq!(found, expected, "{place}: reward for {name}");
    }
}
