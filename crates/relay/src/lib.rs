//! Waku Relay with RLN as one sans-IO state machine: gossip router, message format and rate limit combined.
//!
//! An incoming message is validated in this order, cheap checks first: size, decoding, shard, timestamp and
//! epoch, RLN identifier, canonical field elements, root, nullifier log, zero-knowledge proof. The proof is
//! verified elsewhere (a thread pool, or a cost model in a simulator): the relay emits
//! [`Output::VerifyProof`] and takes the answer as [`Input::ProofVerified`]. Only then is the nullifier
//! logged. A nullifier used for a second message reveals the sender's secret, which is reported once that
//! message's proof has been verified too.
//!
//! A message published by this node gets a timestamp and a proof ([`Output::Prove`], answered by
//! [`Input::Proved`]) and is given to the router. If it already has a proof, that is checked like a peer's.
//!
//! The contract is the router's: call [`Relay::handle`], drain [`Relay::poll`], observe
//! [`Relay::next_timeout`]. Time is virtual; wall time is virtual time plus an offset set by the driver.
#![deny(clippy::disallowed_methods, clippy::disallowed_types)]

mod awaiting_root;
mod checks;
mod config;
mod fairness;
mod fragmented;
mod io;
mod nullifier_senders;
mod placement;
mod publish;
mod rejection;
mod relay;
mod signals;
mod standing;
mod validate;

#[cfg(test)]
mod tests;

pub use config::{CheckBounds, PeerChecks, RelayConfig, RlnConfig};
pub use fragmented::{FRAGMENT_META, Reassembled, Reassembly, split_message};
pub use io::{
    Input, Output, ProofFailure, ProofTicket, PublishError, Published, RelayReport, SubscribeError,
};
pub use nullifier_senders::NullifierSenderLimits;
pub use rejection::Rejection;
pub use relay::Relay;

pub use signals::SignalHashes;
