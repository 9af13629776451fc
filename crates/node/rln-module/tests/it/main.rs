//! Tests of the module on a real chain, and of a process that is killed.
#![allow(
    clippy::unwrap_used,
    reason = "only test functions are exempt, and these helpers serve them"
)]

mod chain;
mod kill;
#[path = "../../../membership/tests/it/chain/rig.rs"]
#[allow(dead_code, reason = "the tests of the registry use all of it")]
mod rig;
