//! Search for attacks on a simulated network.
//!
//! A search varies the numbers of an adversary's policy and keeps what harms the honest nodes most. What it finds is
//! shrunk to a scenario file.
//!
//! # Where to start
//!
//! [`Search::new`], [`Search::step`], [`shrink`].

mod attack;
mod evolution;
mod found;
mod genes;
mod judge;
mod search;
mod shrink;

pub use attack::Attack;
pub use found::scenario_file;
pub use genes::Budget;
pub use judge::{Aim, Figures};
pub use search::{Search, SearchError, Settings};
pub use shrink::shrink;
