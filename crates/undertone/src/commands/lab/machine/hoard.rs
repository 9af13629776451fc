//! Tokens of a member that keeps no count: many for the same message ids, prepared before an attack.
//!
//! A token is armed with an id that a counter on disk gave out, and a counter gives out each once. A
//! spammer is one that throws its counter away and begins another. Nothing but that is different from
//! an honest member.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use undertone_node::driver::ProofSource;
use undertone_relay::ProofFailure;
use undertone_rln::prover::os_rng;
use undertone_rln::{
    CounterError, Epoch, Fr, Member, MessageIdCounter, MessageSlot, RateLimitProof, Reserved,
    RlnIdentifier, Token, WallClock,
};

use super::error::NodesError;
use super::tokens::Terms;

/// Tokens by epoch. Clones share them.
#[derive(Clone, Default)]
pub(super) struct Stock(Arc<Mutex<BTreeMap<Epoch, Vec<Token>>>>);

impl Stock {
    fn put(&self, token: Token) {
        self.lock().entry(token.epoch()).or_default().push(token);
    }

    fn take(&self, epoch: Epoch) -> Option<Token> {
        self.lock().get_mut(&epoch)?.pop()
    }

    /// Tokens of an epoch.
    pub(super) fn count(&self, epoch: Epoch) -> usize {
        self.lock().get(&epoch).map_or(0, Vec::len)
    }

    /// Throws away what is of an earlier epoch.
    pub(super) fn forget_before(&self, epoch: Epoch) {
        let mut tokens = self.lock();
        *tokens = tokens.split_off(&epoch);
    }

    /// Whether so many have it.
    pub(super) fn is_shared_by(&self, count: usize) -> bool {
        Arc::strong_count(&self.0) >= count
    }

    fn lock(&self) -> MutexGuard<'_, BTreeMap<Epoch, Vec<Token>>> {
        // What the lock guards is changed by single calls that leave it whole.
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Fills a stock. The tree does not change meanwhile, nor while the stock is used.
pub(super) struct Hoarder {
    member: Member,
    terms: Terms,
    ids: ForgottenIds,
    stock: Stock,
}

impl Hoarder {
    /// Fills `stock`. Keeps its counters in `folder`.
    pub(super) fn new(
        member: Member,
        terms: Terms,
        folder: &Path,
        stock: Stock,
    ) -> Result<Self, NodesError> {
        Ok(Self {
            member,
            terms,
            ids: ForgottenIds::new(folder, terms.limit)?,
            stock,
        })
    }

    /// What it fills.
    pub(super) fn stock(&self) -> Stock {
        self.stock.clone()
    }

    /// One more token of an epoch.
    pub(super) fn prepare(&mut self, epoch: Epoch) -> Result<(), NodesError> {
        let reserved = self.ids.reserve(epoch)?;
        let slot = MessageSlot {
            generation: self.terms.generation,
            epoch,
            identifier: &RlnIdentifier::WAKU,
            message_id: reserved.message_id(),
        };
        let token = self.member.prepare(&slot, &mut os_rng()?)?;
        let token = token.arm(reserved);
        self.stock
            .put(token.expect("it was prepared for the id that was reserved"));
        Ok(())
    }
}

/// A counter, and another one when that is used up, so that ids come again and again.
struct ForgottenIds {
    folder: PathBuf,
    limit: u32,
    counter: MessageIdCounter,
    counters: u32,
}

impl ForgottenIds {
    fn new(folder: &Path, limit: u32) -> Result<Self, CounterError> {
        Ok(Self {
            folder: folder.to_owned(),
            limit,
            counter: counter(folder, 0, limit)?,
            counters: 1,
        })
    }

    fn reserve(&mut self, epoch: Epoch) -> Result<Reserved, CounterError> {
        if self
            .counter
            .upcoming(epoch, &WallClock::stopped_in(epoch))
            .is_none()
        {
            self.counter = counter(&self.folder, self.counters, self.limit)?;
            self.counters += 1;
        }
        self.counter.reserve(epoch, &WallClock::stopped_in(epoch))
    }
}

fn counter(folder: &Path, nth: u32, limit: u32) -> Result<MessageIdCounter, CounterError> {
    MessageIdCounter::open(folder.join(format!("spammer-{nth}.counter")), limit)
}

/// Signs with the stock's tokens, and leaves it to another when there is none of an epoch.
pub(super) struct Hoarded<P> {
    pub(super) stock: Stock,
    pub(super) otherwise: P,
}

impl<P: ProofSource> ProofSource for Hoarded<P> {
    fn reuses_ids(&self) -> bool {
        true
    }

    fn prove(&mut self, epoch: Epoch, x: Fr) -> Result<RateLimitProof, ProofFailure> {
        match self.stock.take(epoch) {
            Some(token) => Ok(token.sign(x)),
            None => self.otherwise.prove(epoch, x),
        }
    }
}

#[cfg(test)]
mod tests;
