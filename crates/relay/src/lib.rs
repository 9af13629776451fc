//! Waku Relay with RLN as one sans-IO machine: the gossip router, the message format and the rate
//! limit joined.
//!
//! A message that arrives is judged in this order, cheap first: size, decode, shard, timestamp and
//! epoch, RLN identifier, canonical field elements, root, nullifier log, zero-knowledge proof. The
//! proof is checked elsewhere (a thread pool, or a cost model in a simulator): the machine emits
//! [`Output::VerifyProof`] and takes the answer as [`Input::ProofVerified`]. Only then is the
//! nullifier logged. A nullifier used for a second message reveals the sender's secret, which is
//! reported once that message's proof has been verified too.
//!
//! A message of our own is stamped, proved ([`Output::Prove`], answered by [`Input::Proved`]) and
//! given to the router. A proof that it came with is checked as a peer's would be.
//!
//! The contract is the router's: [`Relay::handle`], drain [`Relay::poll`], heed
//! [`Relay::next_timeout`]. Time is virtual; wall time is that plus an offset which the driver sets.
#![deny(clippy::disallowed_methods, clippy::disallowed_types)]

mod checks;
mod config;
mod fairness;
mod fragmented;
mod io;
mod placement;
mod publish;
mod rejection;
mod relay;
mod rootless;
mod senders;
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
pub use rejection::Rejection;
pub use relay::Relay;
pub use senders::SenderLimits;
pub use signals::SignalHashes;
