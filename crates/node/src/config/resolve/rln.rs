//! Resolves the keys of rate limiting.

use std::{ops::RangeInclusive, path::PathBuf, thread::available_parallelism};

use undertone_membership::evm::{Contract, Mode};
use undertone_message::{NetworkPreset, RlnParams};
use undertone_rln::{BatchPolicy, PoolConfig, prover::MAX_LIMIT};

use super::Resolver;
use crate::config::{ChainConfig, ConfigError, RlnConfig};

const NS_PER_MS: u64 = 1_000_000;
const NS_PER_S: u64 = 1_000_000_000;
const MAX_SECONDS: u64 = 86_400;
/// Longest epoch, seconds; the same as in scenario files.
const MAX_EPOCH_S: u64 = 1_000_000_000;
const MAX_BATCH: u64 = 1024;

impl Resolver<'_> {
    pub(super) fn rln(
        &self,
        network: &NetworkPreset,
        in_data_dir: impl Fn(&Option<PathBuf>, &str) -> PathBuf,
    ) -> Result<Option<RlnConfig>, ConfigError> {
        let Some(params) = network.rln else {
            if self.raw.rln == Some(true) {
                let expected = format!("false, because {} has no rate limiting", network.name);
                return Err(self.bad_because("rln", expected));
            }
            return Ok(None);
        };
        let message_limit = self
            .raw
            .rln_message_limit
            .unwrap_or(params.user_message_limit);
        if !(1..=params.user_message_limit).contains(&message_limit) {
            let expected = format!("a number, 1 to {}", params.user_message_limit);
            return Err(self.bad_because("rln-message-limit", expected));
        }
        Ok(Some(RlnConfig {
            params,
            chain: self.chain(in_data_dir(&self.raw.rln_eth_store, self.chain_file()))?,
            registry: in_data_dir(&self.raw.rln_registry, "registry.sqlite"),
            identity_file: in_data_dir(&self.raw.rln_identity_file, "rln-identity.json"),
            message_limit,
            counter_file: in_data_dir(&self.raw.rln_counter_file, "rln-counter"),
            tables_file: in_data_dir(&None, "rln-tables"),
            tree_file: in_data_dir(&None, "rln-tree"),
            tokens: self.tokens(&params)?,
            verifier_threads: self.verifier_threads()?,
            batches: self.batches()?,
        }))
    }

    /// The network's parameters with the configured overrides.
    pub(super) fn rln_params(&self, params: RlnParams) -> Result<RlnParams, ConfigError> {
        let epoch_s = self.within("rln-epoch-s", self.raw.rln_epoch_s, 1..=MAX_EPOCH_S)?;
        let limit = self.raw.rln_user_message_limit;
        let limit = self.within("rln-user-message-limit", limit, 1..=MAX_LIMIT.into())?;
        let mut configured = params;
        configured.epoch_size_s = epoch_s.unwrap_or(params.epoch_size_s);
        configured.user_message_limit = limit.unwrap_or(params.user_message_limit);
        Ok(configured)
    }

    fn mode(&self) -> Mode {
        self.raw.rln_eth_mode.unwrap_or(Mode::Full)
    }

    /// Default name of the database file; each mode has its own.
    fn chain_file(&self) -> &'static str {
        match self.mode() {
            Mode::Full => "rln-chain.sqlite",
            Mode::Light => "rln-chain-light.sqlite",
        }
    }

    /// The contract, if endpoints are configured.
    fn chain(&self, store: PathBuf) -> Result<Option<ChainConfig>, ConfigError> {
        let raw = &self.raw;
        let Some(urls) = raw.rln_eth_rpc.clone().filter(|urls| !urls.is_empty()) else {
            let is_meant = raw.rln_eth_contract.is_some()
                || raw.rln_eth_chain_id.is_some()
                || raw.rln_eth_mode.is_some();
            return match is_meant {
                true => Err(self.bad("rln-eth-rpc")),
                false => Ok(None),
            };
        };
        if urls.iter().any(|url| !url.contains("://")) {
            return Err(self.bad("rln-eth-rpc"));
        }
        let address = self.raw.rln_eth_contract.as_deref().unwrap_or_default();
        let chain_id = self.raw.rln_eth_chain_id.filter(|id| *id > 0);
        Ok(Some(ChainConfig {
            contract: Contract {
                chain_id: chain_id.ok_or_else(|| self.bad("rln-eth-chain-id"))?,
                address: address.parse().map_err(|_| self.bad("rln-eth-contract"))?,
            },
            mode: self.mode(),
            urls,
            store,
        }))
    }

    fn tokens(&self, params: &RlnParams) -> Result<PoolConfig, ConfigError> {
        let default = PoolConfig::default();
        let root_window = params.root_window as u64;
        let refresh_roots = self.raw.rln_tokens_refresh;
        // In light mode other nodes may already know newer roots than this node, so tokens are
        // refreshed at each root.
        let usual = match self.mode() {
            Mode::Full => (root_window / 2).max(1),
            Mode::Light => 1,
        };
        let refresh_roots = refresh_roots.unwrap_or(usual);
        if !(1..=root_window).contains(&refresh_roots) {
            let expected = format!("a number, 1 to {root_window}");
            return Err(self.bad_because("rln-tokens-refresh", expected));
        }
        let size = self.within("rln-tokens", self.raw.rln_tokens, 0..=64)?;
        let percent = self.within("rln-tokens-max-cpu", self.raw.rln_tokens_max_cpu, 1..=100)?;
        let lead_s = self.raw.rln_tokens_lead_s;
        let lead_s = self.within("rln-tokens-lead-s", lead_s, 0..=MAX_SECONDS)?;
        let mut tokens = default;
        tokens.size = size.map_or(default.size, |size| size as usize);
        tokens.refresh_roots = refresh_roots;
        tokens.root_window = root_window;
        tokens.next_epoch_lead_ns = lead_s.map_or(default.next_epoch_lead_ns, |s| s * NS_PER_S);
        tokens.max_cpu_percent = percent.map_or(default.max_cpu_percent, |percent| percent as u8);
        Ok(tokens)
    }

    /// Number of verifier threads; by default one processor is left for everything else.
    fn verifier_threads(&self) -> Result<usize, ConfigError> {
        let threads = self.within("rln-verify-threads", self.raw.rln_verify_threads, 1..=64)?;
        Ok(threads.map_or_else(
            || available_parallelism().map_or(1, |n| n.get().saturating_sub(1).max(1)),
            |threads| threads as usize,
        ))
    }

    fn batches(&self) -> Result<BatchPolicy, ConfigError> {
        let default = BatchPolicy::default();
        let from = self.within("rln-batch-from", self.raw.rln_batch_from, 2..=MAX_BATCH)?;
        let max = self.within("rln-batch-max", self.raw.rln_batch_max, 1..=MAX_BATCH)?;
        let delay_ms = self.raw.rln_batch_max_delay_ms;
        let delay_ms = self.within("rln-batch-max-delay-ms", delay_ms, 0..=1000)?;
        let suspect_s = self.within("rln-suspect-s", self.raw.rln_suspect_s, 0..=MAX_SECONDS)?;
        let mut batches = default;
        batches.max_batch = max.map_or(default.max_batch, |max| max as usize);
        batches.single_below = from.map_or(default.single_below, |from| from as usize);
        batches.max_delay_ns = delay_ms.map_or(default.max_delay_ns, |ms| ms * NS_PER_MS);
        batches.suspect_for_ns = suspect_s.map_or(default.suspect_for_ns, |s| s * NS_PER_S);
        Ok(batches)
    }

    /// The value of a key if it is set, within its bounds.
    fn within(
        &self,
        name: &'static str,
        number: Option<u64>,
        bounds: RangeInclusive<u64>,
    ) -> Result<Option<u64>, ConfigError> {
        match number {
            Some(number) if !bounds.contains(&number) => Err(self.bad(name)),
            number => Ok(number),
        }
    }
}
