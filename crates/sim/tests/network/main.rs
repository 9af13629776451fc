//! Whole networks, small enough to take a second.

mod determinism;
mod discovery;
mod faults;
mod join;
mod partition;
mod rate_limit;
mod services;
mod silence;
mod stopping;
mod support;
mod topologies;
mod transfers;
mod verification;
