//! Configuration of the module.

use std::path::PathBuf;

use undertone_rln::keystore;

use super::name::RegistryName;

const NS_PER_S: u64 = 1_000_000_000;

/// Configuration of an instance of the module. Nodes that verify each other's proofs must agree on epoch
/// size, maximum gap, and the window of roots, which belongs to the registries.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct ModuleConfig {
    /// Folder of the encrypted store and the message-id counters.
    pub folder: PathBuf,
    /// Registries that the instance serves.
    pub registries: Vec<RegistryName>,
    /// Length of an epoch in seconds; 0 counts as 1.
    pub epoch_size_s: u64,
    /// Maximum difference between a proof's epoch and the present one, in epochs.
    pub max_epoch_gap: u64,
    /// Time after which a registration that is not in the registry counts as failed, nanoseconds.
    pub confirmation_window_ns: u64,
    /// Rounds of PBKDF2 for new credentials.
    pub(super) rounds: u32,
}

impl ModuleConfig {
    /// Returns a configuration with epochs of 600 s, acceptance of proofs from neighbouring epochs, and 600 s
    /// for a registration to be confirmed.
    pub fn new(folder: impl Into<PathBuf>, registries: Vec<RegistryName>) -> Self {
        Self {
            folder: folder.into(),
            registries,
            epoch_size_s: 600,
            max_epoch_gap: 1,
            confirmation_window_ns: 600 * NS_PER_S,
            rounds: keystore::ROUNDS,
        }
    }
}
