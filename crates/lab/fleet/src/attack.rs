//! Attackers: members that publish without regard to their limit.
//!
//! A spammer's second message with one message id makes its member's secret public, and with it the member's
//! deposit. So [`spammers_proofs`] refuses every network but one without deposits and without a route to
//! other machines; no configuration of a node leads here.

mod node;
mod reused_ids;
mod schedule;
mod spammer;
mod token_stockpile;

pub use node::{Harmful, spammers_proofs};

pub(crate) use reused_ids::ReusedIds;
pub(crate) use schedule::{Schedule, epoch_at, unix_now};
pub(crate) use token_stockpile::{Stock, StockpiledProofs, Stockpiler};
