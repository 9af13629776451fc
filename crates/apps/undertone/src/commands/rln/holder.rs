//! `undertone rln extend`, `erase` and `withdraw`: actions of a membership's holder on a chain.

use std::fmt;
use std::path::PathBuf;

use serde::Serialize;
use undertone_contracts::{Account, Address, Membership, Mined, TxHash};
use undertone_rln::{Fr, IdentityFile};

use super::Failure;
use crate::commands::{chain, output};

/// Membership on a chain and the account that signs.
#[derive(clap::Args, Debug)]
pub(super) struct Member {
    #[command(flatten)]
    contract: chain::ContractArgs,
    #[command(flatten)]
    key: chain::KeyArgs,
    /// File of the identity, from `undertone rln keygen`
    #[arg(long, value_name = "FILE")]
    identity: PathBuf,
}

#[derive(clap::Args, Debug)]
pub(super) struct Erase {
    #[command(flatten)]
    member: Member,
    /// Keep the leaf in the tree: costs less gas, but the member can make proofs until its index is reused
    #[arg(long)]
    lazily: bool,
}

#[derive(clap::Args, Debug)]
pub(super) struct Withdraw {
    #[command(flatten)]
    contract: chain::ContractArgs,
    #[command(flatten)]
    key: chain::KeyArgs,
    /// Token of the deposit [default: the one in which the contract's price is now]
    #[arg(long, value_name = "ADDRESS")]
    token: Option<Address>,
}

#[derive(Serialize)]
struct Done {
    done: &'static str,
    transaction: TxHash,
    block: u64,
    gas_used: u64,
}

pub(super) fn extend(args: &Member, json: bool) -> Result<(), Failure> {
    let (contract, account, commitment) = args.open()?;
    let mined = chain::wait(contract.extend(&account, &[commitment]))?;
    print("extended", &mined, json)
}

pub(super) fn erase(args: &Erase, json: bool) -> Result<(), Failure> {
    let (contract, account, commitment) = args.member.open()?;
    let mined = chain::wait(contract.erase(&account, &[commitment], !args.lazily))?;
    print("erased", &mined, json)
}

pub(super) fn withdraw(args: &Withdraw, json: bool) -> Result<(), Failure> {
    let contract = args.contract.open()?;
    let account = args.contract.account(&args.key)?;
    let mined = chain::wait(async {
        let token = match args.token {
            Some(token) => token,
            None => contract.price(1).await?.0,
        };
        contract.withdraw(&account, token).await
    })?;
    print("withdrawn", &mined, json)
}

impl Member {
    fn open(&self) -> Result<(Membership, Account, Fr), Failure> {
        let identity = IdentityFile::read(&self.identity);
        let identity = identity.map_err(|error| Failure::new(error.to_string()))?;
        let account = self.contract.account(&self.key)?;
        Ok((self.contract.open()?, account, identity.commitment()))
    }
}

fn print(done: &'static str, mined: &Mined, json: bool) -> Result<(), Failure> {
    let done = Done {
        done,
        transaction: mined.hash,
        block: mined.block,
        gas_used: mined.gas_used,
    };
    output::print(&done, json)
}

impl fmt::Display for Done {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        output::fields(
            f,
            &[
                ("done", &self.done),
                ("transaction", &self.transaction),
                ("block", &self.block),
                ("gas used", &self.gas_used),
            ],
        )
    }
}
