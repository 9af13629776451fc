//! Nodes that find each other: processes of the program, each in a host of its own on an emulated network, which begin with
//! one record and discv5 alone. They lose the node that it belongs to, a tenth of their number each minute, and their
//! addresses.
//!
//! `UNDERTONE_DISCOVERY_SEED` chooses who dies and who sends (default 1), `UNDERTONE_DISCOVERY_MINUTES` how long nodes die
//! and join (default 10).

mod churn;
mod logs;
mod moved;
mod node;
mod report;
mod start;
mod world;

use std::path::Path;
use std::str::FromStr;

use world::World;

/// Nodes of the first phase: the one with the record, twenty, and one of another cluster.
const AT_FIRST: usize = 22;

const SEED: u64 = 1;
const MINUTES: usize = 10;

#[test]
#[ignore = "network namespaces, a quarter of an hour; cargo xtask campaign --only discovery"]
fn nodes_find_each_other_and_stay_together() {
    let seed = parameter("UNDERTONE_DISCOVERY_SEED", SEED);
    let minutes = parameter("UNDERTONE_DISCOVERY_MINUTES", MINUTES);
    println!("seed {seed}, {minutes} minutes of churn\n");
    let mut world = World::new(AT_FIRST + minutes * churn::PER_MINUTE, seed);
    start::phase(&mut world);
    start::without_the_first(&mut world);
    churn::phase(&mut world, minutes);
    moved::phase(&mut world);
    logs::phase(&mut world);
    let file = Path::new(env!("CARGO_TARGET_TMPDIR")).join("discovery.json");
    let missed = world.end(seed, &file);
    assert!(
        missed.is_empty(),
        "{} goals missed:\n{}",
        missed.len(),
        missed.join("\n")
    );
}

/// Parameter of the campaign from the environment.
fn parameter<T: FromStr>(name: &str, default: T) -> T {
    let Ok(text) = std::env::var(name) else {
        return default;
    };
    text.parse()
        .unwrap_or_else(|_| panic!("{name} = {text} is no number"))
}
