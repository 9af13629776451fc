//! How long a node takes to know a contract's members from nothing, on a chain of its own.
//!
//! `cargo run --release -p undertone-membership --example sync -- [MEMBERS]`

use std::error::Error;
use std::time::{Duration, Instant};

use rustix::time::{ClockId, clock_gettime};
use undertone_contracts::{DevChain, DevChainOptions, crowd};
use undertone_membership::evm::{Contract, EvmConfig, EvmRegistry, Health};

fn main() -> Result<(), Box<dyn Error>> {
    let members: u64 = std::env::args()
        .nth(1)
        .map_or(Ok(10_000), |text| text.parse())?;
    let runtime = tokio::runtime::Runtime::new()?;
    let chain = DevChain::start(&DevChainOptions::default())?;
    let deployment = runtime.block_on(crowd(&chain, members, |member| {
        if member % 1000 == 0 {
            eprintln!("{member} registered");
        }
    }))?;
    let folder = tempfile::tempdir()?;
    let contract = Contract {
        chain_id: DevChainOptions::default().chain_id,
        address: deployment,
    };
    let store = folder.path().join("chain.sqlite");
    let config = EvmConfig::new(
        contract,
        vec![chain.endpoint().to_owned()],
        store.clone(),
        50,
    );

    let (begun, cpu) = (Instant::now(), cpu());
    let registry = EvmRegistry::start(config)?;
    let status = registry.wait_until(Duration::from_secs(600), |status| {
        matches!(status.health, Health::Synced { .. })
    });
    let (elapsed, cpu) = (begun.elapsed(), self::cpu() - cpu);
    let view = registry.view();
    let view = view.lock().expect("nobody panics with the view");
    println!("members      {}", view.tree().occupied());
    println!("health       {:?}", status.health);
    println!("root equals  the contract's (compared before anything is accepted)");
    println!(
        "time         {:.2} s, {:.2} s of processor",
        elapsed.as_secs_f64(),
        cpu.as_secs_f64()
    );
    println!("requests     {}", status.costs.requests);
    println!("received     {} bytes", status.costs.received_bytes);
    println!("sent         {} bytes", status.costs.sent_bytes);
    println!(
        "tree         {} bytes of memory",
        view.tree().memory_bytes()
    );
    println!("store        {} bytes", std::fs::metadata(store)?.len());
    println!("published    < 4 minutes, 2 MB, 520 requests (a year at 5,000 blocks each)");
    Ok(())
}

/// Processor time of this process so far.
fn cpu() -> Duration {
    let time = clock_gettime(ClockId::ProcessCPUTime);
    Duration::new(time.tv_sec as u64, time.tv_nsec as u32)
}
