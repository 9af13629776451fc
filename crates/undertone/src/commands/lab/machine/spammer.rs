//! A node of its own process that publishes without regard to its limit: its proofs.

use std::path::Path;
use std::sync::{Arc, PoisonError};
use std::time::Duration;
use std::{io, thread};

use undertone_node::driver::{MemberProofs, ProofSource};
use undertone_rln::Epoch;

use super::error::NodesError;
use super::hoard::{Hoarded, Hoarder, Stock};
use super::schedule::{epoch_at, unix_now};
use super::tokens::Terms;
use crate::commands::demo::reused_ids::ReusedIds;

/// Tokens that are prepared for this epoch and for the next: its peers leave a spammer within a second.
const TOKENS_PER_EPOCH: usize = 50;

/// How often it is looked whether a token is missing.
const LOOK_AROUND: Duration = Duration::from_millis(100);

/// Proofs with message ids that come again and again: from tokens that a thread prepares, and made in full
/// when there are none. The thread keeps its counters in `folder` and ends with what is returned.
pub(crate) fn spammers_proofs(
    member: MemberProofs,
    epoch_size_s: u64,
    folder: &Path,
) -> io::Result<Box<dyn ProofSource>> {
    let stock = Stock::default();
    let (kept, folder) = (stock.clone(), folder.to_owned());
    let otherwise = ReusedIds {
        identity: member.identity.clone(),
        index: member.index,
        limit: member.limit,
        next: 0,
        generation: member.generation,
        prover: Arc::clone(&member.prover),
        view: Arc::clone(&member.view),
    };
    thread::Builder::new()
        .name("spam-tokens".into())
        .spawn(move || {
            // Others have work to do that is looked at; where threads have no priority, it is the same
            // work a little later.
            let _ = rustix::process::setpriority_process(None, 19);
            if let Err(error) = keep(&member, epoch_size_s, &folder, &kept) {
                tracing::warn!(%error, "no more tokens for spam; proofs are made in full");
            }
        })?;
    Ok(Box::new(Hoarded { stock, otherwise }))
}

/// Keeps a stock for as long as somebody has it.
fn keep(
    member: &MemberProofs,
    epoch_size_s: u64,
    folder: &Path,
    stock: &Stock,
) -> Result<(), NodesError> {
    let path = loop {
        let view = member.view.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(path) = view.path(member.index) {
            break path;
        }
        drop(view);
        thread::sleep(LOOK_AROUND);
    };
    let terms = Terms {
        generation: member.generation,
        limit: member.limit,
        epoch_size_s,
    };
    let prepared = member
        .prover
        .member(&member.identity, member.limit, &path)?;
    let mut hoarder = Hoarder::new(prepared, terms, folder, stock.clone())?;
    // The hoarder's, the one that is borrowed here, and its owner's.
    while stock.is_shared_by(3) {
        let now = epoch_at(unix_now(), epoch_size_s);
        stock.forget_before(now);
        let epochs = [now, Epoch(now.0.saturating_add(1))];
        let missing = epochs
            .into_iter()
            .find(|epoch| stock.count(*epoch) < TOKENS_PER_EPOCH);
        match missing {
            Some(epoch) => hoarder.prepare(epoch)?,
            None => thread::sleep(LOOK_AROUND),
        }
    }
    Ok(())
}
