//! Attackers: members that publish without regard to their limit.
//!
//! A spammer's second message with the same message id reveals its member's secret, and so forfeits the
//! member's deposit. So [`spammers_proofs`] refuses every network except one without deposits and without a
//! route to other machines. No configuration of a node leads here.

mod node;
mod reused_ids;
mod schedule;
mod spammer;
mod token_stockpile;

pub use node::{Harmful, spammers_proofs};

pub(crate) use reused_ids::ReusedIds;
pub(crate) use schedule::{Schedule, epoch_at, unix_now};
pub(crate) use token_stockpile::{Stock, StockpiledProofs, Stockpiler};
