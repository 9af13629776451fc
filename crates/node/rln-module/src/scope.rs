//! Scopes of the module's calls, and the membership hash.

use sha2::{Digest, Sha256};
use undertone_rln::{Fr, RlnIdentifier, fr_to_le};

use super::name::RegistryName;

#[cfg(test)]
#[path = "tests/scope.rs"]
mod tests;

/// Scope of a call: a registry, and the application whose rate limit applies.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MembershipScope {
    /// The registry that the membership is in.
    pub registry: RegistryName,
    /// The application's identifier, which must be unique: applications that share an identifier share a
    /// member's messages.
    pub identifier: RlnIdentifier,
}

/// Computes the handle of a membership: lowercase hexadecimal SHA-256 of the registry's name, a zero byte, and
/// the identity commitment (little-endian). It reveals nothing about the identity's secret.
pub fn membership_hash(registry: &RegistryName, commitment: Fr) -> String {
    let digest = Sha256::new()
        .chain_update(registry.as_str())
        .chain_update([0])
        .chain_update(fr_to_le(&commitment))
        .finalize();
    hex::encode(digest)
}
