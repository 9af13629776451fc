//! Measures what a node spends to learn a contract's members from nothing, on a development chain: full mode
//! next to light mode.
//!
//! `cargo run --profile dist -p undertone-membership --example sync -- [MEMBERS]`

use std::error::Error;
use std::path::Path;
use std::time::{Duration, Instant};

use rustix::time::{ClockId, clock_gettime};
use undertone_contracts::{DevChain, DevChainOptions, deploy_with_members};
use undertone_membership::evm::{ChainStatus, Contract, EvmConfig, EvmRegistry, LightRegistry};
use undertone_membership::{MemberLookup as _, MembershipView, View as _};
use undertone_rln::Fr;

/// Upper bound on the duration of one start.
const PATIENCE: Duration = Duration::from_secs(600);

/// Costs of one start.
struct Start {
    name: &'static str,
    elapsed: Duration,
    cpu: Duration,
    status: ChainStatus,
    roots: usize,
    store_bytes: u64,
}

fn main() -> Result<(), Box<dyn Error>> {
    let members: u64 = std::env::args()
        .nth(1)
        .map_or(Ok(10_000), |text| text.parse())?;
    let runtime = tokio::runtime::Runtime::new()?;
    let chain = DevChain::start(&DevChainOptions::default())?;
    let deployment = runtime.block_on(deploy_with_members(&chain, members, |member| {
        if member % 1000 == 0 {
            eprintln!("{member} registered");
        }
    }))?;
    let folder = tempfile::tempdir()?;
    let contract = Contract {
        chain_id: DevChainOptions::default().chain_id,
        address: deployment,
    };
    let urls = vec![chain.endpoint().to_owned()];

    let config = |name: &str| {
        let store = folder.path().join(name);
        EvmConfig::light(contract, urls.clone(), store, 50)
    };
    let relays = light("light, relays only", config("relays"), None)?;
    let member = Some(Fr::from(members));
    let publishes = light("light, publishes", config("publishes"), member)?;
    let store = folder.path().join("full");
    let config = EvmConfig::new(contract, urls, store.clone(), 50);

    let (begun, cpu) = (Instant::now(), cpu());
    let registry = EvmRegistry::start(config)?;
    let status = registry
        .chain()
        .wait_until(PATIENCE, ChainStatus::is_synced);
    let (elapsed, cpu) = (begun.elapsed(), self::cpu() - cpu);
    let view = registry.view();
    // The file is complete once the registry has ended.
    drop(registry);
    let view: &MembershipView = &view.lock();
    let full = Start {
        name: "full",
        elapsed,
        cpu,
        status,
        roots: view.roots().len(),
        store_bytes: size(&store)?,
    };

    let tree = view.tree();
    println!(
        "{members} members, {} in the tree of full mode",
        tree.occupied()
    );
    println!("its tree takes {} bytes of memory", tree.memory_bytes());
    println!(
        "{:<20}{:>10}{:>10}{:>10}{:>12}{:>10}{:>8}{:>12}",
        "", "time ms", "CPU ms", "requests", "received B", "sent B", "roots", "file B"
    );
    for start in [full, relays, publishes] {
        assert!(start.status.is_synced(), "{:?}", start.status);
        let costs = start.status.costs;
        println!(
            "{:<20}{:>10}{:>10}{:>10}{:>12}{:>10}{:>8}{:>12}",
            start.name,
            start.elapsed.as_millis(),
            start.cpu.as_millis(),
            costs.requests,
            costs.received_bytes,
            costs.sent_bytes,
            start.roots,
            start.store_bytes
        );
    }
    println!("published: < 4 minutes, 2 MB, 520 requests (a year at 5,000 blocks each)");
    Ok(())
}

/// Starts light mode, for one member or none, and then requests one more poll.
fn light(
    name: &'static str,
    config: EvmConfig,
    member: Option<Fr>,
) -> Result<Start, Box<dyn Error>> {
    let store = config.store.clone();
    let (begun, cpu) = (Instant::now(), cpu());
    let registry = LightRegistry::start(config)?;
    if let Some(member) = member {
        // The thread requests this member from now on.
        let _ = registry.find(member);
    }
    let status = registry.chain().wait_until(PATIENCE, |status| {
        status.is_synced() && member.is_none_or(|member| registry.find(member).is_ok())
    });
    let (elapsed, cpu) = (begun.elapsed(), self::cpu() - cpu);
    registry.chain().request_refresh();
    let again = registry
        .chain()
        .wait_until(PATIENCE, |now| now.compared > status.compared);
    println!(
        "{name}: a look that finds nothing new takes {} request, {} bytes received, {} sent",
        again.costs.requests - status.costs.requests,
        again.costs.received_bytes - status.costs.received_bytes,
        again.costs.sent_bytes - status.costs.sent_bytes
    );
    let view = registry.view();
    drop(registry);
    let roots = view.lock().roots().len();
    Ok(Start {
        name,
        elapsed,
        cpu,
        status,
        roots,
        store_bytes: size(&store)?,
    })
}

fn size(store: &Path) -> std::io::Result<u64> {
    Ok(std::fs::metadata(store)?.len())
}

/// Returns the processor time that this process has used so far.
fn cpu() -> Duration {
    let time = clock_gettime(ClockId::ProcessCPUTime);
    Duration::new(time.tv_sec as u64, time.tv_nsec as u32)
}
