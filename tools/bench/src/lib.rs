//! Shared parts of the benchmarks: arithmetic, variants of peers, a delaying relay, and recordings of
//! multiplexers.

pub mod delay_relay;
pub mod figures;
pub mod mux;
pub mod variants;
