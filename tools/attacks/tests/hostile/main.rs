//! Attacks on a real node over loopback, in short: each test is named after the number of its attack. The
//! long forms, with figures, are run by `cargo xtask campaign --only hostile` (docs/measurements/hostile.md).
#![expect(
    clippy::unwrap_used,
    reason = "helpers of tests, which clippy takes for other code"
)]

mod cut_off;
mod liars;
mod neighbours;
mod offers;
mod outside;
mod restarts;
mod services;
mod silence;
mod support;
