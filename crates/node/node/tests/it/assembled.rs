//! Whole nodes, as `undertone node` starts them: configuration, files, registry, REST.
#![allow(
    clippy::unwrap_used,
    reason = "only test functions are exempt, and these helpers serve them"
)]

mod auto;
mod bandwidth;
mod channels;
mod cut_off;
mod discovery;
mod families;
mod full_disk;
mod identity;
mod light;
mod membership;
mod metrics;
mod one_machine;
mod rendezvous;
mod sending;
mod sending_kill;
mod services;
mod sync;
mod upgrade;
