//! Whole nodes, as `undertone node` starts them: configuration, files, registry, REST.
#![allow(
    clippy::unwrap_used,
    reason = "only test functions are exempt, and these helpers serve them"
)]

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
#[allow(dead_code, reason = "the tests of the archive need more of it")]
#[path = "../../../archive/tests/archive/postgres_server.rs"]
mod postgres_server;
mod rendezvous;
mod sending;
mod sending_kill;
mod services;
mod small_disk;
mod support;
mod sync;
mod upgrade;
