//! Rate Limiting Nullifiers: identities, tree, prover, verifier, nullifier log.
//!
//! RLN-v2 as the Waku family has deployed it: a member may publish `limit` messages in each epoch;
//! publishing one more reveals the member's secret. A message travels with a [`RateLimitProof`];
//! a receiver runs [`check::check`] (cheap), then [`NullifierLog::check`], then
//! [`Verifier::verify`] (a pairing), then [`NullifierLog::insert`], in that order.
//!
//! A sender keeps a [`Member`], reserves message ids with [`MessageIdCounter`], and signs with the
//! [`Token`]s of a [`Pool`]; [`Prover::prove`] makes a proof without keeping any of these.
//!
//! Clocks are arguments, and this crate starts no thread. The only I/O is in [`MessageIdCounter`],
//! [`IdentityFile`], [`Keystore`], [`Prover::with_table_file`], the tree's snapshots, and the seeds of
//! blinding.

pub mod batch;
pub mod check;
pub mod counter;
pub mod epoch;
pub mod external;
pub mod field;
pub mod identity;
pub mod key;
pub mod keystore;
pub mod member;
pub mod nullifiers;
pub mod pool;
pub mod poseidon;
mod proof_request;
pub mod prover;
pub mod roots;
pub mod signal;
pub mod token;
pub mod tree;
pub mod verifier;
pub mod wire;

mod arkzkey;
mod circuit;
mod durable;
mod engine;
mod graph;
mod msm;
mod rows;
mod tables;
mod transform;

pub use batch::{BatchPolicy, Batcher, Job, VerifyCosts};
pub use check::{CheckedProof, Policy, Rejection};
pub use counter::{CounterError, MessageIdCounter, Reserved};
pub use epoch::{Epoch, MalformedEpoch, WallClock};
pub use external::{ExternalNullifiers, Generation, RlnIdentifier, external_nullifier};
pub use field::{Fr, NonCanonical, fr_from_le, fr_to_le, hash_to_field};
pub use identity::{Identity, IdentityFile, IdentityFileError, rate_commitment};
pub use key::{Key, KeyError};
pub use keystore::{CredentialKey, Keystore, KeystoreCredential, KeystoreError};
pub use member::Member;
pub use nullifiers::{
    NullifierLimits, NullifierLog, RecoveredSecret, Seen, SharedNullifierLog, recover_secret,
};
pub use pool::{Pool, PoolConfig, PoolSnapshot, Surroundings, Work};
pub use prover::{MessageSlot, ProofRequest, ProveError, Prover};
pub use roots::RootWindow;
pub use signal::signal_hash;
pub use tables::{TableFileDefect, TableFileOutcome};
pub use token::{OtherMessageId, PreparedToken, Token};
pub use tree::snapshot::{Snapshot, SnapshotDamage, SnapshotError};
pub use tree::{IndexOutOfRange, MerklePath, MerkleTree};
pub use verifier::{ProofPoint, ProofStatement, SnarkInvalid, Verifier};
pub use wire::{ProofDecodeError, ProofField, RateLimitProof};
