//! Store synchronisation: sessions with other stores, in which each side gets the messages that only the other has.
//!
//! A session is one stream of reconciliation, in which the two sides find what each of them lacks, and a stream of
//! transfer in each direction. Of what a peer transfers, only messages are kept that it named in a session, and
//! that pass every check that this node can make.

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
