//! Names of registries: CAIP-10 account identifiers in one canonical spelling.

use std::fmt;
use std::str::FromStr;

use sha3::{Digest, Keccak256};
use thiserror::Error;

use undertone_membership::RegistryId;

#[cfg(test)]
#[path = "tests/name.rs"]
mod tests;

/// Namespace of contracts on chains with an EIP-155 id.
pub(super) const EIP155: &str = "eip155";
/// Namespace of registries on Logos execution environments.
const LOGOS: &str = "logos";
/// Namespace of this project's own registries, at most eight characters as in CAIP-2. It is not registered anywhere.
pub(super) const OWN: &str = "utone";
/// Reference of registries that are files.
pub(super) const FILE: &str = "file";

/// Name of a registry by CAIP-10, `namespace:reference:account`, in its canonical spelling. The specification calls
/// it `registry_id`.
///
/// | namespace | canonical spelling | anchor account |
/// | --- | --- | --- |
/// | `eip155` | chain id in decimal; `0x` and 40 lowercase hexadecimal digits | the membership contract, or its proxy |
/// | `logos` | network in lowercase; 64 lowercase hexadecimal digits | the configuration account |
/// | `utone` | `file`; 32 lowercase hexadecimal digits | the identifier drawn when the file was made |
/// | others | as written | |
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct RegistryName(String);

/// Defect of a registry's name.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum RegistryNameError {
    /// The text does not have three parts.
    #[error("{text:?} is no CAIP-10 identifier; write namespace:reference:account")]
    Parts {
        /// The text found.
        text: String,
    },
    /// A part is empty, too long, or has a character that CAIP-10 does not allow.
    #[error("{found:?} is no {part} by CAIP-10: {allowed}")]
    Syntax {
        /// Name of the part.
        part: &'static str,
        /// The part found.
        found: String,
        /// Description of what is allowed.
        allowed: &'static str,
    },
    /// The reference is invalid in this namespace.
    #[error("{found:?} is no reference of namespace {namespace}: {allowed}")]
    Reference {
        /// Namespace of the name.
        namespace: &'static str,
        /// The reference found.
        found: String,
        /// Description of what is allowed.
        allowed: &'static str,
    },
    /// The account is invalid in this namespace.
    #[error("{found:?} is no account of namespace {namespace}: {allowed}")]
    Account {
        /// Namespace of the name.
        namespace: &'static str,
        /// The account found.
        found: String,
        /// Description of what is allowed.
        allowed: &'static str,
    },
    /// The address has mixed case that does not match the EIP-55 checksum.
    #[error("{found}: its checksum (EIP-55) does not match; correct it, or write it in lowercase")]
    Checksum {
        /// The address found.
        found: String,
    },
}

impl RegistryName {
    /// Returns the name of a registry file with this identifier.
    pub fn of_file(id: RegistryId) -> Self {
        Self(format!("{OWN}:{FILE}:{id}"))
    }

    /// Returns the name of a contract.
    pub fn of_contract(contract: &undertone_membership::evm::Contract) -> Self {
        let address = hex::encode(contract.address.as_slice());
        Self(format!("{EIP155}:{}:0x{address}", contract.chain_id))
    }

    /// Returns the canonical text, which is used for comparing and hashing.
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// Returns the namespace, which determines the kind of registry.
    pub fn namespace(&self) -> &str {
        self.part(0)
    }

    /// Returns the reference: the chain or network within the namespace.
    pub fn reference(&self) -> &str {
        self.part(1)
    }

    /// Returns the address of the account that anchors the registry.
    pub fn account(&self) -> &str {
        self.part(2)
    }

    fn part(&self, at: usize) -> &str {
        let mut parts = self.0.split(':');
        parts.nth(at).expect("a name has three parts")
    }
}

impl FromStr for RegistryName {
    type Err = RegistryNameError;

    fn from_str(text: &str) -> Result<Self, RegistryNameError> {
        let parts: Vec<&str> = text.splitn(3, ':').collect();
        let [namespace, reference, account] = parts[..] else {
            return Err(RegistryNameError::Parts {
                text: text.to_owned(),
            });
        };
        let is_alphanumeric = |c: char| c.is_ascii_alphanumeric();
        syntax(
            "namespace",
            namespace,
            "3 to 8 of a-z, 0-9 and -",
            3..=8,
            |c| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '-',
        )?;
        syntax(
            "reference",
            reference,
            "1 to 32 of a-z, A-Z, 0-9, - and _",
            1..=32,
            |c| is_alphanumeric(c) || "-_".contains(c),
        )?;
        syntax(
            "account",
            account,
            "1 to 128 of a-z, A-Z, 0-9, -, . and %",
            1..=128,
            |c| is_alphanumeric(c) || "-.%".contains(c),
        )?;
        let (reference, account) = match namespace {
            EIP155 => (chain_id(reference)?, address(account)?),
            LOGOS => (
                reference.to_ascii_lowercase(),
                digits(LOGOS, account, 64, "64 hexadecimal digits without prefix")?,
            ),
            OWN => {
                if reference != FILE {
                    return Err(RegistryNameError::Reference {
                        namespace: OWN,
                        found: reference.to_owned(),
                        allowed: "it is `file`",
                    });
                }
                (
                    FILE.to_owned(),
                    digits(OWN, account, 32, "32 hexadecimal digits")?,
                )
            }
            _ => (reference.to_owned(), account.to_owned()),
        };
        Ok(Self(format!("{namespace}:{reference}:{account}")))
    }
}

impl fmt::Display for RegistryName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

fn syntax(
    part: &'static str,
    found: &str,
    allowed: &'static str,
    lengths: std::ops::RangeInclusive<usize>,
    is_allowed: impl Fn(char) -> bool,
) -> Result<(), RegistryNameError> {
    if lengths.contains(&found.len()) && found.chars().all(is_allowed) {
        return Ok(());
    }
    Err(RegistryNameError::Syntax {
        part,
        found: found.to_owned(),
        allowed,
    })
}

fn chain_id(reference: &str) -> Result<String, RegistryNameError> {
    let is_plain = !reference.starts_with('0') && reference.bytes().all(|b| b.is_ascii_digit());
    let is_id = is_plain && reference.parse::<u64>().is_ok();
    is_id
        .then(|| reference.to_owned())
        .ok_or_else(|| RegistryNameError::Reference {
            namespace: EIP155,
            found: reference.to_owned(),
            allowed: "a chain id in decimal, from 1 on",
        })
}

/// Parses an address and returns it in lowercase. An address in mixed case must have the checksum of EIP-55.
fn address(account: &str) -> Result<String, RegistryNameError> {
    let written = account.strip_prefix("0x").unwrap_or_default();
    let lower = digits(EIP155, written, 40, "0x and 40 hexadecimal digits");
    let lower = lower.map_err(|_| RegistryNameError::Account {
        namespace: EIP155,
        found: account.to_owned(),
        allowed: "0x and 40 hexadecimal digits",
    })?;
    let has_one_case = written == lower || written == lower.to_ascii_uppercase();
    if !has_one_case && written != checksummed(&lower) {
        return Err(RegistryNameError::Checksum {
            found: account.to_owned(),
        });
    }
    Ok(format!("0x{lower}"))
}

/// Spells a lowercase address by EIP-55: a letter is a capital where the digit of the hash is 8 or more.
fn checksummed(lower: &str) -> String {
    let hash = hex::encode(Keccak256::digest(lower));
    let digits = lower.chars().zip(hash.chars());
    digits
        .map(|(digit, weight)| match weight >= '8' {
            true => digit.to_ascii_uppercase(),
            false => digit,
        })
        .collect()
}

fn digits(
    namespace: &'static str,
    account: &str,
    length: usize,
    allowed: &'static str,
) -> Result<String, RegistryNameError> {
    let is_hex = account.bytes().all(|byte| byte.is_ascii_hexdigit());
    (is_hex && account.len() == length)
        .then(|| account.to_ascii_lowercase())
        .ok_or_else(|| RegistryNameError::Account {
            namespace,
            found: account.to_owned(),
            allowed,
        })
}
