//! `undertone rln` as people and scripts use it: the built program, its files, its exit codes.
//!
//! Messages carry fixed times and are judged as of fixed times, so no test depends on the clock.
#![expect(
    clippy::unwrap_used,
    reason = "helpers of tests, which clippy takes for other code"
)]

#[cfg(feature = "lab")]
mod bench;
mod keystore;
mod membership;
mod misuse;
mod verdicts;
