//! Gas per operation, measured on a development chain and printed as a Markdown table.

use std::error::Error;

use alloy::primitives::U256;
use alloy::sol_types::SolCall;
use undertone_contracts::abi::TestToken;
use undertone_contracts::{
    Account, ContractTerms, DevChain, DevChainOptions, Membership, Mined, deploy,
};
use undertone_rln::{Fr, Identity};

/// Members registered before the measurement, so that the tree has some height.
const MEMBERS: u32 = 64;
const LIMIT: u32 = 20;

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), Box<dyn Error>> {
    let chain = DevChain::start(&DevChainOptions::default())?;
    let (holder, slasher) = (chain.account(0)?, chain.account(1)?);
    let terms = ContractTerms {
        min_rate_limit: LIMIT,
        ..ContractTerms::published()
    };
    let deployment = deploy(&holder, &terms).await?;
    let mint = deployment.mint(&holder, holder.address(), U256::from(u128::MAX));
    mint.await?;
    let approve = TestToken::approveCall {
        spender: deployment.membership,
        amount: U256::MAX,
    };
    let approved = holder.call(deployment.token, approve.abi_encode()).await?;
    let contract = Membership::new(chain.provider().clone(), deployment.membership);

    println!("| operation | gas |\n| --- | ---: |");
    println!("| deploy everything | {} |", deployment.gas_used);
    row("`approve` of the token", &approved);

    let mut registered = Vec::new();
    for name in 0..MEMBERS {
        registered.push(register(&contract, &holder, name, &[]).await?.gas_used);
    }
    println!("| `register`, the first of all | {} |", registered[0]);
    registered.sort_unstable();
    let (least, most) = (registered[1], registered[registered.len() - 2]);
    let median = registered[registered.len() / 2];
    println!("| `register`, median of {MEMBERS} (most: {most}, least: {least}) | {median} |");

    chain.advance(terms.active_s.into()).await?;
    row(
        "`extendMemberships` of one",
        &contract.extend(&holder, &ids(&[0])).await?,
    );
    row(
        "`eraseMemberships` of one, lazily",
        &contract.erase(&holder, &ids(&[1]), false).await?,
    );
    let five = contract
        .erase(&holder, &ids(&[2, 3, 4, 5, 6]), false)
        .await?;
    row("`eraseMemberships` of five, lazily", &five);
    row(
        "`eraseMemberships` of one and its leaf",
        &contract.erase(&holder, &ids(&[7]), true).await?,
    );
    let five = contract
        .erase(&holder, &ids(&[8, 9, 10, 11, 12]), true)
        .await?;
    row("`eraseMemberships` of five and their leaves", &five);
    row(
        "`withdraw`",
        &contract.withdraw(&holder, deployment.token).await?,
    );
    row(
        "`register` at an index used before",
        &register(&contract, &holder, 100, &[]).await?,
    );
    let both = register(&contract, &holder, 101, &[13]).await?;
    row("`register` with one to erase", &both);

    slash(&contract, &slasher, 20, "member").await?;
    contract.erase(&holder, &ids(&[21]), false).await?;
    slash(&contract, &slasher, 21, "lazily erased").await?;
    Ok(())
}

async fn register(
    contract: &Membership,
    holder: &Account,
    name: u32,
    erase: &[u32],
) -> Result<Mined, Box<dyn Error>> {
    let commitment = identity(name).commitment();
    let erase = ids(erase);
    Ok(contract
        .register(holder, &commitment, LIMIT, &erase)
        .await?
        .mined)
}

async fn slash(
    contract: &Membership,
    slasher: &Account,
    name: u32,
    what: &str,
) -> Result<(), Box<dyn Error>> {
    let (member, to) = (identity(name), slasher.address());
    let committed = contract.commit_slash(slasher, member.secret(), to).await?;
    row(&format!("`commitSlash` ({what})"), &committed);
    let slashed = contract.slash(slasher, member.secret(), to).await?;
    row(&format!("`slash` ({what})"), &slashed.mined);
    let claimed = contract.claim_reward(slasher, &member.commitment()).await?;
    row(&format!("`claimReward` ({what})"), &claimed);
    Ok(())
}

fn row(operation: &str, mined: &Mined) {
    println!("| {operation} | {} |", mined.gas_used);
}

fn identity(name: u32) -> Identity {
    Identity::from_seed(format!("gas {name}").as_bytes())
}

fn ids(names: &[u32]) -> Vec<Fr> {
    names
        .iter()
        .map(|name| identity(*name).commitment())
        .collect()
}
