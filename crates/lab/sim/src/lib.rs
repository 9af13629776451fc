#![doc = include_str!("../README.md")]
//!
//! # Where to start
//!
//! [`Scenario::plain`], [`run()`] and its [`RunOptions`], [`Outcome`].

pub mod outcome;
pub mod ranks;
pub mod run;
pub mod scenario;

mod account;
mod adversary;
mod error;
mod events;
mod hashes;
mod layout;
mod light;
mod member;
mod node;
mod record;
mod seeds;
mod services;
mod shard;
mod threads;
mod topology;
mod trace;
mod world;

pub use error::SimError;
pub use outcome::{Outcome, Progress};
pub use run::{Dial, Plan, RunOptions, run, run_on_ranks, run_until};
pub use scenario::{MAX_NODES, Scenario};
