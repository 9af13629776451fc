//! A chain with the contract on it, and nodes that follow it.

use std::time::Duration;

use tempfile::TempDir;
use undertone_contracts::{
    Account, ContractTerms, Deployment, DevChain, DevChainOptions, Membership, U256, deploy,
};
use undertone_message::{PubsubTopic, Shard, WakuMessage};
use undertone_node::assemble::{Assembled, assemble};
use undertone_node::config::{NodeConfig, Sources};
use undertone_rln::{Fr, Identity, IdentityFile};

/// Guards against hangs only.
pub(crate) const HANG: Duration = Duration::from_secs(120);

const LIMIT: u32 = 100;

/// The chain, with an account that pays for everybody.
pub(crate) struct Registry {
    pub(crate) chain: DevChain,
    deployment: Deployment,
    membership: Membership,
    owner: Account,
}

impl Registry {
    pub(crate) async fn start() -> Self {
        let chain = DevChain::start(&DevChainOptions::default()).unwrap();
        let owner = chain.account(0).unwrap();
        let deployment = deploy(&owner, &ContractTerms::published()).await.unwrap();
        let plenty = U256::from(10).pow(U256::from(30));
        let to = owner.address();
        deployment.mint(&owner, to, plenty).await.unwrap();
        let membership = Membership::new(chain.provider().clone(), deployment.membership);
        // Enough for all of them.
        membership.approve(&owner, u32::MAX).await.unwrap();
        Self {
            chain,
            deployment,
            membership,
            owner,
        }
    }

    pub(crate) async fn register(&self, commitment: Fr) {
        let membership = &self.membership;
        let registered = membership.register(&self.owner, &commitment, LIMIT, &[]);
        registered.await.unwrap();
    }

    pub(crate) fn place(&self) -> Place {
        Place {
            endpoint: self.chain.endpoint().to_owned(),
            contract: self.deployment.membership.to_string(),
        }
    }
}

/// Where a node finds the contract, or did.
pub(crate) struct Place {
    endpoint: String,
    contract: String,
}

pub(crate) fn identity(node: usize) -> Identity {
    Identity::from_seed(&node.to_le_bytes())
}

/// What a node is for.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Role {
    /// Has an identity, and hears of blocks as soon as they are there, over a WebSocket.
    Publisher,
    /// Has none, and asks for blocks now and then.
    Relay,
    /// Has an identity, and knows of the contract what light mode asks for.
    Light,
}

/// Node `at` in a folder of its own below `folder`.
pub(crate) async fn node(
    registry: &Registry,
    at: usize,
    role: Role,
    folder: &TempDir,
    peers: &[String],
) -> Assembled {
    node_of(&registry.place(), at, role, folder, peers).await
}

/// The same, whether there is a chain or not.
pub(crate) async fn node_of(
    place: &Place,
    at: usize,
    role: Role,
    folder: &TempDir,
    peers: &[String],
) -> Assembled {
    let endpoint = match role {
        Role::Publisher => place.endpoint.replace("http://", "ws://"),
        Role::Relay | Role::Light => place.endpoint.clone(),
    };
    let folder = folder.path().join(at.to_string());
    std::fs::create_dir_all(&folder).unwrap();
    let identity_file = folder.join("rln-identity.json");
    if role != Role::Relay && !identity_file.exists() {
        IdentityFile::write(&identity_file, &identity(at)).unwrap();
    }
    let folder = folder.display().to_string();
    let chain_id = DevChainOptions::default().chain_id.to_string();
    let peers = peers.join(",");
    let mut flags = vec![
        ("data-dir", folder.as_str()),
        ("rln-eth-rpc", &endpoint),
        ("rln-eth-contract", &place.contract),
        ("rln-eth-chain-id", &chain_id),
        ("network", "local"),
        ("shards", "0"),
        ("listen-address", "127.0.0.1"),
        ("tcp-port", "0"),
        ("rest", "false"),
        ("rln-tokens", "0"),
        ("rln-verify-threads", "1"),
    ];
    if role == Role::Light {
        flags.push(("rln-eth-mode", "light"));
    }
    if !peers.is_empty() {
        flags.push(("static-peers", &peers));
    }
    let flags = flags
        .iter()
        .map(|(name, value)| ((*name).to_owned(), (*value).to_owned()));
    let config = NodeConfig::load(&Sources {
        flags: flags.collect(),
        ..Sources::default()
    });
    assemble(&config.unwrap()).await.unwrap()
}

pub(crate) fn topic() -> PubsubTopic {
    PubsubTopic::Static(Shard::new(66, 0).unwrap())
}

pub(crate) fn message(text: String) -> WakuMessage {
    WakuMessage::new(text.into_bytes(), "/test/1/a/proto")
}
