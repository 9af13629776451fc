#![doc = include_str!("../README.md")]
//!
//! # Where to start
//!
//! [`Relay`] with [`RelayConfig`], [`Input`] and [`Output`].
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
