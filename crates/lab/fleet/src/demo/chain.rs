//! The demo's members in a contract, on a development chain that the demo starts.

use std::sync::Arc;
use std::time::Duration;

use serde::Serialize;
use tempfile::TempDir;
use undertone_contracts::abi::RlnMembership;
use undertone_contracts::{
    Address, ContractTerms, Deployment, DevChain, DevChainOptions, Membership, TxHash, deploy,
    word_from_field,
};
use undertone_membership::evm::{
    ChainHandle, ChainStatus, Contract, EvmConfig, EvmRegistry, Health,
};
use undertone_membership::{MemberIndex, MemberLookup, MembershipLog};
use undertone_rln::{Fr, RecoveredSecret, fr_to_le};

use super::error::{FOLLOW_LIMIT, OnChainError};
use crate::{Progress, dev_chain};

/// Number of the account that deploys the contract and gives the other accounts tokens for deposits.
const OWNER: usize = 0;
/// Number of the first member's account, which also slashes; the other members' accounts follow.
const FIRST_MEMBER: usize = 1;
/// Interval at which the chain is asked for a new block; short, because the chain is on this machine.
pub(super) const POLL: Duration = Duration::from_millis(50);
/// Development chain with the contract, and the one registry follower that all nodes share.
pub(crate) struct OnChain {
    registry: Arc<EvmRegistry>,
    contract: Membership,
    deployment: Deployment,
    members: usize,
    /// Folder of the follower's database, removed at the end together with the chain.
    _store: TempDir,
    chain: DevChain,
}

/// Result of slashing the spammer on the chain.
#[derive(Debug, Clone, Serialize)]
pub struct Slashing {
    /// Address of the membership contract.
    pub contract: Address,
    /// Chain id, EIP-155.
    pub chain_id: u64,
    /// Address of the token of the deposits.
    pub token: Address,
    /// Whether the contract and the follower have removed the member and have equal roots, and the deposit
    /// is divided into a burned share and a reward for the first node's account.
    pub slashed: bool,
    /// Commitment of the spammer's identity, 64 hex digits, little-endian.
    pub commitment: String,
    /// Index of the spammer's leaf, which is empty afterwards.
    pub index: u32,
    /// Deposit that the spammer had paid, in 10^-18 tokens.
    pub deposit: String,
    /// Share of the deposit that is burned, in 10^-18 tokens.
    pub burned: String,
    /// Rest of the deposit, which the first node's account can claim, in 10^-18 tokens.
    pub reward: String,
    /// Time from which the reward can be claimed, Unix seconds: the end of the spammer's active period.
    pub reward_from_s: u64,
    /// Account that can claim the reward.
    pub receiver: Address,
    /// Transaction that committed to the slashing.
    pub committed: TxHash,
    /// Transaction that slashed.
    pub transaction: TxHash,
    /// Number of members before.
    pub members_before: usize,
    /// Number of members afterwards.
    pub members_after: usize,
    /// Nodes that know the removal and have as many members as the follower.
    pub nodes_updated: usize,
    /// Root of the follower's tree; equal to the contract's if `slashed` is true.
    pub root: String,
}

impl OnChain {
    /// Starts the chain, deploys the contract and starts to follow it; `window` roots are accepted.
    pub(crate) async fn start(
        window: usize,
        progress: &dyn Progress,
    ) -> Result<Self, OnChainError> {
        let options = DevChainOptions::default();
        let chain = dev_chain::start(&options, &|what| progress.note(what))?;
        let owner = chain.account(OWNER)?;
        // The demo's members have limits below those of the contract in use.
        let terms = ContractTerms {
            min_rate_limit: 1,
            ..ContractTerms::published()
        };
        let deployment = deploy(&owner, &terms).await?;
        let contract = Membership::new(chain.provider().clone(), deployment.membership);
        let store = tempfile::tempdir().map_err(OnChainError::Folder)?;
        let followed = Contract {
            chain_id: options.chain_id,
            address: deployment.membership,
        };
        let urls = vec![chain.endpoint().to_owned()];
        let file = store.path().join("members.sqlite");
        let registry = EvmRegistry::start(EvmConfig {
            poll: POLL,
            throttle: POLL,
            ..EvmConfig::new(followed, urls, file, window)
        })?;
        Ok(Self {
            registry: Arc::new(registry),
            contract,
            deployment,
            members: 0,
            _store: store,
            chain,
        })
    }

    /// Returns the log of members that nodes follow.
    pub(crate) fn log(&self) -> Arc<dyn MembershipLog> {
        Arc::clone(&self.registry) as Arc<dyn MembershipLog>
    }

    /// Returns the handle of the thread that follows the chain.
    pub(crate) fn handle(&self) -> ChainHandle {
        self.registry.chain().clone()
    }

    /// Registers a member, from an account of its own that receives exactly the deposit; returns once
    /// the follower knows the member.
    pub(crate) async fn register(
        &mut self,
        commitment: &Fr,
        limit: u32,
    ) -> Result<MemberIndex, OnChainError> {
        let owner = self.chain.account(OWNER)?;
        let holder = self.chain.account(FIRST_MEMBER + self.members)?;
        let (_, price) = self.contract.price(limit).await?;
        self.deployment
            .mint(&owner, holder.address(), price)
            .await?;
        self.contract.approve(&holder, limit).await?;
        let registered = self.contract.register(&holder, commitment, limit, &[]);
        let registered = registered.await?;
        self.members += 1;
        self.follow_to(registered.mined.block).await?;
        let member = self.registry.find(*commitment)?;
        let member = member.ok_or_else(|| OnChainError::Missing {
            commitment: element(commitment),
        })?;
        Ok(member.index)
    }

    /// Removes the member with this secret, from the first member's account, which gets a share of the
    /// deposit.
    pub(super) async fn slash(&self, secret: &RecoveredSecret) -> Result<Slashing, OnChainError> {
        let account = self.chain.account(FIRST_MEMBER)?;
        let receiver = account.address();
        let token = self.deployment.token;
        let commitment = secret.commitment();
        let present = self.contract.info(&commitment).await?;
        let deposit = present.map(|info| info.deposit).unwrap_or_default();
        let members_before = self.members();

        let secret = secret.secret();
        let committed = self.contract.commit_slash(&account, secret, receiver);
        let committed = committed.await?;
        let slashed = self.contract.slash(&account, secret, receiver).await?;
        self.follow_to(slashed.mined.block).await?;

        let reward = self.contract.reward(&commitment).await?;
        let is_promised = reward.is_some_and(|reward| {
            reward.receiver == receiver && slashed.burned + reward.amount == deposit
        });
        let is_gone = self.contract.info(&commitment).await?.is_none();
        let is_gone = is_gone && self.registry.find(commitment)?.is_none();
        let root = self.root();
        let is_same =
            word_from_field(&root) == self.contract.read(RlnMembership::rootCall {}).await?;
        Ok(Slashing {
            contract: self.contract.address(),
            chain_id: self.contract.chain_id().await?,
            token,
            slashed: is_gone && is_same && is_promised,
            commitment: element(&commitment),
            index: slashed.index,
            deposit: deposit.to_string(),
            burned: slashed.burned.to_string(),
            reward: slashed.reward.to_string(),
            reward_from_s: slashed.payable_from_s,
            receiver,
            committed: committed.hash,
            transaction: slashed.mined.hash,
            members_before,
            members_after: self.members(),
            nodes_updated: 0,
            root: element(&root),
        })
    }

    /// Returns the version of the follower's registry.
    pub(super) fn version(&self) -> Result<u64, OnChainError> {
        Ok(self.registry.version()?.0)
    }

    /// Waits until the follower has read all blocks up to `block` and compared its root with the contract's.
    async fn follow_to(&self, block: u64) -> Result<(), OnChainError> {
        let registry = Arc::clone(&self.registry);
        let known = move |status: &ChainStatus| match status.health {
            Health::Synced { block: at } => at >= block,
            _ => false,
        };
        let waiting = tokio::task::spawn_blocking(move || {
            let status = registry.chain().wait_until(FOLLOW_LIMIT, known);
            known(&status)
        });
        match waiting.await {
            Ok(true) => Ok(()),
            // `Err`: the waiting thread panicked, and the panic was printed.
            Ok(false) | Err(_) => Err(OnChainError::Slow { block }),
        }
    }

    /// Returns the root of the follower's tree.
    fn root(&self) -> Fr {
        let view = self.registry.view();
        let view = view.lock();
        view.tree().root()
    }

    /// Returns the number of non-empty leaves in the follower's tree.
    fn members(&self) -> usize {
        let view = self.registry.view();
        let view = view.lock();
        view.tree().occupied()
    }
}

/// Formats a field element as the command line prints it: 64 hex digits, little-endian.
fn element(element: &Fr) -> String {
    hex::encode(fr_to_le(element))
}
