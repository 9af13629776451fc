//! JSON-RPC 2.0: encodes requests as text, and reads answers into the type of their result.

use std::fmt;

use alloy::hex;
use alloy::primitives::{B256, Uint};
use alloy::sol_types::SolCall;
use serde::de::{Deserialize, Deserializer, Error, Unexpected, Visitor};

use super::error::{AnswerFault, RpcError};
use crate::evm::abi;
use crate::evm::chain::{Ask, BlockRef, Contract};

/// Maximum length of an endpoint's error message that is passed on, in characters.
const MAX_MESSAGE_CHARS: usize = 200;

/// JSON-RPC error code for "limit exceeded" (EIP-1474).
const LIMIT_EXCEEDED: i64 = -32005;

/// Bytes allowed in an answer besides its result, or for an error with its message.
pub(super) const SMALL_ANSWER_BYTES: u64 = 64 << 10;

/// Maximum length of an answer with a block, in bytes. Blocks list the hashes of their transactions.
const BLOCK_ANSWER_BYTES: u64 = 1 << 20;

/// JSON of the block tag for the newest block.
const LATEST: &str = r#""latest""#;

/// Encodes a question as method and parameters.
pub(super) fn request(contract: &Contract, ask: &Ask) -> (&'static str, String) {
    match ask {
        Ask::Head => ("eth_getBlockByNumber", r#"["latest",false]"#.to_owned()),
        Ask::Header { number } | Ask::Time { number } => {
            ("eth_getBlockByNumber", format!(r#"["{number:#x}",false]"#))
        }
        Ask::Events { from, to, roots } => {
            let mut topics: Vec<B256> = abi::CHANGES.to_vec();
            if *roots {
                topics.push(abi::ROOT);
            }
            let topics: Vec<String> = topics.iter().map(|topic| format!(r#""{topic}""#)).collect();
            let filter = format!(
                r#"[{{"address":"{:#x}","fromBlock":"{from:#x}","toBlock":"{to:#x}","topics":[[{}]]}}]"#,
                contract.address,
                topics.join(",")
            );
            ("eth_getLogs", filter)
        }
        Ask::Root { at } => {
            let data = abi::rootCall {}.abi_encode();
            ("eth_call", call(contract, &data, Some(at)))
        }
        Ask::RootOf { height } => {
            let data = abi::rootCall {}.abi_encode();
            let block = match height {
                Some(height) => format!(r#""{height:#x}""#),
                None => LATEST.to_owned(),
            };
            ("eth_call", call_at(contract, &data, &block))
        }
        Ask::Count { at } => {
            let data = abi::nextFreeIndexCall {}.abi_encode();
            ("eth_call", call(contract, &data, Some(at)))
        }
        Ask::Leaves { at, first, last } => {
            let data = abi::getRateCommitmentsInRangeBoundsInclusiveCall {
                startIndex: *first,
                endIndex: *last,
            };
            ("eth_call", call(contract, &data.abi_encode(), Some(at)))
        }
        Ask::Recent { at } => {
            let data = abi::getRecentRootsCall {}.abi_encode();
            ("eth_call", call(contract, &data, at.as_ref()))
        }
        Ask::Membership { commitment, at } => {
            let data = abi::getMembershipInfoCall {
                idCommitment: abi::number(commitment),
            };
            ("eth_call", call(contract, &data.abi_encode(), Some(at)))
        }
        Ask::Path { index, at } => {
            let data = abi::getMerkleProofCall {
                index: Uint::from(index.get()),
            };
            ("eth_call", call(contract, &data.abi_encode(), Some(at)))
        }
    }
}

/// Encodes the parameters of `eth_call`, as of a block that must be canonical (EIP-1898).
pub(super) fn call(contract: &Contract, data: &[u8], at: Option<&BlockRef>) -> String {
    let block = match at {
        Some(block) => format!(
            r#"{{"blockHash":"{}","requireCanonical":true}}"#,
            block.hash
        ),
        None => LATEST.to_owned(),
    };
    call_at(contract, data, &block)
}

fn call_at(contract: &Contract, data: &[u8], block: &str) -> String {
    format!(
        r#"[{{"to":"{:#x}","data":"0x{}"}},{block}]"#,
        contract.address,
        hex::encode(data)
    )
}

/// Returns the maximum length of an endpoint's answer to a question, in bytes; `None` if only the
/// configuration limits it.
pub(super) fn max_answer_bytes(ask: &Ask) -> Option<u64> {
    match ask {
        Ask::Events { .. } => None,
        Ask::Head | Ask::Header { .. } | Ask::Time { .. } => Some(BLOCK_ANSWER_BYTES),
        // 32 bytes each, in hexadecimal notation.
        Ask::Leaves { first, last, .. } => {
            Some(SMALL_ANSWER_BYTES + 64 * (u64::from(last.saturating_sub(*first)) + 1))
        }
        Ask::Root { .. }
        | Ask::RootOf { .. }
        | Ask::Count { .. }
        | Ask::Recent { .. }
        | Ask::Membership { .. }
        | Ask::Path { .. } => Some(SMALL_ANSWER_BYTES),
    }
}

/// Answer of an endpoint. Other fields are skipped without being stored.
#[derive(serde::Deserialize)]
#[serde(bound = "T: Deserialize<'de>")]
struct RpcAnswer<T> {
    id: Option<u64>,
    error: Option<ErrorObject>,
    /// `None` if there is no result, `Some(None)` if it is `null`.
    #[serde(default, deserialize_with = "present")]
    result: Option<Option<T>>,
}

#[derive(serde::Deserialize)]
struct ErrorObject {
    #[serde(default)]
    code: i64,
    #[serde(default)]
    message: String,
}

fn present<'de, D: Deserializer<'de>, T: Deserialize<'de>>(
    deserializer: D,
) -> Result<Option<Option<T>>, D::Error> {
    Deserialize::deserialize(deserializer).map(Some)
}

/// Reads the result of an answer to request `id`; `None` if it is `null`.
pub(super) fn result<'a, T: Deserialize<'a>>(
    id: u64,
    bytes: &'a [u8],
) -> Result<Option<T>, RpcError> {
    let fault = |fault| RpcError::InvalidAnswer { fault };
    let answer: RpcAnswer<T> = serde_json::from_slice(bytes).map_err(|error| {
        fault(match error.is_data() {
            true => AnswerFault::Shape,
            false => AnswerFault::Json,
        })
    })?;
    if let Some(ErrorObject { code, message }) = answer.error {
        let lower = message.to_ascii_lowercase();
        // Some endpoints use the same code for "too many results".
        if code == 429 || (code == LIMIT_EXCEEDED && lower.contains("request")) {
            return Err(RpcError::Busy { retry_after: None });
        }
        let message = message.chars().take(MAX_MESSAGE_CHARS).collect();
        return Err(RpcError::Refused { code, message });
    }
    if answer.id != Some(id) {
        return Err(fault(AnswerFault::Json));
    }
    answer.result.ok_or_else(|| fault(AnswerFault::Json))
}

/// Whether a message is the answer to request `id`.
pub(super) fn is_answer(text: &str, id: u64) -> bool {
    #[derive(serde::Deserialize)]
    struct OnlyId {
        id: Option<u64>,
    }
    serde_json::from_str(text).is_ok_and(|answer: OnlyId| answer.id == Some(id))
}

/// A number in JSON-RPC's hexadecimal notation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Quantity(pub(super) u64);

impl<'de> Deserialize<'de> for Quantity {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let read = |digits: &str| u64::from_str_radix(digits, 16).ok().map(Self);
        deserializer.deserialize_str(HexVisitor(read))
    }
}

/// Bytes in hexadecimal notation.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct HexBytes(pub(super) Vec<u8>);

impl<'de> Deserialize<'de> for HexBytes {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let read = |digits: &str| hex::decode(digits).ok().map(Self);
        deserializer.deserialize_str(HexVisitor(read))
    }
}

/// A hash in hexadecimal notation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct HexHash(pub(super) B256);

impl<'de> Deserialize<'de> for HexHash {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let read = |digits: &str| {
            let mut hash = B256::ZERO;
            hex::decode_to_slice(digits, &mut hash.0).ok()?;
            Some(Self(hash))
        };
        deserializer.deserialize_str(HexVisitor(read))
    }
}

/// Visitor of a text that starts with `0x`; a function parses the rest.
struct HexVisitor<F>(F);

impl<T, F: FnOnce(&str) -> Option<T>> Visitor<'_> for HexVisitor<F> {
    type Value = T;

    fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("hexadecimal notation")
    }

    fn visit_str<E: Error>(self, text: &str) -> Result<T, E> {
        let value = text.strip_prefix("0x").and_then(self.0);
        // The error does not quote the text, which may be long.
        value.ok_or_else(|| {
            E::invalid_value(Unexpected::Other("other text"), &"hexadecimal notation")
        })
    }
}
