//! A chain with the contract on it, and accounts that may spend tokens.

use std::time::Duration;

use alloy::primitives::{Address, U256};
use alloy::sol_types::SolCall;
use undertone_contracts::abi::{RlnMembership, TestToken};
use undertone_contracts::{
    Account, ChainError, ContractTerms, Deployment, DevChain, DevChainOptions, Membership, Mined,
    Refusal, deploy, field_from_word, word_from_field,
};
use undertone_rln::{Fr, Identity};

/// Seconds that a membership is active in these tests.
pub(crate) const ACTIVE_S: u32 = 1_000;
/// Seconds of grace.
pub(crate) const GRACE_S: u32 = 500;
/// Tokens that each account begins with, in its smallest unit.
pub(crate) const WEALTH: u64 = 1_000_000;
/// Deposit for one message per epoch.
pub(crate) const PRICE: u64 = 7;
/// Share of a slashed member's deposit that is burned, in basis points: not even.
pub(crate) const BURN_BPS: u16 = 3_333;
/// Seconds from the announcement of an upgrade to the upgrade.
pub(crate) const UPGRADE_DELAY_S: u32 = 10 * 24 * 60 * 60;
/// Gas that is enough for any call.
const GAS: u64 = 5_000_000;
/// Longest time for transactions to arrive among those that wait for a block.
const PENDING_MAX: Duration = Duration::from_secs(60);

pub(crate) struct World {
    pub(crate) chain: DevChain,
    pub(crate) deployment: Deployment,
    pub(crate) contract: Membership,
    accounts: Vec<Account>,
}

pub(crate) fn terms() -> ContractTerms {
    ContractTerms {
        max_total_rate_limit: 1_000,
        min_rate_limit: 20,
        max_rate_limit: 600,
        active_s: ACTIVE_S,
        grace_s: GRACE_S,
        price_per_message: U256::from(PRICE),
        slash_burn_bps: BURN_BPS,
        upgrade_delay_s: UPGRADE_DELAY_S,
    }
}

impl World {
    pub(crate) async fn new() -> Self {
        Self::with(&terms()).await
    }

    /// Four accounts with tokens, which the contract may take; the first one owns everything.
    pub(crate) async fn with(terms: &ContractTerms) -> Self {
        let chain = DevChain::start(&DevChainOptions::default()).unwrap();
        let owner = chain.account(0).unwrap();
        let deployment = deploy(&owner, terms).await.unwrap();
        let contract = Membership::new(chain.provider().clone(), deployment.membership);
        let mut accounts = Vec::new();
        for number in 0..4 {
            // What fails is to fail in a block, whose time is known.
            let account = chain.account(number).unwrap().with_gas_limit(GAS);
            let wealth = U256::from(WEALTH);
            let to = account.address();
            deployment.mint(&owner, to, wealth).await.unwrap();
            let call = TestToken::approveCall {
                spender: deployment.membership,
                amount: U256::MAX,
            };
            account
                .call(deployment.token, call.abi_encode())
                .await
                .unwrap();
            accounts.push(account);
        }
        Self {
            chain,
            deployment,
            contract,
            accounts,
        }
    }

    pub(crate) fn account(&self, number: usize) -> &Account {
        &self.accounts[number]
    }

    pub(crate) fn address(&self, number: usize) -> Address {
        self.accounts[number].address()
    }

    /// Registers member `name` with 20 messages for account 1; gives its index.
    pub(crate) async fn join(&self, name: u32) -> u32 {
        self.join_with(name, 20, &[]).await.unwrap()
    }

    pub(crate) async fn join_with(
        &self,
        name: u32,
        limit: u32,
        erase: &[u32],
    ) -> Result<u32, ChainError> {
        let erase = ids(erase);
        let registered = self
            .contract
            .register(self.account(1), &id(name), limit, &erase)
            .await?;
        Ok(registered.index)
    }

    pub(crate) async fn erase(
        &self,
        account: usize,
        names: &[u32],
        clear: bool,
    ) -> Result<(), ChainError> {
        let account = self.account(account);
        self.contract.erase(account, &ids(names), clear).await?;
        Ok(())
    }

    /// The second step of slashing, sent even if it is bound to fail.
    pub(crate) async fn reveal(
        &self,
        account: usize,
        name: u32,
        receiver: Address,
    ) -> Result<Mined, ChainError> {
        let call = RlnMembership::slashCall {
            secret: word_from_field(identity(name).secret()),
            receiver,
        };
        let contract = self.contract.address();
        self.account(account)
            .call(contract, call.abi_encode())
            .await
    }

    pub(crate) async fn advance(&self, seconds: u32) {
        self.chain.advance(seconds.into()).await.unwrap();
    }

    pub(crate) async fn read<C: SolCall>(&self, call: C) -> C::Return {
        self.contract.read(call).await.unwrap()
    }

    /// Waits until `count` transactions wait for a block.
    pub(crate) async fn await_pending(&self, count: u64) {
        let waiting = async || {
            let status: serde_json::Value = self.chain.request("txpool_status", ()).await.unwrap();
            let pending = status["pending"].as_str().unwrap();
            u64::from_str_radix(pending.trim_start_matches("0x"), 16).unwrap()
        };
        let all = async {
            while waiting().await < count {
                tokio::task::yield_now().await;
            }
        };
        let waited = tokio::time::timeout(PENDING_MAX, all).await;
        assert!(waited.is_ok(), "{count} transactions never waited at once");
    }

    /// Seconds since 1970 at the newest block, and its number.
    pub(crate) async fn now(&self) -> (u64, u64) {
        let block: serde_json::Value = self
            .chain
            .request("eth_getBlockByNumber", ("latest", false))
            .await
            .unwrap();
        let field = |name: &str| {
            let digits = block[name].as_str().unwrap().trim_start_matches("0x");
            u64::from_str_radix(digits, 16).unwrap()
        };
        (field("timestamp"), field("number"))
    }

    pub(crate) async fn root(&self) -> Fr {
        let root = self.read(RlnMembership::rootCall {}).await;
        field_from_word(root).unwrap()
    }

    pub(crate) async fn leaf(&self, index: u32) -> U256 {
        let call = RlnMembership::getRateCommitmentsInRangeBoundsInclusiveCall {
            startIndex: index,
            endIndex: index,
        };
        self.read(call).await[0]
    }

    pub(crate) async fn is_member(&self, name: u32) -> bool {
        let id = word(name);
        self.read(RlnMembership::isInMembershipSetCall { idCommitment: id })
            .await
    }

    pub(crate) async fn total_rate_limit(&self) -> U256 {
        self.read(RlnMembership::currentTotalRateLimitCall {}).await
    }

    pub(crate) async fn credit(&self, account: usize) -> u64 {
        let (holder, token) = (self.address(account), self.deployment.token);
        let credit = self.contract.withdrawable(holder, token).await.unwrap();
        credit.to()
    }

    pub(crate) async fn tokens(&self, of: Address) -> u64 {
        let token = Membership::new(self.chain.provider().clone(), self.deployment.token);
        let call = TestToken::balanceOfCall { account: of };
        token.read(call).await.unwrap().to()
    }
}

pub(crate) fn identity(name: u32) -> Identity {
    Identity::from_seed(format!("member {name}").as_bytes())
}

/// The commitment of member `name`.
pub(crate) fn id(name: u32) -> Fr {
    identity(name).commitment()
}

pub(crate) fn ids(names: &[u32]) -> Vec<Fr> {
    names.iter().map(|name| id(*name)).collect()
}

pub(crate) fn word(name: u32) -> U256 {
    word_from_field(&id(name))
}

/// Why the contract said no.
#[track_caller]
pub(crate) fn refusal<T: std::fmt::Debug>(result: Result<T, ChainError>) -> Refusal {
    let error = result.expect_err("the contract was to refuse");
    match error.refusal() {
        Some(refusal) => refusal.clone(),
        None => panic!("not refused by the contract, but: {error}"),
    }
}

/// What is left of a deposit for whoever slashes.
pub(crate) fn reward_of(deposit: u64) -> u64 {
    deposit - (deposit * u64::from(BURN_BPS)).div_ceil(10_000)
}
