//! Search for attacks on a simulated network.
//!
//! A search varies the numbers of an adversary's policy and keeps what harms the honest nodes most. What it finds is
//! shrunk to a scenario file. A search for rules varies those of the honest nodes, under which known attacks do the
//! least harm.
//!
//! # Where to start
//!
//! [`Search::new`], [`Search::step`], [`shrink`]; [`Defence::new`], [`Defence::step`].

mod attack;
mod defence;
mod evolution;
mod found;
mod genes;
mod judge;
mod search;
mod shrink;
mod state;

pub use attack::Attack;
pub use defence::{Defence, DefenceFigures, DefenceSettings};
pub use found::scenario_file;
pub use genes::Budget;
pub use judge::{Aim, Figures};
pub use search::{Search, Settings};
pub use shrink::shrink;
pub use state::SearchError;
