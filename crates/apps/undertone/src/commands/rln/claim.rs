//! `undertone rln claim`: claims the reward for slashing a member.

use std::fmt;

use serde::Serialize;
use undertone_contracts::{Address, TxHash};
use undertone_rln::{Fr, fr_from_le};

use super::{Failure, element};
use crate::commands::{chain, output};

#[derive(clap::Args, Debug)]
pub(super) struct Args {
    #[command(flatten)]
    contract: chain::ContractArgs,
    #[command(flatten)]
    key: chain::KeyArgs,
    /// Commitment of the member that was slashed, as `undertone rln slash` prints it
    #[arg(long, value_name = "HEX")]
    commitment: String,
}

#[derive(Serialize)]
struct Claimed {
    commitment: String,
    receiver: Address,
    token: Address,
    reward: String,
    transaction: TxHash,
    block: u64,
}

pub(super) fn run(args: &Args, json: bool) -> Result<(), Failure> {
    let commitment = parse(&args.commitment)?;
    let account = args.contract.account(&args.key)?;
    let contract = args.contract.open()?;
    let (reward, mined) = chain::wait(async {
        let reward = contract.reward(&commitment).await?;
        // Without a reward, the contract reverts.
        let mined = contract.claim_reward(&account, &commitment).await?;
        Ok((reward, mined))
    })?;
    let Some(reward) = reward else {
        return Err(Failure::new("the reward was not there before it was paid")
            .with_help("look at the transaction: another endpoint may know more"));
    };
    let claimed = Claimed {
        commitment: element(&commitment),
        receiver: reward.receiver,
        token: reward.token,
        reward: reward.amount.to_string(),
        transaction: mined.hash,
        block: mined.block,
    };
    output::print(&claimed, json)
}

fn parse(text: &str) -> Result<Fr, Failure> {
    let mut bytes = [0; 32];
    let digits = text.strip_prefix("0x").unwrap_or(text);
    let is_hex = hex::decode_to_slice(digits, &mut bytes).is_ok();
    let element = is_hex.then(|| fr_from_le(&bytes).ok()).flatten();
    element.ok_or_else(|| {
        Failure::usage("--commitment is not a valid commitment")
            .with_help("it is 64 hex digits, little-endian, as `undertone rln slash` prints it")
    })
}

impl fmt::Display for Claimed {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        output::fields(
            f,
            &[
                ("slashed", &self.commitment),
                ("receiver", &self.receiver),
                ("token", &self.token),
                ("reward", &self.reward),
                ("paid by", &self.transaction),
                ("block", &self.block),
            ],
        )
    }
}
