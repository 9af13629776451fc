//! Requests for missing messages: IHAVE received, IWANT sent, and which peer is asked when.
//!
//! [`Fetcher`] holds one record for each missing message: the peers that announced it, its open requests, and
//! the time at which the next peer is asked. [`Transfers`] knows which peers are sending long frames, because
//! an IWANT for a message whose copy is in transit yields a duplicate. Both are data independent of the
//! router; `handlers` connects them with peers, scores and budgets.

mod fetcher;
mod handlers;
mod record;
mod reliability;
mod transfers;

pub(crate) use fetcher::{Fetcher, FetcherLimits};
pub(crate) use reliability::AnswerRecord;
pub(crate) use transfers::Transfers;

#[cfg(test)]
#[path = "tests/iwant.rs"]
mod tests;
