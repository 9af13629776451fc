//! The circuit's keys, vendored in `artefacts/` (source, licence and checksums in its README).

use std::sync::Arc;

use ark_bn254::Bn254;
use ark_groth16::VerifyingKey;
use sha2::{Digest, Sha256};

use crate::arkzkey::{self, Contents, MalformedArtefact, ProvingKey};
use crate::circuit::{Circuit, PUBLIC_INPUTS};
use crate::graph;
use crate::rows::RowTables;

pub use crate::arkzkey::Defect;

/// A vendored file and its required checksum.
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

/// Error in the vendored artefacts, which means that this build of the program is damaged.
#[derive(Debug, thiserror::Error)]
pub enum KeyError {
    /// The checksum of a file is not the one in the source.
    #[error("{file}: sha256 is {found}, expected {expected}; restore the file and build again")]
    Checksum {
        /// Name of the file.
        file: &'static str,
        /// SHA-256 that the source requires, hex.
        expected: &'static str,
        /// SHA-256 of the file's bytes, hex.
        found: String,
    },
    /// A file has the right checksum, but this source cannot read it.
    #[error("{file}: at byte {at_byte}: {what}; restore source and file of one version")]
    Malformed {
        /// Name of the file.
        file: &'static str,
        /// Byte offset at which reading stopped; 0 where no single place is at fault.
        at_byte: usize,
        /// Defect that was found.
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

    fn malformed(&self) -> impl Fn(MalformedArtefact) -> KeyError {
        let file = self.file;
        move |MalformedArtefact { at_byte, what }| KeyError::Malformed {
            file,
            at_byte,
            what,
        }
    }
}

impl Key {
    /// Checks and parses the vendored artefacts. Takes about 15 ms and 6 MiB, so call it once.
    ///
    /// # Errors
    /// [`KeyError`] when an artefact in this build is not the one that the source expects.
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

    /// Key for verifying proofs.
    pub(crate) fn verifying_key(&self) -> &VerifyingKey<Bn254> {
        &self.verifying_key
    }

    /// Key for making proofs, with the constraints.
    pub(crate) fn proving_key(&self) -> &ProvingKey {
        &self.proving_key
    }

    /// Structure of the constraints, with the witness calculator.
    pub(crate) fn circuit(&self) -> &Circuit {
        &self.circuit
    }

    /// Tables for the quotient's part of a proof, by rows.
    pub(crate) fn rows(&self) -> &RowTables {
        &self.rows
    }

    /// Points of the H query, which [`Key::rows`] replaces.
    #[cfg(test)]
    pub(crate) fn h_query(&self) -> Vec<ark_bn254::G1Affine> {
        let contents = arkzkey::parse(PROVING_KEY.bytes, PUBLIC_INPUTS).unwrap();
        arkzkey::h_query(contents.h_bytes).unwrap()
    }

    /// SHA-256 of the proving key's file, hex; derived files name it.
    pub(crate) const SHA256: &str = PROVING_KEY.sha256;

    /// SHA-256 of the row tables' file, hex.
    pub(crate) const ROWS_SHA256: &str = ROWS.sha256;
}

/// Computes the vendored file `row_tables.bin` from the other artefacts; takes about ten seconds.
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
        .map_err(|what| MalformedArtefact { at_byte: 0, what })
        .map_err(GRAPH.malformed())?;
    Ok((contents, circuit))
}

#[cfg(test)]
mod tests;
