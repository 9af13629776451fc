//! A thousand GossipSub relays in virtual time: ten messages of 2 kB, and how fast they arrive.
//!
//! `cargo run -p undertone-sim --example thousand_nodes`

use std::error::Error;

use undertone_sim::scenario::{Publishers, Spacing};
use undertone_sim::{RunOptions, Scenario, run};

fn main() -> Result<(), Box<dyn Error>> {
    // A plain network: five dials each, 50 ms between any two nodes, 100 Mbit/s, the TCP of Linux.
    let mut scenario = Scenario::plain(1_000);
    scenario.traffic.messages = 10;
    scenario.traffic.payload_bytes = vec![2_000];
    scenario.traffic.publishers = Publishers::Random;
    scenario.traffic.spacing = Spacing::Constant(1_000_000_000);

    // The outcome depends only on the scenario and the seed, not on the number of threads.
    let threads = std::thread::available_parallelism()?.get();
    let outcome = run(&scenario, RunOptions::new(1).threads(threads), &mut |_| {})?;

    let mut latencies_ms: Vec<u64> = outcome
        .deliveries
        .iter()
        .map(|delivery| {
            let published_ns = outcome.messages[delivery.message as usize].published_ns;
            (delivery.received_ns - published_ns) / 1_000_000
        })
        .collect();
    latencies_ms.sort_unstable();
    let median = latencies_ms[latencies_ms.len() / 2];
    let last = latencies_ms[latencies_ms.len() - 1];
    println!(
        "{} of {} deliveries; half of them within {median} ms, all within {last} ms",
        outcome.deliveries.len(),
        outcome.expected
    );
    // Every run is checked against rules such as "a message is delivered at most once".
    assert!(outcome.violations.is_empty(), "{:?}", outcome.violations);
    assert_eq!(outcome.deliveries.len() as u64, outcome.expected);
    Ok(())
}
