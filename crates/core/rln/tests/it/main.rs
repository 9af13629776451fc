//! Tests of the crate as its users see it: proofs beside zerokit's, and processes that are killed while they count and sign.

mod counter_kill;
mod proofs;
mod random_proofs;
mod token_kill;
