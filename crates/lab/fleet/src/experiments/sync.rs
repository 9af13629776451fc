//! Initial synchronisation: follows a contract with many members from its first block.

use std::fmt::Display;
use std::time::{Duration, Instant};

use undertone_contracts::{DevChainError, DevChainOptions, deploy_with_members};
use undertone_lab::experiment::{MachineError, SyncRun};
use undertone_membership::evm::{Contract, EvmConfig, EvmRegistry, Health};

use crate::dev_chain;

const WHAT: &str = "following a chain";
/// Number of accepted roots, as in the Waku networks.
const WINDOW: usize = 50;
/// Time limit, longer than any machine needs for ten thousand members.
const LIMIT: Duration = Duration::from_secs(300);

pub(crate) fn run(members: u32, note: &dyn Fn(&str)) -> Result<SyncRun, MachineError> {
    let options = DevChainOptions::default();
    let chain = dev_chain::start(&options, note).map_err(unavailable)?;
    let runtime = tokio::runtime::Runtime::new().map_err(failed)?;
    let filled = runtime.block_on(async {
        let address = deploy_with_members(&chain, u64::from(members), |_| {}).await?;
        let blocks: String = chain
            .request("eth_blockNumber", serde_json::json!([]))
            .await?;
        Ok::<_, undertone_contracts::ChainError>((address, blocks))
    });
    let (address, blocks) = filled.map_err(failed)?;
    let folder = tempfile::tempdir().map_err(failed)?;
    let contract = Contract {
        chain_id: options.chain_id,
        address,
    };
    let store = folder.path().join("chain.sqlite");
    let config = EvmConfig::new(contract, vec![chain.endpoint().to_owned()], store, WINDOW);
    let begun = Instant::now();
    let registry = EvmRegistry::start(config).map_err(failed)?;
    let status = registry.chain().wait_until(LIMIT, |status| {
        matches!(status.health, Health::Synced { .. })
    });
    let wall_s = begun.elapsed().as_secs_f64();
    if !matches!(status.health, Health::Synced { .. }) {
        return Err(failed(format!(
            "not there after {LIMIT:?}: {:?}",
            status.health
        )));
    }
    let view = registry.view();
    let view = view.lock();
    Ok(SyncRun {
        members: u32::try_from(view.tree().occupied()).unwrap_or(u32::MAX),
        blocks: u64::from_str_radix(blocks.trim_start_matches("0x"), 16).unwrap_or(0),
        requests: status.costs.requests,
        bytes: status.costs.received_bytes,
        wall_s,
        tree_bytes: view.tree().memory_bytes() as u64,
    })
}

fn unavailable(error: DevChainError) -> MachineError {
    MachineError::Unavailable {
        what: error.to_string(),
        remedy: "`npm ci` in contracts/ brings a development chain".to_owned(),
    }
}

fn failed(error: impl Display) -> MachineError {
    MachineError::Failed {
        what: WHAT,
        reason: error.to_string(),
    }
}
