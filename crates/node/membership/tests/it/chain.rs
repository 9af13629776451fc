//! Following the contract on a real chain. That needs anvil: the tests are ignored here and run by
//! `cargo xtask test --only contracts`.
#![allow(
    clippy::unwrap_used,
    reason = "only test functions are exempt, and these helpers serve them"
)]

mod faults;
mod light;
mod older;
mod proxy;
mod removal;
mod reorganisations;
mod restarts;
mod rig;
mod sync;
