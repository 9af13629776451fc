//! Costs of rate limiting on this machine: proofs, hashing, the membership tree, memory.

mod clock;
mod error;
pub mod memory;
pub mod proofs;
pub mod tree;

pub use error::MeasureError;
