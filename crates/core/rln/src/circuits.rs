//! Table of the circuits that this build knows: their files, checksums and sizes.
//!
//! Another circuit takes one more entry, with its files under `artefacts/`: proving key and witness graph as zerokit
//! writes them, and the row tables that the example `row_tables` computes from both. A network preset names its
//! circuit.

use sha2::{Digest, Sha256};

use crate::key::KeyError;
use crate::tree::DEPTH;

#[cfg(test)]
#[path = "tests/circuits.rs"]
mod tests;

/// Vendored file and its required checksum.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Artefact {
    pub(crate) file: &'static str,
    pub(crate) bytes: &'static [u8],
    pub(crate) sha256: &'static str,
}

/// A circuit. All nodes of a network must use the same one to accept each other's proofs.
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub struct CircuitSpec {
    /// Name by which a network preset selects the circuit.
    pub name: &'static str,
    /// Depth of the membership tree.
    pub tree_depth: usize,
    /// Number of public inputs of the verifying key.
    pub public_inputs: usize,
    /// Number of message ids that one proof may use.
    pub max_out: usize,
    pub(crate) key: Artefact,
    pub(crate) graph: Artefact,
    pub(crate) rows: Artefact,
}

/// Name of the circuit of the deployed Waku networks.
pub const DEPLOYED: &str = "rln-v2-depth-20";

/// All circuits that this build knows.
pub const CIRCUITS: [CircuitSpec; 1] = [CircuitSpec {
    name: DEPLOYED,
    tree_depth: 20,
    public_inputs: 5,
    max_out: 1,
    key: Artefact {
        file: "tree_depth_20/rln_final.arkzkey",
        bytes: include_bytes!("../artefacts/tree_depth_20/rln_final.arkzkey"),
        sha256: "4736d28be856af6a739e1d5e9bebb69fd17f476a57cf4ad86375ed6cfda9827a",
    },
    graph: Artefact {
        file: "tree_depth_20/graph.bin",
        bytes: include_bytes!("../artefacts/tree_depth_20/graph.bin"),
        sha256: "eaf1868e27b22c7deb6da8a253300c99effcfa417f807ef7105d3fb8628d1c54",
    },
    rows: Artefact {
        file: "tree_depth_20/row_tables.bin",
        bytes: include_bytes!("../artefacts/tree_depth_20/row_tables.bin"),
        sha256: "988973d76f799c58eceb540073e433e0f3b9597c9fad1646544d426447c3f8e6",
    },
}];

impl CircuitSpec {
    /// Returns the circuit with this name.
    ///
    /// # Errors
    /// [`KeyError::UnknownCircuit`] with the names that this build knows.
    pub fn by_name(name: &str) -> Result<&'static Self, KeyError> {
        let found = CIRCUITS.iter().find(|circuit| circuit.name == name);
        found.ok_or_else(|| KeyError::UnknownCircuit {
            name: name.to_owned(),
            known: CIRCUITS.map(|circuit| circuit.name).join(", "),
        })
    }

    /// Checks that this build can make and verify proofs of the circuit.
    pub(crate) fn check_supported(&self) -> Result<(), KeyError> {
        if self.tree_depth != DEPTH {
            return Err(KeyError::Depth {
                circuit: self.name,
                found: self.tree_depth,
                expected: DEPTH,
            });
        }
        if self.max_out != 1 {
            return Err(KeyError::MaxOut {
                circuit: self.name,
                found: self.max_out,
            });
        }
        Ok(())
    }
}

impl Artefact {
    /// Returns the bytes if their checksum is the required one.
    pub(crate) fn checked(&self) -> Result<&'static [u8], KeyError> {
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
