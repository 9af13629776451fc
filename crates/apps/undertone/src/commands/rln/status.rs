//! `undertone rln status`: shows a membership on a chain.

use std::fmt;
use std::path::PathBuf;

use serde::Serialize;
use undertone_contracts::abi::RlnMembership;
use undertone_contracts::{Address, MembershipPhase, word_from_field};
use undertone_rln::IdentityFile;

use super::{Failure, element};
use crate::commands::{chain, output};

#[derive(clap::Args, Debug)]
pub(super) struct Args {
    #[command(flatten)]
    contract: chain::ContractArgs,
    /// File of the identity, from `undertone rln keygen`
    #[arg(long, value_name = "FILE")]
    identity: PathBuf,
}

#[derive(Serialize)]
struct Status {
    /// State of the membership: `active`, `grace`, `expired`, `slashed`, or `none`.
    state: &'static str,
    commitment: String,
    #[serde(flatten)]
    membership: Option<Terms>,
}

#[derive(Serialize)]
struct Terms {
    index: u32,
    limit: u32,
    holder: Address,
    token: Address,
    deposit: String,
    /// Amount of this token that the holder may withdraw.
    withdrawable: String,
    /// Start of the grace period, Unix time in seconds; `expires_s` is its end.
    grace_starts_s: u64,
    expires_s: u64,
}

pub(super) fn run(args: &Args, json: bool) -> Result<(), Failure> {
    let identity = IdentityFile::read(&args.identity);
    let identity = identity.map_err(|error| Failure::new(error.to_string()))?;
    let commitment = identity.commitment();
    let contract = args.contract.open()?;
    let status = chain::wait(async {
        let Some(info) = contract.info(&commitment).await? else {
            let word = word_from_field(&commitment);
            let call = RlnMembership::isSlashedCall { idCommitment: word };
            // A contract without slashing, such as the public one, refuses this call.
            let slashed = contract.read(call).await.unwrap_or(false);
            return Ok((if slashed { "slashed" } else { "none" }, None));
        };
        let withdrawable = contract.withdrawable(info.holder, info.token).await?;
        let state = match info.state {
            MembershipPhase::Active => "active",
            MembershipPhase::Grace => "grace",
            MembershipPhase::Expired => "expired",
        };
        let terms = Terms {
            index: info.index,
            limit: info.rate_limit,
            holder: info.holder,
            token: info.token,
            deposit: info.deposit.to_string(),
            withdrawable: withdrawable.to_string(),
            grace_starts_s: info.grace_starts_s,
            expires_s: info.expires_s,
        };
        Ok((state, Some(terms)))
    })?;
    let (state, membership) = status;
    let status = Status {
        state,
        commitment: element(&commitment),
        membership,
    };
    output::print(&status, json)
}

impl fmt::Display for Status {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut lines: Vec<(&str, &dyn fmt::Display)> =
            vec![("state", &self.state), ("commitment", &self.commitment)];
        if let Some(terms) = &self.membership {
            lines.extend([
                ("index", &terms.index as &dyn fmt::Display),
                ("limit", &terms.limit),
                ("holder", &terms.holder),
                ("token", &terms.token),
                ("deposit", &terms.deposit),
                ("withdrawable", &terms.withdrawable),
                ("grace starts", &terms.grace_starts_s),
                ("expires", &terms.expires_s),
            ]);
        }
        output::fields(f, &lines)
    }
}
