//! The circuit's keys, vendored in `artefacts/` (source, licence and checksums in its README).

use std::error::Error;
use std::sync::Arc;

use ark_bn254::Bn254;
use ark_groth16::VerifyingKey;
use ark_serialize::{CanonicalDeserialize, SerializationError};
use rln::circuit::{DEFAULT_TREE_DEPTH, Graph, Zkey, graph_from_raw, zkey_from_raw};
use sha2::{Digest, Sha256};

use crate::tree::DEPTH;

const _: () = assert!(DEPTH == DEFAULT_TREE_DEPTH);

/// Number of public inputs: y, root, nullifier, x, external nullifier.
pub(crate) const PUBLIC_INPUTS: usize = 5;

/// A vendored file and the checksum that it must have.
struct Artefact {
    file: &'static str,
    bytes: &'static [u8],
    sha256: &'static str,
}

const PROVING_KEY: Artefact = Artefact {
    file: "rln_final.arkzkey",
    bytes: include_bytes!("../artefacts/tree_depth_20/rln_final.arkzkey"),
    sha256: "4736d28be856af6a739e1d5e9bebb69fd17f476a57cf4ad86375ed6cfda9827a",
};

const GRAPH: Artefact = Artefact {
    file: "graph.bin",
    bytes: include_bytes!("../artefacts/tree_depth_20/graph.bin"),
    sha256: "eaf1868e27b22c7deb6da8a253300c99effcfa417f807ef7105d3fb8628d1c54",
};

/// The deployed RLN-v2 circuit of depth 20: verifying key, proving key, witness calculator.
pub struct Key {
    verifying_key: VerifyingKey<Bn254>,
    proving_key: Arc<Zkey>,
    graph: Arc<Graph>,
}

/// Why the vendored artefacts cannot be used: in each case this build of the program is damaged.
#[derive(Debug, thiserror::Error)]
pub enum KeyError {
    /// A file is not the one that this source expects.
    #[error("{file}: sha256 is {found}, expected {expected}; restore the file and build again")]
    Checksum {
        /// Name of the file.
        file: &'static str,
        /// The checksum in the source, hex.
        expected: &'static str,
        /// The checksum of the bytes, hex.
        found: String,
    },
    /// The verifying key at the head of the file is not five-input Groth16 over BN254.
    #[error("{file}: no verifying key for {PUBLIC_INPUTS} public inputs at its head: {source}")]
    VerifyingKey {
        /// Name of the file.
        file: &'static str,
        /// What the parser objects to.
        source: SerializationError,
    },
    /// The prover's library cannot read the file.
    #[error("{file}: the prover cannot read it: {source}")]
    Unreadable {
        /// Name of the file.
        file: &'static str,
        /// What the library objects to.
        source: Box<dyn Error + Send + Sync>,
    },
}

impl Artefact {
    fn checked(&self) -> Result<&'static [u8], KeyError> {
        let found = hex::encode(Sha256::digest(self.bytes));
        if found != self.sha256 {
            return Err(KeyError::Checksum {
                file: self.file,
                expected: self.sha256,
                found,
            });
        }
        Ok(self.bytes)
    }
}

impl Key {
    /// Checks and parses the vendored artefacts. About 30 ms and 9 MiB; do it once.
    ///
    /// # Errors
    /// [`KeyError`] when this build holds other bytes than it was made for.
    pub fn load() -> Result<Arc<Self>, KeyError> {
        let proving_key = PROVING_KEY.checked()?;
        let graph = GRAPH.checked()?;
        Ok(Arc::new(Self {
            verifying_key: verifying_key(PROVING_KEY.file, proving_key)?,
            proving_key: Arc::new(zkey_from_raw(proving_key).map_err(|source| {
                KeyError::Unreadable {
                    file: PROVING_KEY.file,
                    source: source.into(),
                }
            })?),
            graph: Arc::new(
                graph_from_raw(graph, Some(DEPTH), Some(1)).map_err(|source| {
                    KeyError::Unreadable {
                        file: GRAPH.file,
                        source: source.into(),
                    }
                })?,
            ),
        }))
    }

    /// The key that proofs are verified with.
    pub(crate) fn verifying_key(&self) -> &VerifyingKey<Bn254> {
        &self.verifying_key
    }

    /// The key that proofs are made with, and the constraints.
    pub(crate) fn proving_key(&self) -> Arc<Zkey> {
        Arc::clone(&self.proving_key)
    }

    /// The witness calculator.
    pub(crate) fn graph(&self) -> Arc<Graph> {
        Arc::clone(&self.graph)
    }
}

/// Reads the head of an arkzkey, checking that its points lie on the curve and in the subgroup.
fn verifying_key(file: &'static str, bytes: &[u8]) -> Result<VerifyingKey<Bn254>, KeyError> {
    let key = VerifyingKey::<Bn254>::deserialize_uncompressed(bytes)
        .map_err(|source| KeyError::VerifyingKey { file, source })?;
    if key.gamma_abc_g1.len() != PUBLIC_INPUTS + 1 {
        return Err(KeyError::VerifyingKey {
            file,
            source: SerializationError::InvalidData,
        });
    }
    Ok(key)
}

#[cfg(test)]
mod tests;
