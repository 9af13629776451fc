//! Deployment of the membership contract, with a test token and a price calculator.

use alloy::primitives::{Address, U256, address};
use alloy::sol_types::{SolCall, SolValue};

use crate::abi::{RlnMembership, TestToken};
use crate::account::{Account, Mined};
use crate::artifact::{self, Artifact};
use crate::error::ChainError;

/// Terms of membership of a new contract.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ContractTerms {
    /// Maximum total rate limit of all memberships, in messages per epoch.
    pub max_total_rate_limit: u32,
    /// Minimum rate limit of one membership, in messages per epoch.
    pub min_rate_limit: u32,
    /// Maximum rate limit of one membership, in messages per epoch.
    pub max_rate_limit: u32,
    /// Duration of a membership's active period, in seconds.
    pub active_s: u32,
    /// Duration of the grace period after that, in seconds.
    pub grace_s: u32,
    /// Deposit for one message per epoch, in the token's smallest unit.
    pub price_per_message: U256,
    /// Share of a slashed member's deposit that is burned, in basis points: 1,000 to 9,000.
    pub slash_burn_bps: u16,
    /// Time between the announcement of an upgrade and the upgrade, in seconds: 7 to 400 days.
    pub upgrade_delay_s: u32,
}

/// Addresses of the deployed contracts.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Deployment {
    /// The membership contract: the proxy, which is the address to call.
    pub membership: Address,
    /// The implementation contract behind the proxy.
    pub implementation: Address,
    /// The token in which deposits are made; minted by the account that deployed it.
    pub token: Address,
    /// The price calculator: a price proportional to the rate limit.
    pub calculator: Address,
    /// Number of the block in which the membership contract was deployed.
    pub block: u64,
    /// Gas used by the whole deployment.
    pub gas_used: u64,
}

impl ContractTerms {
    /// Returns the values of the production contract's deployment script: a total of 1,000,000 messages per
    /// epoch, 20 to 600 for each member, 180 active days and 30 of grace, and 0.05 tokens per message. Two
    /// terms are not in that script: half of a slashed member's deposit is burned, and an upgrade is
    /// announced early enough for every present member to leave.
    #[must_use]
    pub fn published() -> Self {
        const DAY_S: u32 = 24 * 60 * 60;
        Self {
            max_total_rate_limit: 1_000_000,
            min_rate_limit: 20,
            max_rate_limit: 600,
            active_s: 180 * DAY_S,
            grace_s: 30 * DAY_S,
            price_per_message: U256::from(50_000_000_000_000_000_u64),
            slash_burn_bps: 5_000,
            upgrade_delay_s: 210 * DAY_S,
        }
    }
}

/// Deploys the libraries, the test token, the price calculator and the contract behind its proxy.
/// The account owns them all.
///
/// # Errors
/// [`ChainError`]; contracts deployed before the error stay on the chain, unused.
pub async fn deploy(account: &Account, terms: &ContractTerms) -> Result<Deployment, ChainError> {
    deploy_code(account, terms, artifact::membership()?).await
}

/// Like [`deploy()`], with a contract that has only the events and functions of older deployments: for tests.
///
/// # Errors
/// The errors of [`deploy()`].
pub async fn deploy_older(
    account: &Account,
    terms: &ContractTerms,
) -> Result<Deployment, ChainError> {
    deploy_code(account, terms, artifact::older_membership()?).await
}

async fn deploy_code(
    account: &Account,
    terms: &ContractTerms,
    membership: Artifact,
) -> Result<Deployment, ChainError> {
    let mut gas_used = 0;
    let mut put = async |code| {
        let mined = account.create(code).await?;
        gas_used += mined.gas_used;
        made(&mined)
    };
    let t2 = put(artifact::poseidon_t2()?.linked(&[])?).await?;
    let t3 = put(artifact::poseidon_t3()?.linked(&[])?).await?;
    let hashes = [("PoseidonT2", t2), ("PoseidonT3", t3)];
    let tree = put(artifact::lazy_imt()?.linked(&hashes)?).await?;
    let token = put(artifact::test_token()?.linked(&[])?).await?;

    let price = (token, terms.price_per_message).abi_encode_params();
    let calculator = artifact::price_calculator()?.linked(&[])?;
    let calculator = put([calculator.as_ref(), &price].concat().into()).await?;

    let [t2, t3] = hashes;
    let membership = membership.linked(&[t2, t3, ("LazyIMT", tree)])?;
    let fixed = (terms.slash_burn_bps, terms.upgrade_delay_s).abi_encode_params();
    let implementation = put([membership.as_ref(), &fixed].concat().into()).await?;

    let start = RlnMembership::initializeCall {
        priceCalculator: calculator,
        maxTotalRateLimit: terms.max_total_rate_limit,
        minMembershipRateLimit: terms.min_rate_limit,
        maxMembershipRateLimit: terms.max_rate_limit,
        activeDuration: terms.active_s,
        gracePeriod: terms.grace_s,
    };
    let start = (implementation, start.abi_encode()).abi_encode_params();
    let proxy = artifact::proxy()?.linked(&[])?;
    let mined = account
        .create([proxy.as_ref(), &start].concat().into())
        .await?;
    Ok(Deployment {
        membership: made(&mined)?,
        implementation,
        token,
        calculator,
        block: mined.block,
        gas_used: gas_used + mined.gas_used,
    })
}

impl Deployment {
    /// Mints test tokens; `owner` must be the account that deployed them.
    ///
    /// # Errors
    /// [`ChainError::Refused`] for any other account, or another [`ChainError`].
    pub async fn mint(
        &self,
        owner: &Account,
        to: Address,
        amount: U256,
    ) -> Result<Mined, ChainError> {
        let call = TestToken::mintCall { to, amount };
        owner.call(self.token, call.abi_encode()).await
    }
}

fn made(mined: &Mined) -> Result<Address, ChainError> {
    mined.contract.ok_or(ChainError::NoEvent {
        hash: mined.hash,
        event: "contract address",
        contract: address!("0000000000000000000000000000000000000000"),
    })
}
