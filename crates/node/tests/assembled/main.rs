//! Whole nodes, as `undertone node` starts them: configuration, files, registry, REST.
#![allow(
    clippy::unwrap_used,
    reason = "only test functions are exempt, and these helpers serve them"
)]

mod full_disk;
mod identity;
mod membership;
mod metrics;
mod services;
mod support;
mod sync;
