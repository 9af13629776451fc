//! A chain with the contract on it, and endpoints that misbehave.

use std::path::PathBuf;
use std::time::Duration;

use tempfile::TempDir;
use tokio::runtime::Runtime;
use undertone_contracts::{
    Account, ChainError, ContractTerms, Deployment, DevChain, DevChainOptions, Membership,
    Registered, U256, deploy, deploy_older,
};
use undertone_membership::evm::{ChainStatus, Contract, EvmConfig, EvmRegistry, Health};
use undertone_rln::{Fr, MerkleTree};

/// Long enough for a slow machine; nothing waits for it when all is well.
pub(crate) const PATIENCE: Duration = Duration::from_secs(60);

pub(crate) const CHAIN_ID: u64 = 31_337;
pub(crate) const LIMIT: u32 = 20;
const ACTIVE_S: u32 = 1_000_000;

pub(crate) struct Rig {
    pub(crate) runtime: Runtime,
    pub(crate) chain: DevChain,
    pub(crate) deployment: Deployment,
    pub(crate) membership: Membership,
    pub(crate) owner: Account,
    pub(crate) folder: TempDir,
}

impl Rig {
    pub(crate) fn start() -> Self {
        Self::of(false)
    }

    /// With a contract that tells what older deployments tell.
    pub(crate) fn older() -> Self {
        Self::of(true)
    }

    fn of(is_older: bool) -> Self {
        let runtime = Runtime::new().unwrap();
        let chain = DevChain::start(&DevChainOptions::default()).unwrap();
        let owner = chain.account(0).unwrap();
        let terms = ContractTerms {
            active_s: ACTIVE_S,
            grace_s: 0,
            ..ContractTerms::published()
        };
        let (deployment, membership) = runtime.block_on(async {
            let deployed = match is_older {
                true => deploy_older(&owner, &terms).await,
                false => deploy(&owner, &terms).await,
            };
            let deployment = deployed.unwrap();
            let plenty = U256::from(10).pow(U256::from(30));
            deployment
                .mint(&owner, owner.address(), plenty)
                .await
                .unwrap();
            let membership = Membership::new(chain.provider().clone(), deployment.membership);
            (deployment, membership)
        });
        Self {
            runtime,
            chain,
            deployment,
            membership,
            owner,
            folder: tempfile::tempdir().unwrap(),
        }
    }

    pub(crate) fn register(&self, commitment: u64) {
        self.join(&Fr::from(commitment));
    }

    pub(crate) fn join(&self, commitment: &Fr) {
        self.try_join(commitment).unwrap();
    }

    pub(crate) fn try_join(&self, commitment: &Fr) -> Result<Registered, ChainError> {
        self.runtime.block_on(async {
            self.membership.approve(&self.owner, LIMIT).await.unwrap();
            let owner = &self.owner;
            self.membership
                .register(owner, commitment, LIMIT, &[])
                .await
        })
    }

    pub(crate) fn erase(&self, commitment: u64, clear: bool) {
        self.erase_all(&[Fr::from(commitment)], clear);
    }

    pub(crate) fn erase_all(&self, members: &[Fr], clear: bool) {
        let erased = self.membership.erase(&self.owner, members, clear);
        self.runtime.block_on(erased).unwrap();
    }

    pub(crate) fn slash(&self, secret: &Fr) {
        self.runtime.block_on(async {
            let receiver = self.owner.address();
            let slashing = &self.membership;
            let committed = slashing.commit_slash(&self.owner, secret, receiver);
            committed.await.unwrap();
            let slashed = slashing.slash(&self.owner, secret, receiver);
            slashed.await.unwrap();
        });
    }

    /// From now on those who are members can be erased.
    pub(crate) fn let_expire(&self) {
        self.runtime
            .block_on(self.chain.advance(u64::from(ACTIVE_S) + 1))
            .unwrap();
    }

    pub(crate) fn contract(&self) -> Contract {
        Contract {
            chain_id: CHAIN_ID,
            address: self.deployment.membership,
        }
    }

    pub(crate) fn store(&self) -> PathBuf {
        self.folder.path().join("chain.sqlite")
    }

    pub(crate) fn config(&self, urls: &[&str]) -> EvmConfig {
        let urls = urls.iter().map(|url| (*url).to_owned()).collect();
        let mut config = EvmConfig::new(self.contract(), urls, self.store(), 50);
        config.poll = Duration::from_millis(50);
        config.throttle = Duration::from_millis(10);
        config.limits.timeout = Duration::from_millis(2_000);
        config.limits.backoff = Duration::from_millis(20);
        config.limits.max_backoff = Duration::from_millis(200);
        config
    }

    pub(crate) fn follow(&self) -> EvmRegistry {
        EvmRegistry::start(self.config(&[self.chain.endpoint()])).unwrap()
    }

    pub(crate) fn block(&self) -> u64 {
        let number: String = self
            .runtime
            .block_on(self.chain.request("eth_blockNumber", Vec::<String>::new()))
            .unwrap();
        u64::from_str_radix(&number[2..], 16).unwrap()
    }

    /// The contract's root now.
    pub(crate) fn root(&self) -> Fr {
        let info = undertone_contracts::abi::RlnMembership::rootCall {};
        let root = self.runtime.block_on(self.membership.read(info)).unwrap();
        undertone_contracts::field_from_word(root).unwrap()
    }

    /// Waits until the registry knows the chain as it is now, and compares.
    pub(crate) fn check(&self, registry: &EvmRegistry) -> ChainStatus {
        let (block, root) = (self.block(), self.root());
        let status = registry.chain().wait_until(PATIENCE, |status| {
            status.health == Health::Synced { block } && seen(registry) == root
        });
        assert_eq!(seen(registry), root, "{status:?}, chain at {block}");
        assert_eq!(status.health, Health::Synced { block });
        let view = registry.view();
        let view = view.lock();
        if root != MerkleTree::new().root() {
            assert_eq!(view.roots().newest(), Some(root));
        }
        status
    }
}

/// The root of the registry's tree.
pub(crate) fn seen(registry: &EvmRegistry) -> Fr {
    registry.view().lock().tree().root()
}
