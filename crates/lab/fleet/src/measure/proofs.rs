//! Costs of making and verifying proofs, for messages of several sizes.

use std::path::Path;
use std::sync::Arc;

use serde::Serialize;
use undertone_rln::prover::os_rng;
use undertone_rln::{
    Epoch, Fr, Generation, Identity, Key, Member, MerkleTree, MessageIdCounter, MessageSlot,
    ProofStatement, Prover, RateLimitProof, RlnIdentifier, Token, Verifier, WallClock,
    external_nullifier, fr_from_le, hash_to_field, rate_commitment, signal_hash,
};

use super::MeasureError;
use super::clock::median_ms;

const EPOCH: Epoch = Epoch(2_833_333);
const GENERATION: Generation = Generation::Hashed;
const LIMIT: u32 = u16::MAX as u32;
const TOPIC: &str = "/undertone/1/bench/proto";
/// Payload sizes of the published measurements of proofs, in 1000 bytes.
const PROOF_SIZES_KB: [usize; 5] = [1, 10, 50, 150, 500];
/// Message sizes of the paper's table 4, in 1000 bytes.
const HASH_SIZES_KB: [usize; 4] = [2, 25, 100, 500];
const BATCH: usize = 32;

/// Costs of proofs, medians.
#[derive(Clone, Debug, Serialize)]
pub struct ProofCosts {
    /// Costs for payloads of several sizes.
    pub by_size: Vec<BySize>,
    /// Time to prepare a token, milliseconds.
    pub token_prepare_ms: f64,
    /// Number of proofs in a batch.
    pub batch: usize,
    /// Time to verify each proof of a batch, milliseconds.
    pub batch_per_proof_ms: f64,
    /// Costs of hashing for messages of several sizes.
    pub hashing: Vec<HashingCost>,
}

/// Costs for one payload size; the signal hash is part of each figure.
#[derive(Clone, Debug, Serialize)]
pub struct BySize {
    /// Size of the payload, 1000 bytes.
    pub size_kb: usize,
    /// Time of a full proof, with nothing prepared but the member, milliseconds.
    pub generation_ms: f64,
    /// Time to sign with a prepared token, milliseconds.
    pub sign_ms: f64,
    /// Time to verify one proof, milliseconds.
    pub verification_ms: f64,
}

/// Cost of hashing to the field (Keccak-256 and reduction), for one message size.
#[derive(Clone, Debug, Serialize)]
pub struct HashingCost {
    /// Size of the message, 1000 bytes.
    pub size_kb: usize,
    /// Time to hash it, milliseconds.
    pub hashing_ms: f64,
}

/// Measures all costs, as medians of `runs` runs. `say` receives each payload size before its turn, in
/// 1000 bytes.
///
/// # Errors
/// Returns [`MeasureError`] when a proof cannot be made here.
pub fn measure(
    key: &Arc<Key>,
    runs: usize,
    mut say: impl FnMut(usize),
) -> Result<ProofCosts, MeasureError> {
    let folder = tempfile::tempdir().map_err(MeasureError::Folder)?;
    let mut bench = ProofBench::new(key, &folder.path().join("ids"))?;
    let mut by_size = Vec::new();
    for size_kb in PROOF_SIZES_KB {
        say(size_kb);
        by_size.push(bench.size(size_kb, runs)?);
    }
    let (token_prepare_ms, batch_per_proof_ms) = (bench.prepare(runs)?, bench.batch(runs)?);
    Ok(ProofCosts {
        by_size,
        token_prepare_ms,
        batch: BATCH,
        batch_per_proof_ms,
        hashing: HASH_SIZES_KB.map(|size_kb| hashing(size_kb, runs)).into(),
    })
}

fn hashing(size_kb: usize, runs: usize) -> HashingCost {
    let message = vec![0x5a; size_kb * 1000];
    HashingCost {
        size_kb,
        hashing_ms: median_ms(runs, || (), |()| hash_to_field(&[&message])),
    }
}

struct ProofBench {
    member: Member,
    verifier: Verifier,
    counter: MessageIdCounter,
}

impl ProofBench {
    fn new(key: &Arc<Key>, counter: &Path) -> Result<Self, MeasureError> {
        let identity = Identity::from_seed(b"undertone rln bench");
        let mut tree = MerkleTree::new();
        tree.set(5, rate_commitment(identity.commitment(), LIMIT))
            .expect("5 is an index of the tree");
        let path = tree.path(5).expect("5 is an index of the tree");
        let member = Prover::new(Arc::clone(key)).member(&identity, LIMIT, &path);
        Ok(Self {
            member: member?,
            verifier: Verifier::new(key),
            counter: MessageIdCounter::open(counter, LIMIT)?,
        })
    }

    fn size(&mut self, size_kb: usize, runs: usize) -> Result<BySize, MeasureError> {
        let payload = vec![0x5a; size_kb * 1000];
        let signal = || signal_hash(&payload, TOPIC, 1);
        let proof = self.prove(signal())?;
        let statement = |x| statement(&proof, self.member.root(), x);
        let verification_ms = median_ms(
            runs,
            || (),
            |()| self.verifier.verify(&statement(signal())).is_ok(),
        );
        let generation_ms = median_ms(runs, || (), |()| self.prove(signal()).is_ok());
        let mut tokens = (0..runs)
            .map(|_| self.token())
            .collect::<Result<Vec<_>, _>>()?;
        let next = || tokens.pop().expect("a token for each run");
        Ok(BySize {
            size_kb,
            generation_ms,
            sign_ms: median_ms(runs, next, |token| token.sign(signal())),
            verification_ms,
        })
    }

    fn prepare(&self, runs: usize) -> Result<f64, MeasureError> {
        let mut rng = os_rng()?;
        let prepare = |()| self.member.prepare(&slot(0), &mut rng).is_ok();
        Ok(median_ms(runs, || (), prepare))
    }

    fn batch(&self, runs: usize) -> Result<f64, MeasureError> {
        let mut rng = os_rng()?;
        let x = Fr::from(1);
        let statement = statement(&self.prove(x)?, self.member.root(), x);
        let batch = vec![statement; BATCH];
        let verify = |()| self.verifier.verify_batch(&batch, &mut rng);
        Ok(median_ms(runs, || (), verify) / BATCH as f64)
    }

    /// Makes a proof with message id 0. The id is reused safely, because no proof leaves this process.
    fn prove(&self, x: Fr) -> Result<RateLimitProof, MeasureError> {
        Ok(self.member.prove(&slot(0), x, &mut os_rng()?)?)
    }

    fn token(&mut self) -> Result<Token, MeasureError> {
        let reserved = self.counter.reserve(EPOCH, &WallClock::stopped_in(EPOCH))?;
        let slot = slot(reserved.message_id());
        let prepared = self.member.prepare(&slot, &mut os_rng()?)?;
        let token = prepared.arm(reserved);
        Ok(token.expect("it was prepared for the id that was reserved"))
    }
}

fn slot(message_id: u32) -> MessageSlot<'static> {
    MessageSlot {
        generation: GENERATION,
        epoch: EPOCH,
        identifier: &RlnIdentifier::WAKU,
        message_id,
    }
}

fn statement(proof: &RateLimitProof, root: Fr, x: Fr) -> ProofStatement {
    let element = |bytes| fr_from_le(bytes).expect("our own proofs are canonical");
    ProofStatement {
        proof: proof.proof,
        y: element(&proof.share_y),
        root,
        nullifier: element(&proof.nullifier),
        x,
        external_nullifier: external_nullifier(GENERATION, EPOCH, &RlnIdentifier::WAKU),
    }
}
