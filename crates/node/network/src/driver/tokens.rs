//! Proof source whose tokens are prepared ahead of their messages.

pub(super) mod pool;

use std::sync::Arc;
use std::{io, thread};

use parking_lot::{Condvar, Mutex};
use undertone_relay::ProofFailure;
use undertone_rln::{
    Epoch, Fr, MessageIdCounter, Pool, PoolConfig, ProofRequest, RateLimitProof, RlnIdentifier,
};

use super::member::{MemberProofs, no_id, skip_taken};
use super::priority;
use super::rln::ProofSource;
use pool::{PoolMonitor, PoolState, ReservedId, TokenPool, let_go};

/// Proof source of a member whose tokens are prepared ahead. A send uses the token of its message id if that is ready,
/// and generates a full proof otherwise. It never waits for the preparing thread.
///
/// Dropping the source releases the message-id counter. The thread ends later, within one token's preparation, which
/// may take long on a busy machine because its priority is low.
pub struct PooledProofs {
    pool: Arc<TokenPool>,
}

impl PooledProofs {
    /// Starts the thread that prepares tokens, unless the pool's size is 0.
    ///
    /// # Errors
    /// The operating system's error if it refuses a thread.
    pub fn start(member: MemberProofs, config: PoolConfig) -> io::Result<Self> {
        let pool = Arc::new(TokenPool {
            identity: member.identity,
            index: member.index,
            limit: member.limit,
            generation: member.generation,
            clock: member.clock,
            prover: member.prover,
            view: member.view,
            counter: Mutex::new(Some(member.counter)),
            trouble: Mutex::new(None),
            state: Mutex::new(PoolState {
                tokens: Pool::new(config),
                sending: false,
                sends: 0,
                ended: false,
            }),
            changed: Condvar::new(),
            config,
        });
        if config.size > 0 {
            let pool = Arc::clone(&pool);
            thread::Builder::new()
                .name("rln-tokens".into())
                .spawn(move || {
                    priority::lower();
                    pool.prepare_ahead();
                })?;
        }
        Ok(Self { pool })
    }

    /// Returns a monitor of the pool's state.
    pub fn monitor(&self) -> PoolMonitor {
        PoolMonitor {
            pool: Arc::clone(&self.pool),
        }
    }
}

impl ProofSource for PooledProofs {
    fn prove(&mut self, epoch: Epoch, x: Fr) -> Result<RateLimitProof, ProofFailure> {
        let pool = &*self.pool;
        let path = pool.view.lock().path(pool.index);
        let path = path.ok_or(ProofFailure::Synchronizing)?;
        let reserved = match pool.reserve(epoch).map_err(no_id)? {
            ReservedId::WithToken(token) => return Ok(token.sign(x)),
            ReservedId::Bare(reserved) => reserved,
        };
        pool.prover
            .prove(&ProofRequest {
                identity: &pool.identity,
                limit: pool.limit,
                path: &path,
                generation: pool.generation,
                epoch,
                identifier: &RlnIdentifier::WAKU,
                message_id: reserved.message_id(),
                x,
            })
            .map_err(|error| ProofFailure::Prover(Arc::new(error)))
    }

    fn skip_taken(
        &mut self,
        epoch: Epoch,
        is_taken: &mut dyn FnMut(Fr) -> bool,
    ) -> Result<u32, ProofFailure> {
        let pool = &*self.pool;
        let nullifier_of = pool
            .identity
            .nullifiers(pool.generation, epoch, &RlnIdentifier::WAKU);
        let clock = pool.clock.now();
        let mut counter = pool.counter.lock();
        let counter = counter.as_mut().ok_or_else(let_go).map_err(no_id)?;
        skip_taken(counter, &clock, epoch, nullifier_of, is_taken).map_err(no_id)
    }

    fn commitment(&self) -> Option<Fr> {
        Some(self.pool.identity.commitment())
    }

    fn is_refused_by_disk(&mut self) -> bool {
        let pool = &*self.pool;
        if pool.trouble.lock().is_none() {
            return false;
        }
        let counter = pool.counter.lock();
        let refused = counter.as_ref().map(MessageIdCounter::rewrite);
        let trouble = refused.and_then(Result::err).map(|error| error.to_string());
        let is_refused = trouble.is_some();
        *pool.trouble.lock() = trouble;
        is_refused
    }

    fn tokens(&self) -> Option<PoolMonitor> {
        Some(self.monitor())
    }
}

impl Drop for PooledProofs {
    fn drop(&mut self) {
        self.pool.end();
    }
}

#[cfg(test)]
#[path = "tests/tokens.rs"]
mod tests;
