//! Whole networks, small enough to take a second.

mod attacks;
mod channel;
mod determinism;
mod discovery;
mod faults;
mod groups;
mod join;
mod member_attacks;
mod partition;
mod ranks;
mod rate_limit;
mod records;
mod service_peers;
mod services;
mod silence;
mod stopping;
mod support;
mod swarm;
mod topologies;
mod transfers;
mod verification;
