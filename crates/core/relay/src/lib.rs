#![doc = include_str!("../README.md")]
//!
//! # Where to start
//!
//! [`Relay`] with [`RelayConfig`], [`Input`] and [`Output`].
#![deny(clippy::disallowed_methods, clippy::disallowed_types)]

mod awaiting_root;
mod checks;
mod config;
mod fairness;
mod fragmented;
mod history;
mod io;
mod nullifier_senders;
mod placement;
mod proof_field;
mod publish;
mod rejection;
mod relay;
mod republish;
mod signals;
mod trust;
mod validate;

#[cfg(test)]
mod tests;

pub use config::{CheckBounds, PeerChecks, RelayConfig, RlnConfig, SharedRelayConfig};
pub use fragmented::{FRAGMENT_META, Reassembled, Reassembly, split_message};
pub use history::{HistoricMessage, HistoryJudge, HistoryVerdict};
pub use io::{
    Input, Output, ProofFailure, ProofTicket, PublishError, Published, RelayReport, SubscribeError,
};
pub use nullifier_senders::NullifierSenderLimits;
pub use rejection::Rejection;
pub use relay::Relay;

pub use signals::SignalHashes;
