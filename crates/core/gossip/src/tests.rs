//! Behaviour of the router, one file per concern.
//!
//! `solo` is one router among peers played by the test; `net` is a network of routers in virtual time;
//! `raw` encodes frames by hand.
//!
//! No test depends on wall time or on a random source that is not seeded. A property test that fails prints
//! the smallest input it found and stores its seed under `proptest-regressions/`, from where the next
//! `cargo test -p undertone-gossip` replays it first; `PROPTEST_CASES=10000` runs more cases.

mod asking;
mod contract;
mod cves;
mod dandelion;
mod determinism;
mod flood;
mod forgetting;
mod forwarding;
mod fragments;
mod fuzz;
mod gossip;
mod idontwant;
mod large;
mod mesh;
mod mesh_replacement;
mod misbehaviour;
pub(crate) mod net;
mod profiles;
mod publish;
mod px;
mod queue;
pub(crate) mod raw;
mod renew;
mod restart;
mod scoring;
pub(crate) mod solo;
mod traffic;
mod transfers;
mod upkeep;
