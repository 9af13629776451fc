//! The encrypted content of a credential: an identity and its place in a membership contract.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Deserializer, Serialize};
use sha2::{Digest, Sha256};
use zeroize::{Zeroize, ZeroizeOnDrop, Zeroizing};

use crate::field::{Fr, fr_from_le, fr_to_le};
use crate::identity::Identity;
use crate::proof_request::MAX_LIMIT;
use crate::tree::CAPACITY;

/// Capacity reserved for the plain text, so that the growing text is never copied to a new place,
/// which would leave an unwiped copy. Four numbers of 32 bytes take at most 5 characters per byte.
const PLAIN_TEXT_BYTES: usize = 1024;

/// Name of a credential: 64 upper-case hexadecimal digits, the SHA-256 of the concatenated chain id,
/// contract address and decimal tree index.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(into = "String", try_from = "String")]
pub struct CredentialKey(String);

/// Error for a text that is not a credential's name.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("the name of a credential has 64 hexadecimal digits; list the keystore to see them")]
pub struct MalformedKey;

/// A membership and the identity that holds it.
#[derive(Clone, Debug)]
pub struct KeystoreCredential {
    /// Chain id of the contract, in decimal.
    pub chain_id: String,
    /// Address of the membership contract: `0x` and 40 digits, hashed exactly as written.
    pub contract: String,
    /// Leaf index in the membership tree, less than 2^20.
    pub tree_index: u32,
    /// Limit in messages per epoch.
    pub limit: u32,
    /// Keys of the member.
    pub identity: Identity,
}

/// Defect of a decrypted text that is not a valid credential.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum CredentialDefect {
    /// The text is not the JSON of a credential. The JSON reader's error is omitted because it could
    /// quote a secret.
    #[error("what is encrypted is not the JSON of a credential")]
    Json,
    /// A number of the identity is not a canonical field element.
    #[error("{field} is not a canonical field element of 32 bytes")]
    Element {
        /// Name of the field in the file.
        field: &'static str,
    },
    /// Secret or commitment do not follow from trapdoor and nullifier.
    #[error("{field} does not belong to the trapdoor and nullifier next to it")]
    Inconsistent {
        /// Name of the field in the file.
        field: &'static str,
    },
    /// The index is outside the membership tree.
    #[error("tree index {index} is outside the membership tree")]
    Index {
        /// Tree index in the text.
        index: u64,
    },
    /// The limit is outside the range that can be registered.
    #[error("limit {limit} is outside 1..={MAX_LIMIT}")]
    Limit {
        /// Limit in the text.
        limit: u64,
    },
    /// The name is not that of the credential's chain, contract and index.
    #[error("its name is not that of its chain, contract and index")]
    Name,
}

#[derive(Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
struct Plain {
    membership_contract: CredentialContract,
    tree_index: u64,
    identity_credential: Numbers,
    user_message_limit: u64,
}

#[derive(Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
struct CredentialContract {
    #[serde(deserialize_with = "text_or_number")]
    chain_id: String,
    address: String,
}

/// The identity's four field elements, each 32 bytes little-endian.
#[derive(Serialize, Deserialize, Zeroize, ZeroizeOnDrop)]
#[serde(rename_all = "camelCase")]
struct Numbers {
    id_trapdoor: [u8; 32],
    id_nullifier: [u8; 32],
    id_secret_hash: [u8; 32],
    id_commitment: [u8; 32],
}

impl KeystoreCredential {
    /// Computes the name of the credential.
    pub fn key(&self) -> CredentialKey {
        let digest = Sha256::new()
            .chain_update(&self.chain_id)
            .chain_update(&self.contract)
            .chain_update(self.tree_index.to_string())
            .finalize();
        CredentialKey(hex::encode_upper(digest))
    }

    pub(super) fn to_json(&self) -> Zeroizing<Vec<u8>> {
        let identity = &self.identity;
        let plain = Plain {
            membership_contract: CredentialContract {
                chain_id: self.chain_id.clone(),
                address: self.contract.clone(),
            },
            tree_index: self.tree_index.into(),
            identity_credential: Numbers {
                id_trapdoor: fr_to_le(identity.trapdoor()),
                id_nullifier: fr_to_le(identity.nullifier()),
                id_secret_hash: fr_to_le(identity.secret()),
                id_commitment: fr_to_le(&identity.commitment()),
            },
            user_message_limit: self.limit.into(),
        };
        let room = PLAIN_TEXT_BYTES + self.chain_id.len() + self.contract.len();
        let mut json = Zeroizing::new(Vec::with_capacity(room));
        serde_json::to_writer(&mut *json, &plain).expect("strings and numbers have a JSON form");
        json
    }

    pub(super) fn from_json(json: &[u8]) -> Result<Self, CredentialDefect> {
        let plain: Plain = serde_json::from_slice(json).map_err(|_| CredentialDefect::Json)?;
        let numbers = &plain.identity_credential;
        let element = |field, bytes: &[u8; 32]| {
            fr_from_le(bytes).map_err(|_| CredentialDefect::Element { field })
        };
        let identity = Identity::from_parts(
            element("idTrapdoor", &numbers.id_trapdoor)?,
            element("idNullifier", &numbers.id_nullifier)?,
        );
        let derived: [(_, _, Fr); 2] = [
            ("idSecretHash", &numbers.id_secret_hash, *identity.secret()),
            (
                "idCommitment",
                &numbers.id_commitment,
                identity.commitment(),
            ),
        ];
        for (field, bytes, expected) in derived {
            if element(field, bytes)? != expected {
                return Err(CredentialDefect::Inconsistent { field });
            }
        }
        let (index, limit) = (plain.tree_index, plain.user_message_limit);
        Ok(Self {
            chain_id: plain.membership_contract.chain_id,
            contract: plain.membership_contract.address,
            tree_index: u32::try_from(index)
                .ok()
                .filter(|index| *index < CAPACITY)
                .ok_or(CredentialDefect::Index { index })?,
            limit: u32::try_from(limit)
                .ok()
                .filter(|limit| (1..=MAX_LIMIT).contains(limit))
                .ok_or(CredentialDefect::Limit { limit })?,
            identity,
        })
    }
}

impl FromStr for CredentialKey {
    type Err = MalformedKey;

    fn from_str(text: &str) -> Result<Self, MalformedKey> {
        let is_key = text.len() == 64 && text.bytes().all(|byte| byte.is_ascii_hexdigit());
        is_key
            .then(|| Self(text.to_ascii_uppercase()))
            .ok_or(MalformedKey)
    }
}

impl TryFrom<String> for CredentialKey {
    type Error = MalformedKey;

    fn try_from(text: String) -> Result<Self, MalformedKey> {
        text.parse()
    }
}

impl From<CredentialKey> for String {
    fn from(key: CredentialKey) -> Self {
        key.0
    }
}

impl fmt::Display for CredentialKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// Reads a chain id that is a text, as written by nwaku, or a number, as written by others.
fn text_or_number<'de, D: Deserializer<'de>>(deserializer: D) -> Result<String, D::Error> {
    #[derive(Deserialize)]
    #[serde(untagged)]
    enum Either {
        Text(String),
        Number(u64),
    }
    Ok(match Either::deserialize(deserializer)? {
        Either::Text(text) => text,
        Either::Number(number) => number.to_string(),
    })
}
