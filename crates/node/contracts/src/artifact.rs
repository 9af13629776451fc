//! Compiled contracts of `contracts/`, as checked in.

use std::collections::BTreeMap;

use alloy::primitives::{Address, Bytes};
use serde::Deserialize;
use serde_json::value::RawValue;

#[cfg(test)]
#[path = "tests/artifact.rs"]
mod tests;

/// A compiled contract, as `compile.mjs` writes it.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Artifact {
    /// Name of the contract.
    pub contract: String,
    /// Version of the compiler.
    pub solc: String,
    /// SHA-256 of all sources in `contracts/src` and `contracts/test`, as `compile.mjs` takes it; hex.
    pub source_sha256: String,
    /// The ABI, JSON as the compiler writes it.
    pub abi: Box<RawValue>,
    /// Deployment code in hex, with placeholders for the addresses of libraries.
    bytecode: String,
    link_references: BTreeMap<String, BTreeMap<String, Vec<Place>>>,
}

/// Position of a library's address, in bytes of the code.
#[derive(Debug, Deserialize)]
struct Place {
    start: usize,
    length: usize,
}

/// Error of an artifact that cannot be used.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ArtifactError {
    /// The contract needs a library whose address is missing.
    #[error("contract {contract} needs the address of library {library}, which was not given")]
    MissingLibrary {
        /// Name of the contract.
        contract: String,
        /// Name of the missing library.
        library: String,
    },
    /// The artifact is not in the format that `compile.mjs` writes.
    #[error("artifact {contract} is damaged; compile it again: npm run compile in contracts/")]
    Damaged {
        /// Name of the contract.
        contract: String,
    },
}

macro_rules! artifacts {
    ($($(#[$doc:meta])* $name:ident = $file:literal;)*) => {
        $(
            $(#[$doc])*
            ///
            /// # Errors
            /// [`ArtifactError::Damaged`] when the artifact cannot be parsed; a test parses them all.
            pub fn $name() -> Result<Artifact, ArtifactError> {
                let text = include_str!(concat!("../../../../contracts/artifacts/", $file, ".json"));
                parse($file, text)
            }
        )*
    };
}

artifacts! {
    /// Returns the Poseidon library that hashes one element.
    poseidon_t2 = "PoseidonT2";
    /// Returns the Poseidon library that hashes two elements.
    poseidon_t3 = "PoseidonT3";
    /// Returns the library of the incremental Merkle tree.
    lazy_imt = "LazyIMT";
    /// Returns the test token for deposits.
    test_token = "TestStableToken";
    /// Returns the price calculator: a price proportional to the rate limit.
    price_calculator = "LinearPriceCalculator";
    /// Returns the membership contract, to be used through a proxy.
    membership = "RlnMembership";
    /// Returns a contract for tests that reports only what older deployments do: no recent roots, and no
    /// event for a new root or an emptied leaf.
    older_membership = "OlderMembership";
    /// Returns the proxy of the membership contract.
    proxy = "ERC1967Proxy";
}

fn parse(contract: &str, text: &str) -> Result<Artifact, ArtifactError> {
    serde_json::from_str(text).map_err(|_| ArtifactError::Damaged {
        contract: contract.to_owned(),
    })
}

impl Artifact {
    /// Returns the deployment code, with the addresses of its libraries filled in.
    ///
    /// # Errors
    /// [`ArtifactError::MissingLibrary`] when a library that it needs is not in `libraries`;
    /// [`ArtifactError::Damaged`] when the code is not valid.
    pub fn linked(&self, libraries: &[(&str, Address)]) -> Result<Bytes, ArtifactError> {
        let damaged = || ArtifactError::Damaged {
            contract: self.contract.clone(),
        };
        let mut code = self.bytecode.clone();
        for (library, places) in self.link_references.values().flatten() {
            let known = libraries.iter().find(|(name, _)| name == library);
            let (_, address) = known.ok_or_else(|| ArtifactError::MissingLibrary {
                contract: self.contract.clone(),
                library: library.clone(),
            })?;
            for place in places {
                let digits = 2 * place.start..2 * (place.start + place.length);
                code.get(digits.clone()).ok_or_else(damaged)?;
                code.replace_range(digits, &hex::encode(address));
            }
        }
        let code = hex::decode(&code).map_err(|_| damaged())?;
        Ok(Bytes::from(code))
    }
}
