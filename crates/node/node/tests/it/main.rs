//! Tests of nodes as programs start them: over loopback, by REST, on a chain, on disks that fill up.

mod assembled;
mod bad_proofs;
mod chain;
#[cfg(feature = "quic")]
mod connections;
mod driver;
mod openapi;
mod rest;
mod store_faults;
mod support;
mod traces;

/// Held by tests that flood a node, which keep the processors busy: some have bounds in time.
static FLOOD: tokio::sync::Mutex<()> = tokio::sync::Mutex::const_new(());
