//! A Groth16 prover of our own over the vendored key.
//!
//! [`Prover`] holds the data shared by all proofs. [`Member`] holds that shared by the proofs of one member at one
//! leaf of the tree. A token ([`Member::prepare`]) holds the part of one message id's proof that can be computed
//! before the message is known. No function here starts a thread.

use std::fmt;
use std::path::Path;
use std::sync::{Arc, OnceLock};

use parking_lot::Mutex;
use rand_core::CryptoRng;

use crate::engine::Engine;
use crate::identity::Identity;
use crate::key::Key;
use crate::member::Member;
pub use crate::proof_request::{MAX_LIMIT, MessageSlot, ProofRequest, ProveError};
use crate::tables::{ProverTables, TableFileOutcome};
use crate::tree::MerklePath;
use crate::wire::RateLimitProof;

/// Prover over the vendored key. Clones share the tables and the cached members.
#[derive(Clone)]
pub struct Prover {
    shared: Arc<ProverShared>,
}

struct ProverShared {
    key: Arc<Key>,
    engine: OnceLock<Arc<Engine>>,
    /// Members of the last proofs, the newest last. A member is removed while proving, so a panic leaves only
    /// complete ones.
    members: Mutex<Vec<Member>>,
}

/// Maximum number of cached members, of about 0.6 MB each; a process rarely publishes as more than one.
const MAX_MEMBERS: usize = 8;

impl Prover {
    /// Creates a prover. The tables are computed at the first proof, which takes about 0.4 s.
    pub fn new(key: Arc<Key>) -> Self {
        Self {
            shared: Arc::new(ProverShared {
                key,
                engine: OnceLock::new(),
                members: Mutex::new(Vec::new()),
            }),
        }
    }

    /// Creates a prover whose tables are read from a file, in about 40 ms. If the file is missing, damaged or for
    /// another key, the tables are computed and written to it.
    pub fn with_table_file(key: Arc<Key>, path: &Path) -> (Self, TableFileOutcome) {
        let (tables, outcome) = ProverTables::open(&key, path);
        let prover = Self::new(Arc::clone(&key));
        prover
            .shared
            .engine
            .get_or_init(|| Arc::new(Engine::new(key, tables)));
        (prover, outcome)
    }

    /// Computes a member's cached share of proofs; takes about 0.2 s.
    ///
    /// # Errors
    /// [`ProveError::LimitOutOfRange`] when the limit is outside `1..=MAX_LIMIT`.
    pub fn member(
        &self,
        identity: &Identity,
        limit: u32,
        path: &MerklePath,
    ) -> Result<Member, ProveError> {
        Member::new(self.engine(), identity, limit, path)
    }

    /// Makes the proof for one message. Once the tables are computed it takes about 60 ms if one of the last
    /// proofs was for the same member and path, otherwise less than 0.3 s.
    ///
    /// # Errors
    /// [`ProveError::LimitOutOfRange`] and [`ProveError::MessageIdOutOfRange`] before any work is
    /// done, [`ProveError::NoEntropy`] when the operating system gives no random numbers.
    #[cfg(feature = "os-rng")]
    pub fn prove(&self, request: &ProofRequest<'_>) -> Result<RateLimitProof, ProveError> {
        check(request)?;
        self.prove_blinded(request, &mut os_rng()?)
    }

    /// Makes the proof for one message like [`prove`](Self::prove), blinded with the caller's random numbers. They
    /// must not be predictable: whoever knows them learns the member's secret from the proof.
    ///
    /// # Errors
    /// [`ProveError::LimitOutOfRange`] and [`ProveError::MessageIdOutOfRange`] before any work is done.
    pub fn prove_blinded(
        &self,
        request: &ProofRequest<'_>,
        rng: &mut impl CryptoRng,
    ) -> Result<RateLimitProof, ProveError> {
        check(request)?;
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
        let proof = member.prove(&slot, x, rng);
        self.keep_member(member);
        proof
    }

    fn engine(&self) -> Arc<Engine> {
        let engine = self.shared.engine.get_or_init(|| {
            let key = Arc::clone(&self.shared.key);
            let tables = ProverTables::build(&key);
            Arc::new(Engine::new(key, tables))
        });
        Arc::clone(engine)
    }

    fn take_member(&self, identity: &Identity, limit: u32) -> Option<Member> {
        let mut members = self.shared.members.lock();
        let at = members
            .iter()
            .position(|member| member.is(identity, limit))?;
        Some(members.remove(at))
    }

    fn keep_member(&self, member: Member) {
        let mut members = self.shared.members.lock();
        members.push(member);
        if members.len() > MAX_MEMBERS {
            members.remove(0);
        }
    }
}

fn check(request: &ProofRequest<'_>) -> Result<(), ProveError> {
    let ProofRequest {
        limit, message_id, ..
    } = *request;
    if !(1..=MAX_LIMIT).contains(&limit) {
        return Err(ProveError::LimitOutOfRange { limit });
    }
    if message_id >= limit {
        return Err(ProveError::MessageIdOutOfRange { message_id, limit });
    }
    Ok(())
}

/// Creates a generator seeded by the operating system, as blinding requires.
///
/// # Errors
/// [`ProveError::NoEntropy`] when the operating system gives no random numbers.
#[cfg(feature = "os-rng")]
pub fn os_rng() -> Result<rand_chacha::ChaCha20Rng, ProveError> {
    let mut seed = zeroize::Zeroizing::new([0; 32]);
    getrandom::fill(seed.as_mut_slice()).map_err(ProveError::NoEntropy)?;
    Ok(rand_core::SeedableRng::from_seed(*seed))
}

impl fmt::Debug for Prover {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Prover").finish_non_exhaustive()
    }
}

#[cfg(test)]
#[path = "tests/prover.rs"]
mod tests;
