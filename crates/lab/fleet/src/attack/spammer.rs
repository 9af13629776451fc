//! Proofs of a spammer that runs as a node in a process of its own.

use std::path::Path;
use std::time::Duration;
use std::{io, thread};

use undertone_node::driver::{MemberProofs, ProofSource};
use undertone_rln::Epoch;

use super::reused_ids::ReusedIds;
use super::schedule::{epoch_at, unix_now};
use super::token_stockpile::{Stock, StockpiledProofs, Stockpiler};
use crate::credentials::Credentials;
use crate::in_process::{NodesError, RateTerms};

/// Number of tokens prepared for each of this epoch and the next; enough, because a spammer's peers
/// disconnect it within a second.
const TOKENS_PER_EPOCH: usize = 50;

/// Interval at which the thread checks for missing tokens.
const LOOK_AROUND: Duration = Duration::from_millis(100);

/// Returns a source of proofs that reuses message ids: it signs with tokens that a thread prepares, and
/// proves in full if there are none. The thread keeps its counters in `folder` and ends once the source is
/// dropped.
///
/// # Errors
/// An I/O error if the thread cannot be started.
pub(crate) fn spammers_proofs(
    member: MemberProofs,
    epoch_size_s: u64,
    folder: &Path,
) -> io::Result<Box<dyn ProofSource>> {
    let member = Credentials::from(member);
    let stock = Stock::default();
    let (kept, folder) = (stock.clone(), folder.to_owned());
    let otherwise = ReusedIds::new(member.clone());
    thread::Builder::new()
        .name("spam-tokens".into())
        .spawn(move || {
            // Lowest priority: the measured nodes must not be disturbed. A failure is harmless.
            let _ = rustix::process::setpriority_process(None, 19);
            if let Err(error) = keep(&member, epoch_size_s, &folder, &kept) {
                tracing::warn!(%error, "cannot prepare more tokens for spam; making proofs in full");
            }
        })?;
    Ok(Box::new(StockpiledProofs { stock, otherwise }))
}

/// Keeps a stock filled until its owner drops it.
fn keep(
    member: &Credentials,
    epoch_size_s: u64,
    folder: &Path,
    stock: &Stock,
) -> Result<(), NodesError> {
    let prepared = loop {
        match member.member()? {
            Some(prepared) => break prepared,
            None => thread::sleep(LOOK_AROUND),
        }
    };
    let terms = RateTerms {
        generation: member.generation,
        limit: member.limit,
        epoch_size_s,
    };
    let mut stockpiler = Stockpiler::new(prepared, terms, folder, stock.clone())?;
    // Three clones: the stockpiler's, the one borrowed here, and the owner's.
    while stock.is_shared_by(3) {
        let now = epoch_at(unix_now(), epoch_size_s);
        stock.forget_before(now);
        let epochs = [now, Epoch(now.0.saturating_add(1))];
        let missing = epochs
            .into_iter()
            .find(|epoch| stock.count(*epoch) < TOKENS_PER_EPOCH);
        match missing {
            Some(epoch) => stockpiler.prepare(epoch)?,
            None => thread::sleep(LOOK_AROUND),
        }
    }
    Ok(())
}
