//! Rate Limiting Nullifiers: identities, tree, prover, verifier, nullifier log.
