//! JSON-RPC 2.0: encodes requests as text and reads results as JSON values.

use alloy::hex;
use alloy::primitives::{B256, Uint};
use alloy::sol_types::SolCall;

use super::error::{AnswerFault, RpcError};
use crate::evm::abi;
use crate::evm::chain::{Ask, BlockRef, Contract};

/// The JSON value that a call returned.
pub(super) type Json = serde_json::Value;

/// Maximum length of an endpoint's error message that is passed on, in characters.
const MAX_MESSAGE_CHARS: usize = 200;

/// JSON-RPC error code for "limit exceeded" (EIP-1474).
const LIMIT_EXCEEDED: i64 = -32005;

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

/// Extracts the result from an answer to request `id`.
pub(super) fn result(id: u64, bytes: &[u8]) -> Result<Json, RpcError> {
    let fault = RpcError::InvalidAnswer {
        fault: AnswerFault::Json,
    };
    let mut answer: Json = serde_json::from_slice(bytes).map_err(|_| fault.clone())?;
    if let Some(error) = answer.get("error").filter(|error| !error.is_null()) {
        let code = error.get("code").and_then(Json::as_i64).unwrap_or(0);
        let message = error.get("message").and_then(Json::as_str).unwrap_or("");
        let lower = message.to_ascii_lowercase();
        // Some endpoints use the same code for "too many results".
        if code == 429 || (code == LIMIT_EXCEEDED && lower.contains("request")) {
            return Err(RpcError::Busy { retry_after: None });
        }
        let message = message.chars().take(MAX_MESSAGE_CHARS).collect();
        return Err(RpcError::Refused { code, message });
    }
    if answer.get("id").and_then(Json::as_u64) != Some(id) {
        return Err(fault);
    }
    answer.get_mut("result").map(Json::take).ok_or(fault)
}
