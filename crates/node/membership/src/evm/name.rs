//! Names of contracts: an address alone, or with its chain in CAIP-10 form.

use std::fmt;
use std::str::FromStr;

use alloy::primitives::Address;
use thiserror::Error;

use super::chain::Contract;

#[cfg(test)]
#[path = "tests/name.rs"]
mod tests;

/// CAIP-2 namespace of chains with an EIP-155 id.
const EIP155: &str = "eip155";

/// Name of a registry's contract, as an operator writes it: `0x…`, or `eip155:59141:0x…` (CAIP-10).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ContractName {
    /// Chain id, if the name has one.
    pub chain_id: Option<u64>,
    /// Address of the contract.
    pub address: Address,
}

/// Defect of a contract's name.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum ContractNameError {
    /// The namespace is not that of an EVM chain.
    #[error("{namespace:?} is no namespace of chains that can be read here; use eip155:CHAIN:0x…")]
    Namespace {
        /// The namespace found.
        namespace: String,
    },
    /// The reference is not a chain id.
    #[error("{reference:?} is no chain id; use a number from 1 on, as in eip155:59141:0x…")]
    Reference {
        /// The reference found.
        reference: String,
    },
    /// The address is invalid.
    #[error("{address:?} is no address of a contract; it has 0x and 40 hexadecimal digits")]
    Address {
        /// The address found.
        address: String,
    },
    /// The name's chain differs from the one passed separately.
    #[error("the name says chain {named}, and chain {given} was given beside it; leave one out")]
    OtherChain {
        /// Chain id in the name.
        named: u64,
        /// Chain id passed separately.
        given: u64,
    },
}

impl ContractName {
    /// Returns the contract on the chain of the name, or on `chain_id`; `None` if neither is set.
    ///
    /// # Errors
    /// [`ContractNameError::OtherChain`] if the two differ.
    pub fn on_chain(&self, chain_id: Option<u64>) -> Result<Option<Contract>, ContractNameError> {
        if let (Some(named), Some(given)) = (self.chain_id, chain_id)
            && named != given
        {
            return Err(ContractNameError::OtherChain { named, given });
        }
        let address = self.address;
        let chain_id = self.chain_id.or(chain_id);
        Ok(chain_id.map(|chain_id| Contract { chain_id, address }))
    }
}

impl From<Address> for ContractName {
    fn from(address: Address) -> Self {
        Self {
            chain_id: None,
            address,
        }
    }
}

impl FromStr for ContractName {
    type Err = ContractNameError;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let address = |text: &str| {
            let well_formed = text.starts_with("0x");
            let parsed: Option<Address> = text.parse().ok().filter(|_| well_formed);
            parsed.ok_or_else(|| ContractNameError::Address {
                address: text.to_owned(),
            })
        };
        let Some((namespace, rest)) = text.split_once(':') else {
            return Ok(address(text)?.into());
        };
        if namespace != EIP155 {
            return Err(ContractNameError::Namespace {
                namespace: namespace.to_owned(),
            });
        }
        let (reference, account) = rest.split_once(':').unwrap_or((rest, ""));
        let is_plain = !reference.starts_with(['+', '0']);
        let chain_id: Option<u64> = reference.parse().ok().filter(|_| is_plain);
        let Some(chain_id) = chain_id else {
            return Err(ContractNameError::Reference {
                reference: reference.to_owned(),
            });
        };
        Ok(Self {
            chain_id: Some(chain_id),
            address: address(account)?,
        })
    }
}

impl fmt::Display for ContractName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.chain_id {
            Some(chain_id) => write!(f, "{EIP155}:{chain_id}:{}", self.address),
            None => write!(f, "{}", self.address),
        }
    }
}
