//! Making proofs, with a prover of our own over the vendored key.
//!
//! [`Prover`] holds what all proofs share, [`Member`] what those of one member at one place of the
//! tree share, and a token ([`Member::prepare`]) what a message id's proof consists of before there
//! is a message. Nothing here starts a thread.

use std::fmt;
use std::path::Path;
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};

use rand_chacha::ChaCha20Rng;
use rand_core::SeedableRng;
use zeroize::Zeroize;

use crate::engine::Engine;
use crate::epoch::Epoch;
use crate::external::{Generation, RlnIdentifier};
use crate::field::Fr;
use crate::identity::Identity;
use crate::key::Key;
use crate::member::Member;
use crate::tables::{TableFileOutcome, Tables};
use crate::tree::MerklePath;
use crate::wire::RateLimitProof;

/// The largest limit that the circuit can hold: message ids have 16 bits.
pub const MAX_LIMIT: u32 = u16::MAX as u32;

/// Everything that one proof is made of.
#[derive(Clone, Copy, Debug)]
pub struct ProofRequest<'a> {
    /// Who publishes.
    pub identity: &'a Identity,
    /// The member's limit, as registered, in messages per epoch.
    pub limit: u32,
    /// Where the member is in the tree.
    pub path: &'a MerklePath,
    /// How the network forms external nullifiers.
    pub generation: Generation,
    /// The epoch of the message's timestamp.
    pub epoch: Epoch,
    /// The network's constant.
    pub identifier: &'a RlnIdentifier,
    /// Less than the limit, and never used before in this epoch (see
    /// [`crate::MessageIdCounter`]): using one twice reveals the identity's secret.
    pub message_id: u32,
    /// The message's signal hash, see [`crate::signal_hash`].
    pub x: Fr,
}

/// What a proof counts its message as.
#[derive(Clone, Copy, Debug)]
pub struct MessageSlot<'a> {
    /// How the network forms external nullifiers.
    pub generation: Generation,
    /// The epoch of the message's timestamp.
    pub epoch: Epoch,
    /// The network's constant.
    pub identifier: &'a RlnIdentifier,
    /// Less than the limit, and never used before in this epoch (see
    /// [`crate::MessageIdCounter`]): using one twice reveals the identity's secret.
    pub message_id: u32,
}

/// Why no proof was made.
#[derive(Debug, thiserror::Error)]
pub enum ProveError {
    /// The member has used up the epoch.
    #[error(
        "message id {message_id} is not below the limit of {limit} messages per epoch; wait for \
         the next epoch"
    )]
    MessageIdOutOfRange {
        /// The id asked for.
        message_id: u32,
        /// The member's limit.
        limit: u32,
    },
    /// The circuit has no room for the limit.
    #[error("limit {limit} is outside 1..={MAX_LIMIT}; use the limit that was registered")]
    LimitOutOfRange {
        /// The limit asked for.
        limit: u32,
    },
    /// The operating system gave no random numbers, without which a proof is not secret.
    #[error("no random numbers from the operating system: {0}")]
    NoEntropy(getrandom::Error),
}

/// Makes proofs. Clones share tables and the last members.
#[derive(Clone)]
pub struct Prover {
    shared: Arc<Shared>,
}

struct Shared {
    key: Arc<Key>,
    engine: OnceLock<Arc<Engine>>,
    /// The members of the last proofs, the newest last. One is out while a proof is made with it.
    members: Mutex<Vec<Member>>,
}

/// Members that are kept: a process rarely publishes as more than one. Each takes about 0.6 MB.
const MAX_MEMBERS: usize = 8;

impl Prover {
    /// A prover over the vendored key. Its tables are computed with the first proof, about 0.4 s.
    pub fn new(key: Arc<Key>) -> Self {
        Self {
            shared: Arc::new(Shared {
                key,
                engine: OnceLock::new(),
                members: Mutex::new(Vec::new()),
            }),
        }
    }

    /// A prover whose tables are read from a file, about 40 ms; or computed and written there, if
    /// the file is missing, damaged or of another key.
    pub fn with_table_file(key: Arc<Key>, path: &Path) -> (Self, TableFileOutcome) {
        let (tables, outcome) = Tables::open(&key, path);
        let prover = Self::new(Arc::clone(&key));
        prover
            .shared
            .engine
            .get_or_init(|| Arc::new(Engine::new(key, tables)));
        (prover, outcome)
    }

    /// A member's cached share of its proofs: about 0.2 s.
    ///
    /// # Errors
    /// [`ProveError::LimitOutOfRange`].
    pub fn member(
        &self,
        identity: &Identity,
        limit: u32,
        path: &MerklePath,
    ) -> Result<Member, ProveError> {
        Member::new(self.engine(), identity, limit, path)
    }

    /// Makes the proof for one message: about 60 ms when one of the last proofs was for the same
    /// member and path, less than 0.3 s otherwise.
    ///
    /// # Errors
    /// [`ProveError::MessageIdOutOfRange`] and [`ProveError::LimitOutOfRange`] before any work is
    /// done, [`ProveError::NoEntropy`].
    pub fn prove(&self, request: &ProofRequest<'_>) -> Result<RateLimitProof, ProveError> {
        let ProofRequest {
            identity,
            limit,
            path,
            generation,
            epoch,
            identifier,
            message_id,
            x,
        } = *request;
        if !(1..=MAX_LIMIT).contains(&limit) {
            return Err(ProveError::LimitOutOfRange { limit });
        }
        if message_id >= limit {
            return Err(ProveError::MessageIdOutOfRange { message_id, limit });
        }
        let mut rng = os_rng()?;
        let kept = self.take_member(identity, limit);
        let member = match kept {
            Some(mut member) => {
                member.update(path);
                member
            }
            None => self.member(identity, limit, path)?,
        };
        let slot = MessageSlot {
            generation,
            epoch,
            identifier,
            message_id,
        };
        let proof = member.prove(&slot, x, &mut rng);
        self.keep_member(member);
        proof
    }

    fn engine(&self) -> Arc<Engine> {
        let engine = self.shared.engine.get_or_init(|| {
            let key = Arc::clone(&self.shared.key);
            let tables = Tables::build(&key);
            Arc::new(Engine::new(key, tables))
        });
        Arc::clone(engine)
    }

    fn take_member(&self, identity: &Identity, limit: u32) -> Option<Member> {
        let mut members = self.members();
        let at = members
            .iter()
            .position(|member| member.is(identity, limit))?;
        Some(members.remove(at))
    }

    fn keep_member(&self, member: Member) {
        let mut members = self.members();
        members.push(member);
        if members.len() > MAX_MEMBERS {
            members.remove(0);
        }
    }

    fn members(&self) -> MutexGuard<'_, Vec<Member>> {
        // Only whole members are put in, so a panic elsewhere has left none that is half done.
        self.shared
            .members
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
    }
}

/// A generator seeded by the operating system, as blinding wants.
///
/// # Errors
/// [`ProveError::NoEntropy`].
pub fn os_rng() -> Result<ChaCha20Rng, ProveError> {
    let mut seed = [0; 32];
    getrandom::fill(&mut seed).map_err(ProveError::NoEntropy)?;
    let rng = ChaCha20Rng::from_seed(seed);
    seed.zeroize();
    Ok(rng)
}

impl fmt::Debug for Prover {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Prover").finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests;
