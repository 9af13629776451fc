//! `undertone registry deploy`: deploys the membership contract.

use std::fmt;

use serde::Serialize;
use undertone_contracts::{Address, ContractTerms, U256, deploy};
use undertone_message::network::PRESETS;

use super::{Failure, chain, output};

#[derive(clap::Args, Debug)]
pub(super) struct Args {
    #[command(flatten)]
    endpoint: chain::Endpoint,
    #[command(flatten)]
    key: chain::KeyArgs,
    /// Messages per epoch of all members together
    #[arg(long, value_name = "N", default_value_t = ContractTerms::published().max_total_rate_limit)]
    max_total_limit: u32,
    /// Least messages per epoch of one member
    #[arg(long, value_name = "N", default_value_t = ContractTerms::published().min_rate_limit)]
    min_limit: u32,
    /// Most messages per epoch of one member
    #[arg(long, value_name = "N", default_value_t = ContractTerms::published().max_rate_limit)]
    max_limit: u32,
    /// Active period of a membership, in seconds
    #[arg(long, value_name = "N", default_value_t = ContractTerms::published().active_s)]
    active_s: u32,
    /// Grace period after the active period, in which a membership can be extended, in seconds
    #[arg(long, value_name = "N", default_value_t = ContractTerms::published().grace_s)]
    grace_s: u32,
    /// Deposit for one message per epoch, in 10^-18 tokens
    #[arg(long, value_name = "N", default_value_t = ContractTerms::published().price_per_message)]
    price: U256,
    /// Share of a slashed member's deposit that is burned, in basis points (1000 to 9000)
    #[arg(long, value_name = "N", default_value_t = ContractTerms::published().slash_burn_bps)]
    slash_burn_bps: u16,
    /// Time from the announcement of an upgrade to the upgrade, in seconds (7 to 400 days)
    #[arg(long, value_name = "N", default_value_t = ContractTerms::published().upgrade_delay_s)]
    upgrade_delay_s: u32,
    /// Test tokens that the deploying account receives, in 10^-18 tokens
    #[arg(long, value_name = "N", default_value = "1000000000000000000000000")]
    mint: U256,
}

#[derive(Serialize)]
struct Deployed {
    contract: Address,
    token: Address,
    price_calculator: Address,
    implementation: Address,
    owner: Address,
    block: u64,
    gas_used: u64,
}

/// Rejects terms under which members could send more messages per epoch than the number of nullifiers that
/// nodes remember.
fn check(terms: &ContractTerms) -> Result<(), Failure> {
    let remembered = PRESETS.iter().filter_map(|preset| preset.rln);
    let remembered = remembered.map(|rln| rln.max_messages_per_epoch).min();
    match remembered {
        Some(max) if terms.max_total_rate_limit as usize > max => Err(Failure::usage(format!(
            "--max-total-limit: {} messages in an epoch are more than the {max} nullifiers that nodes remember; give at most {max}",
            terms.max_total_rate_limit
        ))),
        _ => Ok(()),
    }
}

pub(super) fn run(args: &Args, json: bool) -> Result<(), Failure> {
    let terms = ContractTerms {
        max_total_rate_limit: args.max_total_limit,
        min_rate_limit: args.min_limit,
        max_rate_limit: args.max_limit,
        active_s: args.active_s,
        grace_s: args.grace_s,
        price_per_message: args.price,
        slash_burn_bps: args.slash_burn_bps,
        upgrade_delay_s: args.upgrade_delay_s,
    };
    check(&terms)?;
    let owner = args.key.account(&args.endpoint)?;
    let deployment = chain::wait(async {
        let deployment = deploy(&owner, &terms).await?;
        deployment.mint(&owner, owner.address(), args.mint).await?;
        Ok(deployment)
    })?;
    let deployed = Deployed {
        contract: deployment.membership,
        token: deployment.token,
        price_calculator: deployment.calculator,
        implementation: deployment.implementation,
        owner: owner.address(),
        block: deployment.block,
        gas_used: deployment.gas_used,
    };
    output::print(&deployed, json)
}

impl fmt::Display for Deployed {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        output::fields(
            f,
            &[
                ("contract", &self.contract),
                ("token", &self.token),
                ("price calculator", &self.price_calculator),
                ("implementation", &self.implementation),
                ("owner", &self.owner),
                ("block", &self.block),
                ("gas used", &self.gas_used),
            ],
        )
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nodes_remember_every_message_that_a_registry_allows() {
        let published = ContractTerms::published();
        check(&published).unwrap();
        let more = ContractTerms {
            max_total_rate_limit: published.max_total_rate_limit + 1,
            ..published
        };
        let refused = format!("{:?}", check(&more).unwrap_err());
        assert!(refused.contains("--max-total-limit: 1000001"), "{refused}");
    }
}
