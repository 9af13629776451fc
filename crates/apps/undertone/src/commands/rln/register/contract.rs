//! `undertone rln register --contract`: shows the price, asks, approves the payment and registers.

use std::fmt;
use std::io::{self, BufRead, BufReader, Read, Write};

use serde::Serialize;
use undertone_contracts::abi::RlnMembership;
use undertone_contracts::{Address, TxHash, U256};
use undertone_rln::Fr;

use super::Args;
use crate::commands::rln::element;
use crate::commands::{Failure, chain, output};

/// Maximum length of the user's answer, bytes.
const MAX_ANSWER_BYTES: u64 = 16;

#[derive(Serialize)]
struct Registered {
    contract: Address,
    index: u32,
    limit: u32,
    commitment: String,
    holder: Address,
    token: Address,
    deposit: String,
    transaction: TxHash,
    block: u64,
    gas_used: u64,
}

/// Price of a membership, and the balance of the account that would pay it.
struct Offer {
    limit: u32,
    token: Address,
    price: U256,
    balance: U256,
}

pub(super) fn register(
    args: &Args,
    place: &chain::ContractArgs,
    commitment: &Fr,
    json: bool,
) -> Result<(), Failure> {
    let account = place.account(&args.key)?;
    let contract = place.open()?;
    let (present, offer) = chain::wait(async {
        let limit = match args.limit {
            Some(limit) => limit,
            None => {
                let least = RlnMembership::minMembershipRateLimitCall {};
                contract.read(least).await?
            }
        };
        let (token, price) = contract.price(limit).await?;
        let balance = contract.balance(account.address(), token).await?;
        let offer = Offer {
            limit,
            token,
            price,
            balance,
        };
        Ok((contract.info(commitment).await?, offer))
    })?;
    if let Some(present) = present {
        let message = format!("the identity is member {} already", present.index);
        return Err(Failure::new(message).with_help("use that membership, or another identity"));
    }
    offer.check(account.address())?;
    if !args.yes {
        ask(&offer, account.address())?;
    }
    let registered = chain::wait(async {
        contract.approve(&account, offer.limit).await?;
        let limit = offer.limit;
        contract.register(&account, commitment, limit, &[]).await
    })?;
    let registered = Registered {
        contract: contract.address(),
        index: registered.index,
        limit: offer.limit,
        commitment: element(commitment),
        holder: account.address(),
        token: offer.token,
        deposit: offer.price.to_string(),
        transaction: registered.mined.hash,
        block: registered.mined.block,
        gas_used: registered.mined.gas_used,
    };
    output::print(&registered, json)
}

impl Offer {
    fn check(&self, holder: Address) -> Result<(), Failure> {
        if self.balance >= self.price {
            return Ok(());
        }
        let message = format!(
            "a limit of {} takes a deposit of {} of token {}, and {holder} has {}",
            self.limit, self.price, self.token, self.balance
        );
        Err(Failure::new(message).with_help("get some of the token, or ask for a lower --limit"))
    }
}

/// Asks on standard error whether to register; any answer but "y" or "yes" is an error.
fn ask(offer: &Offer, holder: Address) -> Result<(), Failure> {
    let question = format!(
        "{} messages per epoch for a deposit of {} of token {}, held by {holder}.\nRegister? [y/N] ",
        offer.limit, offer.price, offer.token
    );
    let mut answer = String::new();
    let mut stderr = io::stderr();
    let asked = stderr
        .write_all(question.as_bytes())
        .and_then(|()| stderr.flush())
        .and_then(|()| {
            let stdin = io::stdin().lock().take(MAX_ANSWER_BYTES);
            BufReader::new(stdin).read_line(&mut answer)
        });
    asked.map_err(|error| {
        Failure::usage(format!("cannot ask: {error}")).with_help("give --yes to go ahead")
    })?;
    match answer.trim().to_ascii_lowercase().as_str() {
        "y" | "yes" => Ok(()),
        _ => Err(Failure::new("not registered, nothing was paid")
            .with_help("answer y, or give --yes, to go ahead")),
    }
}

impl fmt::Display for Registered {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        output::fields(
            f,
            &[
                ("contract", &self.contract),
                ("index", &self.index),
                ("limit", &format!("{} messages per epoch", self.limit)),
                ("commitment", &self.commitment),
                ("holder", &self.holder),
                ("token", &self.token),
                ("deposit", &self.deposit),
                ("transaction", &self.transaction),
                ("block", &self.block),
                ("gas used", &self.gas_used),
            ],
        )
    }
}
