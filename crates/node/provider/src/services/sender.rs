//! Accountable sending: every accepted message ends as stored, propagated, or failed with a reason.
//!
//! One task drives the state machine of `undertone_services::sending`. Its queue is on disk, so that an accepted
//! message reaches its final state even if the node is killed.
//!
//! A message id of the rate limit is spent when a proof is generated, and the proof is on disk before the message
//! leaves. If the node is killed in between, the message gets another id after the restart, and the first one is lost.
//! To reuse the first one, the queue would have to store it beside the message, with one more write and sync before
//! each proof. A fault there, or a queue file restored from a backup, would prove two messages with one id, which
//! reveals the node's secret. The loss is small: after a crash, the counter of message ids skips the rest of its
//! reserved block in any case (at most 8 ids, or a sixteenth of the limit).

mod begin;
mod calls;
mod conditions;
mod driver;
mod handle;
mod peer_wait;
mod queue;
mod repair_share;
mod report;
mod seen;
mod state;
mod step;
mod work;
mod writing;

pub use handle::{SendFailure, SendNews, SendNewsStream, SenderHandle};
pub use queue::SendQueueError;
pub use report::{SendReport, SendStep, WaitingMessage};
pub use state::SendQueueState;

pub(super) use driver::{OpenedSender, SenderParts, open, start};
pub use handle::sender_channel;
pub use handle::{SenderCall, SenderEndpoint};
pub(super) use work::SenderWork;
