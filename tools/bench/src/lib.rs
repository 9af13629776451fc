//! Parts of the benchmarks: arithmetic, variants of peers, a relay that delays, recordings of multiplexers.

pub mod delay_relay;
pub mod figures;
pub mod mux;
pub mod variants;
