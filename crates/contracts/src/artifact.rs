//! What `contracts/` compiles to, as checked in.

use std::collections::BTreeMap;

use alloy::primitives::{Address, Bytes};
use serde::Deserialize;
use serde_json::value::RawValue;

#[cfg(test)]
mod tests;

/// One compiled contract.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Artifact {
    /// Its name.
    pub contract: String,
    /// Version of the compiler.
    pub solc: String,
    /// SHA-256 of all sources in `contracts/src` and `contracts/test`, as `compile.mjs` takes it; hex.
    pub source_sha256: String,
    /// The ABI, JSON as the compiler writes it.
    pub abi: Box<RawValue>,
    /// Code that deploys it; hex, with placeholders for the addresses of libraries.
    bytecode: String,
    link_references: BTreeMap<String, BTreeMap<String, Vec<Place>>>,
}

/// Where the address of a library goes, in bytes of code.
#[derive(Debug, Deserialize)]
struct Place {
    start: usize,
    length: usize,
}

/// An artifact that cannot be used.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ArtifactError {
    /// It needs a library that was not given.
    #[error("contract {contract} needs the address of library {library}, which was not given")]
    MissingLibrary {
        /// The contract.
        contract: String,
        /// The library.
        library: String,
    },
    /// It is not what `compile.mjs` writes.
    #[error("artifact {contract} is damaged; compile it again: npm run compile in contracts/")]
    Damaged {
        /// The contract.
        contract: String,
    },
}

macro_rules! artifacts {
    ($($(#[$doc:meta])* $name:ident = $file:literal;)*) => {
        $(
            $(#[$doc])*
            ///
            /// # Errors
            /// [`ArtifactError::Damaged`]; a test reads them all.
            pub fn $name() -> Result<Artifact, ArtifactError> {
                let text = include_str!(concat!("../../../contracts/artifacts/", $file, ".json"));
                parse($file, text)
            }
        )*
    };
}

artifacts! {
    /// The library that hashes one element.
    poseidon_t2 = "PoseidonT2";
    /// The library that hashes two.
    poseidon_t3 = "PoseidonT3";
    /// The library of the incremental tree.
    lazy_imt = "LazyIMT";
    /// The test token.
    test_token = "TestStableToken";
    /// The price in proportion to the rate limit.
    price_calculator = "LinearPriceCalculator";
    /// The membership contract, to be used through a proxy.
    membership = "RlnMembership";
    /// A contract for tests that tells what older deployments tell: no recent roots, and no event for
    /// a new root or an emptied leaf.
    older_membership = "OlderMembership";
    /// The proxy.
    proxy = "ERC1967Proxy";
}

fn parse(contract: &str, text: &str) -> Result<Artifact, ArtifactError> {
    serde_json::from_str(text).map_err(|_| ArtifactError::Damaged {
        contract: contract.to_owned(),
    })
}

impl Artifact {
    /// The code that deploys it, with the addresses of its libraries filled in.
    ///
    /// # Errors
    /// [`ArtifactError::MissingLibrary`] when one that it needs is not in `libraries`.
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
