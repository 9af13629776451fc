//! Conformance tests against other implementations as live peers.
//!
//! A peer program is a separate process that joins a GossipSub network and is driven by lines of JSON on
//! its standard input and output (`tools/conformance/README.md` has the protocol, [`protocol`] its types).
//! [`PeerProcess`] drives one of them; [`programs`] knows the ones that this folder holds.

pub mod frame_counter;
pub mod npm;
pub mod payload;
pub mod process;
pub mod programs;
pub mod protocol;

pub use process::{PeerCommand, PeerError, PeerProcess};
