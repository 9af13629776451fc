//! Store synchronisation: sessions with other stores, in which each side gets the messages that only the other has.
//!
//! A session has one stream of reconciliation, in which the two sides find out what each of them lacks, and one stream
//! of transfer in each direction. A transferred message is stored only if the peer named it in a session and it passes
//! every check that this node can make.

mod check;
mod context;
mod counts;
mod expected;
mod failure;
mod handle;
mod index;
mod intake;
mod outbound;
mod outcome;
mod proofs;
mod reconcile;
mod schedule;
mod session;
mod sessions;
mod settings;
mod terms;

#[cfg(test)]
mod tests;

pub use counts::{SessionHistogram, SyncTotals};
pub use failure::SyncFailure;
pub use handle::SyncHandle;
pub use outcome::SyncOutcome;

pub(super) use check::HistoryCheck;
pub(super) use handle::{SyncOptions, SyncParts, accepted, start};
pub(super) use index::SyncIndex;
pub use proofs::PastProofs;
pub(super) use terms::SessionTerms;
