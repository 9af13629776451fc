//! The circuit's keys, vendored in `artefacts/` (source, licence and checksums in its README).

use std::sync::Arc;

use ark_bn254::Bn254;
use ark_groth16::VerifyingKey;
use sha2::{Digest, Sha256};

use crate::arkzkey::{self, Contents, Malformed, ProvingKey};
use crate::circuit::Circuit;
use crate::graph;
use crate::rows::RowTables;

pub use crate::arkzkey::Defect;

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

const ROWS: Artefact = Artefact {
    file: "row_tables.bin",
    bytes: include_bytes!("../artefacts/tree_depth_20/row_tables.bin"),
    sha256: "988973d76f799c58eceb540073e433e0f3b9597c9fad1646544d426447c3f8e6",
};

/// The deployed RLN-v2 circuit of depth 20: verifying key, proving key, witness calculator.
pub struct Key {
    verifying_key: VerifyingKey<Bn254>,
    proving_key: ProvingKey,
    circuit: Circuit,
    rows: RowTables,
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
    /// A file has the right checksum, but this source cannot read it.
    #[error("{file}: at byte {at_byte}: {what}; restore source and file of one version")]
    Malformed {
        /// Name of the file.
        file: &'static str,
        /// Where.
        at_byte: usize,
        /// What is wrong there.
        what: Defect,
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

    fn malformed(&self) -> impl Fn(Malformed) -> KeyError {
        let file = self.file;
        move |Malformed { at_byte, what }| KeyError::Malformed {
            file,
            at_byte,
            what,
        }
    }
}

impl Key {
    /// Checks and parses the vendored artefacts. About 15 ms and 6 MiB; do it once.
    ///
    /// # Errors
    /// [`KeyError`] when this build holds other bytes than it was made for.
    pub fn load() -> Result<Arc<Self>, KeyError> {
        let (contents, circuit) = key_and_circuit()?;
        let rows = RowTables::parse(ROWS.checked()?, circuit.rows(), circuit.constraints)
            .map_err(ROWS.malformed())?;
        Ok(Arc::new(Self {
            verifying_key: contents.verifying_key,
            proving_key: contents.proving_key,
            circuit,
            rows,
        }))
    }

    /// The key that proofs are verified with.
    pub(crate) fn verifying_key(&self) -> &VerifyingKey<Bn254> {
        &self.verifying_key
    }

    /// The key that proofs are made with, and the constraints.
    pub(crate) fn proving_key(&self) -> &ProvingKey {
        &self.proving_key
    }

    /// The constraints' structure and the witness calculator.
    pub(crate) fn circuit(&self) -> &Circuit {
        &self.circuit
    }

    /// The quotient's share of a proof, by rows.
    pub(crate) fn rows(&self) -> &RowTables {
        &self.rows
    }

    /// The H query, which [`Key::rows`] stands in for.
    #[cfg(test)]
    pub(crate) fn h_query(&self) -> Vec<ark_bn254::G1Affine> {
        let contents = arkzkey::parse(PROVING_KEY.bytes, PUBLIC_INPUTS).unwrap();
        arkzkey::h_query(contents.h_bytes).unwrap()
    }

    /// SHA-256 of the proving key, hex: what derived files are bound to.
    pub(crate) const SHA256: &str = PROVING_KEY.sha256;

    /// The same of the row tables.
    pub(crate) const ROWS_SHA256: &str = ROWS.sha256;
}

/// Computes the vendored file `row_tables.bin` from the vendored key alone: about ten seconds.
///
/// # Errors
/// As [`Key::load`].
pub fn derive_row_tables() -> Result<Vec<u8>, KeyError> {
    let (contents, circuit) = key_and_circuit()?;
    let h_query = arkzkey::h_query(contents.h_bytes).map_err(PROVING_KEY.malformed())?;
    Ok(RowTables::compute(&h_query, circuit.rows(), circuit.constraints).encode())
}

fn key_and_circuit() -> Result<(Contents<'static>, Circuit), KeyError> {
    let contents =
        arkzkey::parse(PROVING_KEY.checked()?, PUBLIC_INPUTS).map_err(PROVING_KEY.malformed())?;
    let graph = graph::parse(GRAPH.checked()?).map_err(GRAPH.malformed())?;
    let circuit = Circuit::new(&contents.proving_key, &graph)
        .map_err(|what| Malformed { at_byte: 0, what })
        .map_err(GRAPH.malformed())?;
    Ok((contents, circuit))
}

#[cfg(test)]
mod tests;
