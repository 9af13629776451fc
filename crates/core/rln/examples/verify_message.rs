//! A member publishes and a receiver verifies. Then the member exceeds its limit, and its secret is
//! recovered.
//!
//! `cargo run -p undertone-rln --example verify_message`

use std::error::Error;
use std::sync::Arc;

use undertone_rln::check::check;
use undertone_rln::{
    Epoch, Generation, Identity, Key, MerkleTree, NullifierLimits, NullifierLog, NullifierStatus,
    Policy, ProofRequest, Prover, RateLimitProof, RlnIdentifier, RootWindow, Verifier,
    rate_commitment, signal_hash,
};

const LIMIT: u32 = 10;
const NOW_NS: u64 = 1_700_000_000_000_000_000;
const POLICY: Policy = Policy {
    generation: Generation::Hashed,
    identifier: RlnIdentifier::WAKU,
    epoch_size_s: 600,
    max_clock_gap_ns: 20_000_000_000,
};

struct Receiver {
    roots: RootWindow,
    log: NullifierLog,
    verifier: Verifier,
}

impl Receiver {
    /// The four steps of a receiver: cheap checks, log lookup, pairing, log entry.
    fn receive(
        &mut self,
        payload: &[u8],
        proof: &RateLimitProof,
    ) -> Result<NullifierStatus, Box<dyn Error>> {
        let timestamp_ns = NOW_NS as i64;
        let x = signal_hash(payload, "/example/1/chat/proto", timestamp_ns);
        let found = check(&POLICY, &self.roots, NOW_NS, timestamp_ns, x, proof)?;
        let key = (found.epoch, found.nullifier);
        if self.log.check(key.0, key.1, found.x, found.y) == NullifierStatus::Duplicate {
            return Ok(NullifierStatus::Duplicate);
        }
        self.verifier.verify(&found.statement)?;
        Ok(self.log.insert(key.0, key.1, found.x, found.y))
    }
}

fn main() -> Result<(), Box<dyn Error>> {
    let key = Key::load()?;
    // The member: an identity, and its leaf in the tree of all members.
    let identity = Identity::from_seed(b"not for real use: take Identity::generate");
    let mut tree = MerkleTree::new();
    tree.set(5, rate_commitment(identity.commitment(), LIMIT))?;
    let path = tree.path(5)?;
    let prover = Prover::new(Arc::clone(&key));
    let prove = |payload: &[u8], message_id| {
        prover.prove(&ProofRequest {
            identity: &identity,
            limit: LIMIT,
            path: &path,
            generation: POLICY.generation,
            epoch: Epoch::at(NOW_NS, POLICY.epoch_size_s),
            identifier: &POLICY.identifier,
            message_id,
            x: signal_hash(payload, "/example/1/chat/proto", NOW_NS as i64),
        })
    };

    let mut roots = RootWindow::new(50);
    roots.push(tree.root());
    let mut receiver = Receiver {
        roots,
        log: NullifierLog::new(NullifierLimits::new(1_000_000)),
        verifier: Verifier::new(&key),
    };
    let first = prove(b"hello", 0)?;
    assert_eq!(receiver.receive(b"hello", &first)?, NullifierStatus::New);
    assert_eq!(
        receiver.receive(b"hello", &first)?,
        NullifierStatus::Duplicate
    );
    // A proof is valid for its message only.
    assert!(receiver.receive(b"hallo", &first).is_err());
    // A second message with the same id gives two points of one line, whose value at zero is the
    // secret.
    match receiver.receive(b"spam", &prove(b"spam", 0)?)? {
        NullifierStatus::Spam { secret } => {
            assert_eq!(secret.commitment(), identity.commitment());
            println!("verified; and the member that reused a message id is known");
            Ok(())
        }
        other => Err(format!("spam was taken for {other:?}").into()),
    }
}
