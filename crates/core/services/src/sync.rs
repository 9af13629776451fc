//! Store synchronisation: two archives find and exchange messages that only one of them has.
//!
//! Reconciliation (`/vac/waku/reconciliation/1.0.0`) compares two sets of (timestamp, hash) by fingerprints
//! of time ranges, and narrows down the ranges that differ. [`SyncSet`] is the set, [`Reconciler`] one side
//! of a session, [`RangesPayload`] the wire format. Each side then sends the messages that the other lacks by
//! transfer (`/vac/waku/transfer/1.0.0`) as [`TransferMessage`]s.
//!
//! The session runs on one stream: the initiator writes a payload, then the two sides take turns until one of
//! them writes a payload without open ranges. The driver sets the time limit of a turn.

mod answer;
mod id;
mod limits;
pub mod payload;
mod ranges;
pub mod session;
pub mod set;
pub mod transfer;

pub use id::{Fingerprint, SyncId};
pub use limits::SyncLimits;
pub use payload::{ItemSet, PayloadError, RangeContent, RangesPayload, SyncRange};
pub use session::{Reconciler, SyncError, SyncStep};
pub use set::{SyncScope, SyncSet};
pub use transfer::{TransferError, TransferMessage};

/// Identifier of the reconciliation protocol.
pub const RECONCILIATION_PROTOCOL_ID: &str = "/vac/waku/reconciliation/1.0.0";

/// Identifier of the transfer protocol.
pub const TRANSFER_PROTOCOL_ID: &str = "/vac/waku/transfer/1.0.0";
