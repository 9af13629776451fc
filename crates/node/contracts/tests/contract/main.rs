//! The membership contract on a real chain: anvil, started by each test for itself.
#![expect(
    clippy::unwrap_used,
    reason = "helpers of tests, which clippy takes for other code"
)]

mod abi;
mod devchain;
mod fuzz;
mod ledger;
mod life;
mod model;
mod receipts;
mod roots;
mod slashing;
mod tree;
mod upgrades;
mod world;
