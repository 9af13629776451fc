//! Keys of a circuit, from the files that [`crate::circuits`] names (source, licence and checksums in `artefacts/README.md`).

use std::sync::Arc;

use ark_bn254::Bn254;
use ark_groth16::VerifyingKey;

use crate::arkzkey::{self, Contents, MalformedArtefact, ProvingKey};
use crate::circuit::Circuit;
use crate::circuits::{Artefact, CircuitSpec, DEPLOYED};
use crate::graph;
use crate::rows::RowTables;

pub use crate::arkzkey::Defect;

/// Keys of one circuit: verifying key, proving key, witness calculator.
pub struct Key {
    spec: &'static CircuitSpec,
    verifying_key: VerifyingKey<Bn254>,
    proving_key: ProvingKey,
    circuit: Circuit,
    rows: RowTables,
}

/// Error in the vendored artefacts or their table. This build of the program is damaged or was made for other circuits.
#[derive(Debug, thiserror::Error)]
pub enum KeyError {
    /// The circuit's tree depth is not the one of this build.
    #[error(
        "circuit {circuit}: its tree has depth {found}, and this build has trees of depth {expected}; choose a network \
         whose circuit has that depth, or build with `tree::DEPTH` = {found}"
    )]
    Depth {
        /// Name of the circuit.
        circuit: &'static str,
        /// Depth that the table of circuits states.
        found: usize,
        /// Depth of this build's trees.
        expected: usize,
    },
    /// The circuit's proofs use more than one message id.
    #[error(
        "circuit {circuit}: max_out is {found}, and this prover makes proofs for one message id; choose a circuit with max_out 1"
    )]
    MaxOut {
        /// Name of the circuit.
        circuit: &'static str,
        /// Number of message ids of one proof.
        found: usize,
    },
    /// No circuit has this name.
    #[error("no circuit is called {name:?}; known: {known}")]
    UnknownCircuit {
        /// Name that was requested.
        name: String,
        /// Names that this build knows, separated by commas.
        known: String,
    },
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
        /// Byte offset at which reading stopped; 0 if the defect has no single place.
        at_byte: usize,
        /// Defect that was found.
        what: Defect,
    },
}

impl Artefact {
    pub(crate) fn malformed(&self) -> impl Fn(MalformedArtefact) -> KeyError {
        let file = self.file;
        move |MalformedArtefact { at_byte, what }| KeyError::Malformed {
            file,
            at_byte,
            what,
        }
    }
}

impl Key {
    /// Loads the circuit of the deployed Waku networks; see [`Key::of`].
    ///
    /// # Errors
    /// [`KeyError`] when an artefact is not the one that the table of circuits expects; see [`Key::of`].
    pub fn load() -> Result<Arc<Self>, KeyError> {
        Self::of(DEPLOYED)
    }

    /// Checks and parses the artefacts of the circuit with this name. Takes about 15 ms and 6 MiB, so call it once.
    ///
    /// # Errors
    /// [`KeyError`] when this build has no such circuit, or an artefact in it is not the one that its table expects.
    pub fn of(circuit: &str) -> Result<Arc<Self>, KeyError> {
        Self::read(CircuitSpec::by_name(circuit)?).map(Arc::new)
    }

    pub(crate) fn read(spec: &'static CircuitSpec) -> Result<Self, KeyError> {
        let (contents, circuit) = key_and_circuit(spec)?;
        let rows = RowTables::parse(spec.rows.checked()?, circuit.rows(), circuit.constraints)
            .map_err(spec.rows.malformed())?;
        Ok(Self {
            spec,
            verifying_key: contents.verifying_key,
            proving_key: contents.proving_key,
            circuit,
            rows,
        })
    }

    /// Circuit that the keys belong to.
    pub fn spec(&self) -> &'static CircuitSpec {
        self.spec
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
        let contents = arkzkey::parse(self.spec.key.bytes, self.spec.public_inputs).unwrap();
        arkzkey::h_query(contents.h_bytes).unwrap()
    }
}

/// Computes the file `row_tables.bin` of a circuit from its other artefacts; takes about ten seconds.
///
/// # Errors
/// [`KeyError`] when an artefact is not the one that the table of circuits expects; see [`Key::of`].
pub fn derive_row_tables(circuit: &str) -> Result<Vec<u8>, KeyError> {
    let spec = CircuitSpec::by_name(circuit)?;
    let (contents, circuit) = key_and_circuit(spec)?;
    let h_query = arkzkey::h_query(contents.h_bytes).map_err(spec.key.malformed())?;
    Ok(RowTables::compute(&h_query, circuit.rows(), circuit.constraints).encode())
}

fn key_and_circuit(spec: &CircuitSpec) -> Result<(Contents<'static>, Circuit), KeyError> {
    spec.check_supported()?;
    let contents =
        arkzkey::parse(spec.key.checked()?, spec.public_inputs).map_err(spec.key.malformed())?;
    let graph = graph::parse(spec.graph.checked()?).map_err(spec.graph.malformed())?;
    let circuit = Circuit::new(&contents.proving_key, &graph)
        .map_err(|what| MalformedArtefact { at_byte: 0, what })
        .map_err(spec.graph.malformed())?;
    Ok((contents, circuit))
}

#[cfg(test)]
#[path = "tests/key.rs"]
mod tests;
