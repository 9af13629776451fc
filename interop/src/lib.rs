//! Interoperability tests and benchmarks against other implementations as live peers.
//!
//! A peer program is a separate process that joins a GossipSub network and is driven by lines of JSON on
//! its standard input and output (`interop/README.md` has the protocol, [`protocol`] its types).
//! [`PeerProcess`] drives one of them; [`programs`] knows the ones that this folder holds.

pub mod delay_relay;
pub mod figures;
pub mod host;
pub mod hostile;
pub mod light;
pub mod mux;
pub mod npm;
pub mod payload;
pub mod process;
pub mod programs;
pub mod protocol;
pub mod raw;
pub mod tap;
pub mod variants;

pub use process::{PeerCommand, PeerError, PeerProcess};
