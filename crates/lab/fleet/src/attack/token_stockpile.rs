//! Stockpile of tokens for a spammer: several tokens per message id, prepared before an attack.
//!
//! A token takes its id from a counter on disk, and a counter issues each id once per epoch. A spammer
//! discards a used-up counter and starts a new one. Otherwise it acts like an honest member.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use parking_lot::Mutex;
use undertone_node::driver::ProofSource;
use undertone_relay::ProofFailure;
use undertone_rln::prover::os_rng;
use undertone_rln::{
    CounterError, Epoch, Fr, Member, MessageIdCounter, MessageSlot, RateLimitProof, Reserved,
    RlnIdentifier, Token, WallClock,
};

use crate::in_process::{NodesError, RateTerms};

/// Stock of tokens by epoch; clones share it.
#[derive(Clone, Default)]
pub(crate) struct Stock(Arc<Mutex<BTreeMap<Epoch, Vec<Token>>>>);

impl Stock {
    fn put(&self, token: Token) {
        self.0.lock().entry(token.epoch()).or_default().push(token);
    }

    fn take(&self, epoch: Epoch) -> Option<Token> {
        self.0.lock().get_mut(&epoch)?.pop()
    }

    /// Returns the number of tokens of an epoch.
    pub(crate) fn count(&self, epoch: Epoch) -> usize {
        self.0.lock().get(&epoch).map_or(0, Vec::len)
    }

    /// Drops the tokens of earlier epochs.
    pub(crate) fn forget_before(&self, epoch: Epoch) {
        let mut tokens = self.0.lock();
        *tokens = tokens.split_off(&epoch);
    }

    /// Whether at least `count` clones of this stock exist.
    pub(crate) fn is_shared_by(&self, count: usize) -> bool {
        Arc::strong_count(&self.0) >= count
    }
}

/// Prepares the tokens of a stock. The membership tree must not change while the stock is filled or used.
pub(crate) struct Stockpiler {
    member: Member,
    terms: RateTerms,
    ids: CounterReset,
    stock: Stock,
}

impl Stockpiler {
    /// Makes a stockpiler that fills `stock` and keeps its counters in `folder`.
    pub(crate) fn new(
        member: Member,
        terms: RateTerms,
        folder: &Path,
        stock: Stock,
    ) -> Result<Self, NodesError> {
        Ok(Self {
            member,
            terms,
            ids: CounterReset::new(folder, terms.limit)?,
            stock,
        })
    }

    /// Returns the stock that this stockpiler fills.
    pub(crate) fn stock(&self) -> Stock {
        self.stock.clone()
    }

    /// Adds one token of an epoch to the stock.
    pub(crate) fn prepare(&mut self, epoch: Epoch) -> Result<(), NodesError> {
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

/// Message-id counter that is replaced by a new one when used up, so that ids repeat.
struct CounterReset {
    folder: PathBuf,
    limit: u32,
    counter: MessageIdCounter,
    counters: u32,
}

impl CounterReset {
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

/// Source of proofs that signs with the stock's tokens, and falls back to `otherwise` if an epoch has
/// none.
pub(crate) struct StockpiledProofs<P> {
    pub(crate) stock: Stock,
    pub(crate) otherwise: P,
}

impl<P: ProofSource> ProofSource for StockpiledProofs<P> {
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
#[path = "tests/token_stockpile.rs"]
mod tests;
