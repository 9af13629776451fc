//! Whole nodes whose registry is the contract on a real chain. Needs anvil: see `contracts/README.md`.
#![allow(
    clippy::unwrap_used,
    reason = "only test functions are exempt, and these helpers serve them"
)]

mod endpoints;
mod light;
mod races;
mod rig;
