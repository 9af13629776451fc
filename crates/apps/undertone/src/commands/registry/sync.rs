//! `undertone registry sync`: reads a contract's members into a file, as a node does.

use std::fmt;
use std::path::PathBuf;
use std::time::{Duration, Instant, SystemTime};

use serde::Serialize;
use undertone_contracts::Address;
use undertone_membership::evm::{
    ChainStatus, Contract, ContractName, EvmConfig, EvmRegistry, Health,
};

use super::{Failure, chain, output};
use crate::commands::progress::Spinner;
use crate::commands::rln::element;

/// Number of accepted roots kept, as in a relay of the Waku networks.
const ROOT_WINDOW: usize = 50;
/// Interval between progress lines.
const TELL_EVERY: Duration = Duration::from_millis(250);

#[derive(clap::Args, Debug)]
pub(super) struct Args {
    /// RPC endpoint of the chain, like http://127.0.0.1:8545 or wss://chain.example; may be repeated, the
    /// preferred endpoint first: the others are asked when it fails
    #[arg(long, value_name = "URL", required = true)]
    rpc: Vec<String>,
    /// Membership contract: its address, or eip155:CHAIN:ADDRESS
    #[arg(long, value_name = "ADDRESS")]
    contract: ContractName,
    /// File that stores the members read from the chain; created if absent, continued otherwise
    #[arg(long, value_name = "FILE")]
    store: PathBuf,
    /// Chain id, EIP-155 [default: the chain id of the first endpoint that answers]
    #[arg(long, value_name = "N")]
    chain_id: Option<u64>,
    /// How long the endpoints may fail before the command gives up, in seconds
    #[arg(long, value_name = "N", default_value_t = 60)]
    patience_s: u64,
}

#[derive(Serialize)]
struct Synced {
    contract: Address,
    chain_id: u64,
    store: PathBuf,
    /// Number of the newest block read.
    block: u64,
    /// Number of non-empty leaves in the tree.
    members: usize,
    /// Root of the tree; equal to the contract's, as was checked.
    root: String,
    requests: u64,
    sent_bytes: u64,
    received_bytes: u64,
    time_ms: u64,
}

pub(super) fn run(args: &Args, json: bool) -> Result<(), Failure> {
    let named = args.contract.on_chain(args.chain_id);
    let named =
        named.map_err(|error| Failure::usage(format!("--contract {}: {error}", args.contract)))?;
    let contract = match named {
        Some(contract) => contract,
        None => Contract {
            chain_id: ask_chain_id(args)?,
            address: args.contract.address,
        },
    };
    let config = EvmConfig::new(contract, args.rpc.clone(), args.store.clone(), ROOT_WINDOW);
    let began = Instant::now();
    let registry =
        EvmRegistry::start(config).map_err(|error| Failure::new(format!("sync: {error}")))?;
    let progress = Spinner::new(!json);
    let patience = Duration::from_secs(args.patience_s);
    let (block, status) = follow(&registry, patience, began, &progress)?;
    let elapsed = began.elapsed();
    progress.finish();
    let view = registry.view();
    let view = view.lock();
    let synced = Synced {
        contract: contract.address,
        chain_id: contract.chain_id,
        store: args.store.clone(),
        block,
        members: view.tree().occupied(),
        root: element(&view.tree().root()),
        requests: status.costs.requests,
        sent_bytes: status.costs.sent_bytes,
        received_bytes: status.costs.received_bytes,
        time_ms: u64::try_from(elapsed.as_millis()).unwrap_or(u64::MAX),
    };
    output::print(&synced, json)
}

/// Returns the chain id from the first endpoint that answers; if none does, the last endpoint's error.
fn ask_chain_id(args: &Args) -> Result<u64, Failure> {
    let mut failure = Failure::usage("--rpc: give the URL of at least one endpoint");
    for url in &args.rpc {
        let asked = chain::ContractArgs::at(url.clone(), args.contract).open();
        match asked.and_then(|contract| chain::wait(contract.chain_id())) {
            Ok(chain_id) => return Ok(chain_id),
            Err(error) => failure = error,
        }
    }
    Err(failure)
}

/// Shows progress until the registry is synchronised; returns the newest block and the registry's status.
pub(crate) fn follow(
    registry: &EvmRegistry,
    patience: Duration,
    began: Instant,
    progress: &Spinner,
) -> Result<(u64, ChainStatus), Failure> {
    loop {
        let ended = |status: &ChainStatus| matches!(status.health, Health::Synced { .. });
        let status = registry.chain().wait_until(TELL_EVERY, ended);
        match &status.health {
            Health::Synced { block } => return Ok((*block, status.clone())),
            Health::Starting => progress.say("asking for the newest block"),
            Health::Syncing { block, head } => {
                let view = registry.view();
                let members = view.lock();
                let members = members.tree().occupied();
                let rate = members as f64 / began.elapsed().as_secs_f64();
                progress.say(format!(
                    "block {block} of {head}, {members} members, {rate:.0} a second"
                ));
            }
            Health::Degraded { since, reason, .. } => {
                let lasts = SystemTime::now().duration_since(*since).unwrap_or_default();
                if lasts >= patience {
                    progress.finish();
                    return Err(Failure::new(reason.clone()).with_help(
                        "check the URL and the address, or wait longer with --patience-s; what \
                         was read is kept in the store",
                    ));
                }
                progress.say(reason.clone());
            }
        }
    }
}

impl fmt::Display for Synced {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let bytes = format!("{} sent, {} received", self.sent_bytes, self.received_bytes);
        output::fields(
            f,
            &[
                ("contract", &self.contract),
                ("chain", &self.chain_id),
                ("store", &self.store.display()),
                ("block", &self.block),
                ("members", &self.members),
                ("root", &format!("{}, equal to the contract's", self.root)),
                ("requests", &self.requests),
                ("bytes", &bytes),
                ("time", &format!("{} ms", self.time_ms)),
            ],
        )
    }
}
