//! Resolves the keys of rate limiting.

use std::{path::PathBuf, thread::available_parallelism};

use undertone_membership::evm::{
    ContractName, ContractNameError, EndpointUrl, Mode, RPC_SCHEMES, RpcError,
};
use undertone_message::{ChainParams, NetworkPreset, RlnParams};
use undertone_rln::{BatchPolicy, PoolConfig};

use super::{Resolver, is_changed};
use crate::config::{ChainConfig, ConfigError, RlnConfig};

const NS_PER_MS: u64 = 1_000_000;
const NS_PER_S: u64 = 1_000_000_000;

impl Resolver {
    pub(super) fn rln(&self, network: &NetworkPreset) -> Result<Option<RlnConfig>, ConfigError> {
        let raw = &self.raw;
        let Some(params) = network.rln else {
            if raw.rln.is(&true) {
                let expected = format!("false, because {} has no rate limiting", network.name);
                return Err(raw.rln.bad_because(expected));
            }
            return Ok(None);
        };
        let most = params.user_message_limit;
        let message_limit = raw.rln_message_limit.get()?.unwrap_or(most);
        if !(1..=most).contains(&message_limit) {
            let expected = format!("a number, 1 to {most}");
            return Err(raw.rln_message_limit.bad_because(expected));
        }
        // Each mode has a database of its own.
        let chain_file = match self.mode()? {
            Mode::Full => "rln-chain.sqlite",
            Mode::Light => "rln-chain-light.sqlite",
        };
        Ok(Some(RlnConfig {
            params,
            chain: self.chain(network, self.in_data_dir(&raw.rln_eth_store, chain_file)?)?,
            registry: self.in_data_dir(&raw.rln_registry, "registry.sqlite")?,
            identity_file: self.in_data_dir(&raw.rln_identity_file, "rln-identity.json")?,
            message_limit,
            counter_file: self.in_data_dir(&raw.rln_counter_file, "rln-counter")?,
            tables_file: self.data_file("rln-tables")?,
            tree_file: self.data_file("rln-tree")?,
            tokens: self.tokens(&params)?,
            verifier_threads: self.verifier_threads()?,
            batches: self.batches()?,
        }))
    }

    /// Returns the network's parameters with the configured overrides.
    pub(super) fn rln_params(&self, params: RlnParams) -> Result<RlnParams, ConfigError> {
        let mut configured = params;
        if let Some(epoch_s) = self.raw.rln_epoch_s.get()? {
            configured.epoch_size_s = epoch_s;
        }
        if let Some(limit) = self.raw.rln_user_message_limit.get()? {
            configured.user_message_limit = limit;
        }
        Ok(configured)
    }

    fn mode(&self) -> Result<Mode, ConfigError> {
        Ok(self.raw.rln_eth_mode.get()?.unwrap_or(Mode::Full))
    }

    /// Returns the contract if endpoints are configured: the configured contract, or that of the network.
    fn chain(
        &self,
        network: &NetworkPreset,
        store: PathBuf,
    ) -> Result<Option<ChainConfig>, ConfigError> {
        let raw = &self.raw;
        let urls = raw.rln_eth_rpc.get()?.unwrap_or_default();
        let of_network = network.chain.filter(|_| !is_changed(network));
        if urls.is_empty() {
            let is_meant = raw.rln_eth_contract.is_set()
                || raw.rln_eth_chain_id.is_set()
                || raw.rln_eth_mode.is_set();
            // A synchronising store checks the proofs of messages from other stores.
            let checks = raw.relay.get()? || raw.store_sync.get()? || raw.store_resume.get()?;
            let needs_it = checks && !raw.rln_registry.is_set();
            return match of_network {
                _ if is_meant => Err(raw.rln_eth_rpc.bad()),
                Some(chain) if needs_it => {
                    Err(raw.rln_eth_rpc.bad_because(missing(network, chain)))
                }
                _ => Ok(None),
            };
        }
        for url in &urls {
            let bad = |error: RpcError| raw.rln_eth_rpc.bad_because(error.to_string());
            EndpointUrl::parse(url, &RPC_SCHEMES).map_err(bad)?;
        }
        let is_named = raw.rln_eth_contract.is_set() || raw.rln_eth_chain_id.is_set();
        let (name, chain_id) = match of_network.filter(|_| !is_named) {
            Some(chain) => (Some(chain.contract.to_owned()), Some(chain.chain_id)),
            None => (raw.rln_eth_contract.get()?, raw.rln_eth_chain_id.get()?),
        };
        let bad = |error: ContractNameError| raw.rln_eth_contract.bad_because(error.to_string());
        let name = name.unwrap_or_default();
        let name: ContractName = name.parse().map_err(|_| raw.rln_eth_contract.bad())?;
        let contract = name.on_chain(chain_id.filter(|id| *id > 0)).map_err(bad)?;
        Ok(Some(ChainConfig {
            contract: contract.ok_or_else(|| raw.rln_eth_chain_id.bad())?,
            mode: self.mode()?,
            urls,
            store,
        }))
    }

    fn tokens(&self, params: &RlnParams) -> Result<PoolConfig, ConfigError> {
        let raw = &self.raw;
        let root_window = params.root_window as u64;
        // In light mode other nodes may already know newer roots than this node, so tokens are
        // refreshed at each root.
        let usual = match self.mode()? {
            Mode::Full => (root_window / 2).max(1),
            Mode::Light => 1,
        };
        let refresh_roots = raw.rln_tokens_refresh.get()?.unwrap_or(usual);
        if !(1..=root_window).contains(&refresh_roots) {
            let expected = format!("a number, 1 to {root_window}");
            return Err(raw.rln_tokens_refresh.bad_because(expected));
        }
        let mut tokens = PoolConfig::default();
        tokens.size = raw.rln_tokens.get()?;
        tokens.refresh_roots = refresh_roots;
        tokens.root_window = root_window;
        tokens.next_epoch_lead_ns = raw.rln_tokens_lead_s.get()? * NS_PER_S;
        tokens.max_cpu_percent = raw.rln_tokens_max_cpu.get()? as u8;
        Ok(tokens)
    }

    /// Returns the number of verifier threads; by default one processor is left for everything else.
    fn verifier_threads(&self) -> Result<usize, ConfigError> {
        let usual = || available_parallelism().map_or(1, |n| n.get().saturating_sub(1).max(1));
        let threads = self.raw.rln_verify_threads.get()?;
        Ok(threads.unwrap_or_else(usual))
    }

    fn batches(&self) -> Result<BatchPolicy, ConfigError> {
        let raw = &self.raw;
        let mut batches = BatchPolicy::default();
        batches.max_batch = raw.rln_batch_max.get()?;
        batches.single_below = raw.rln_batch_from.get()?;
        batches.max_delay_ns = raw.rln_batch_max_delay_ms.get()? * NS_PER_MS;
        batches.suspect_for_ns = raw.rln_suspect_s.get()? * NS_PER_S;
        Ok(batches)
    }
}

/// Names the remedies if the network's memberships are on a chain for which no endpoint is configured. Without one,
/// the node would know no members and take every message for spam.
fn missing(network: &NetworkPreset, chain: ChainParams) -> String {
    format!(
        "an endpoint (https:// or wss://) of chain {}, where the memberships of network {} are; or rln-registry=FILE for \
         memberships of one's own, rln=false to relay without rate limiting, or relay=false without store-sync and store-resume",
        chain.chain_id, network.name
    )
}
