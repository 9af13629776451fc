//! Rate Limiting Nullifiers: identities, tree, prover, verifier, nullifier log.
//!
//! RLN-v2 as the Waku family has deployed it: a member may publish `limit` messages in each epoch;
//! publishing one more reveals the member's secret. A message travels with a [`RateLimitProof`];
//! a receiver runs [`check::check`] (cheap), then [`NullifierLog::check`], then
//! [`Verifier::verify`] (a pairing), then [`NullifierLog::insert`], in that order.
//!
//! Clocks are arguments. The only I/O is in [`MessageIdCounter`] and [`IdentityFile`].

pub mod check;
pub mod counter;
pub mod epoch;
pub mod external;
pub mod field;
pub mod identity;
pub mod key;
pub mod nullifiers;
pub mod poseidon;
pub mod prover;
pub mod roots;
pub mod signal;
pub mod tree;
pub mod verifier;
pub mod wire;

mod durable;

pub use check::{CheckedProof, Policy, Rejection};
pub use counter::{CounterError, MessageIdCounter};
pub use epoch::{Epoch, MalformedEpoch};
pub use external::{Generation, RlnIdentifier, external_nullifier};
pub use field::{Fr, NonCanonical, fr_from_le, fr_to_le, hash_to_field};
pub use identity::{Identity, IdentityFile, IdentityFileError, rate_commitment};
pub use key::{Key, KeyError};
pub use nullifiers::{Full, NullifierLimits, NullifierLog, RecoveredSecret, Seen, recover_secret};
pub use prover::{ProofRequest, ProveError, Prover};
pub use roots::RootWindow;
pub use signal::signal_hash;
pub use tree::{IndexOutOfRange, MerklePath, MerkleTree};
pub use verifier::{ProofPoint, ProofStatement, SnarkInvalid, Verifier};
pub use wire::{ProofDecodeError, ProofField, RateLimitProof};
