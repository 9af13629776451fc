//! Accountable sending: each accepted message ends stored, propagated, or failed with a reason.
//!
//! One task drives the machine of `undertone_services::sending`. Its queue is on disk, so that a message that was
//! accepted has its end also if the node is killed.
//!
//! A message id of the rate limit is spent when a proof is made, and the proof is on disk before the message leaves. If
//! the node is killed between the two, the message gets another id after the restart, and the first one is lost. To use
//! the first one again, the queue would have to keep it beside the message, written and synchronised once more before each
//! proof; and a fault there, or a queue file restored from a backup, would prove two messages with one id, which
//! reveals the node's secret. What is lost is little: the counter of message ids reserves them in blocks and skips the
//! rest of a block after a crash in any case (at most 8 ids, or a sixteenth of the limit).

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
