#![doc = include_str!("../README.md")]
//!
//! # Where to start
//!
//! [`check::check`], [`NullifierLog`] and [`Verifier`] for receivers; [`Member`], [`MessageIdCounter`], [`Token`] and
//! [`Pool`], or [`Prover`], for senders; [`Key`] for both.

pub mod batch;
pub mod check;
pub mod circuits;
pub mod counter;
pub mod durable;
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
pub mod timeline;
pub mod token;
pub mod tree;
pub mod verifier;
pub mod wire;

mod arkzkey;
mod circuit;
mod engine;
mod graph;
mod msm;
mod rows;
mod tables;
mod transform;

pub use batch::{BatchPolicy, Batcher, Job, VerifyCosts};
pub use check::{CheckedProof, Policy, ProofRejection};
pub use circuits::{CIRCUITS, CircuitSpec};
pub use counter::{CounterError, MessageIdCounter, Reserved};
pub use epoch::{Epoch, MalformedEpoch, WallClock};
pub use external::{ExternalNullifiers, Generation, RlnIdentifier, external_nullifier};
pub use field::{Fr, NonCanonical, fr_from_le, fr_to_le, hash_to_field};
pub use identity::{Identity, IdentityFile, IdentityFileError, rate_commitment};
pub use key::{Key, KeyError};
pub use keystore::{CredentialKey, Keystore, KeystoreCredential, KeystoreError};
pub use member::Member;
pub use nullifiers::{
    NullifierLimits, NullifierLog, NullifierStatus, RecoveredSecret, SharedNullifierLog,
    recover_secret,
};
pub use pool::{Pool, PoolConfig, PoolInputs, PoolSnapshot, Work};
pub use prover::{MessageSlot, ProofRequest, ProveError, Prover};
pub use roots::RootWindow;
pub use signal::signal_hash;
pub use tables::{TableFileDefect, TableFileOutcome};
pub use timeline::{RootStanding, RootTimeline, RootTolerance};
pub use token::{OtherMessageId, PreparedToken, Token};
pub use tree::snapshot::{SnapshotDamage, SnapshotError, TreeSnapshot};
pub use tree::{IndexOutOfRange, MerklePath, MerkleTree};
pub use verifier::{ProofPoint, ProofStatement, SnarkInvalid, Verifier};
pub use wire::{ProofDecodeError, ProofField, RateLimitProof};
