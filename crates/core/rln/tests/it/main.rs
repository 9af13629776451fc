//! Tests of the crate's public interface: proofs compared with zerokit's, and processes killed while they count and
//! sign.

mod counter_kill;
mod proofs;
mod random_proofs;
mod token_kill;
