//! The driver for virtual time: the relay of real nodes on an emulated network.
//!
//! A run is a pure function of a [`Scenario`] and a seed; its outcome does not depend on
//! the number of threads.

pub mod outcome;
pub mod run;
pub mod scenario;

mod account;
mod error;
mod events;
mod hashes;
mod member;
mod node;
mod seeds;
mod shard;
mod threads;
mod topology;
mod world;

pub use error::SimError;
pub use outcome::{Outcome, Progress};
pub use run::{Dial, Plan, RunOptions, run};
pub use scenario::Scenario;
