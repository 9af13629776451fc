//! Validation of answers against the question.

use alloy::hex;
use alloy::primitives::{B256, U256};
use undertone_rln::Fr;
use undertone_rln::tree::{CAPACITY, DEPTH};

use super::error::{AnswerFault, RpcError};
use super::json::Json;
use crate::evm::abi;
use crate::evm::chain::{
    Answer, Ask, BlockRef, Contract, ContractEvent, Head, RECENT_ROOTS, Recent,
};
use crate::registry::{Member, MemberIndex};

/// Decodes and validates an endpoint's result as the answer to a question.
pub(super) fn answer(contract: &Contract, ask: &Ask, result: &Json) -> Result<Answer, RpcError> {
    // An empty result comes from a contract that has a fallback but not the function, and from an
    // address without code.
    if ask.may_be_refused() && result.as_str() == Some("0x") {
        return Ok(Answer::Refused);
    }
    let answer = match ask {
        Ask::Head => head(result).map(Answer::Head),
        Ask::Header { number } => {
            head(result).and_then(|head| match head.block.number == *number {
                true => Ok(Answer::Header(head.block)),
                false => Err(AnswerFault::NoBlock),
            })
        }
        Ask::Time { number } => time(result, *number).map(Answer::Time),
        Ask::Events { from, to, .. } => events(contract, result, *from, *to).map(Answer::Events),
        Ask::Root { .. } | Ask::RootOf { .. } => {
            elements(result).and_then(|words| match words[..] {
                [root] => Ok(Answer::Root(root)),
                _ => Err(AnswerFault::Shape),
            })
        }
        Ask::Count { .. } => count(result).ok_or(AnswerFault::Shape).map(Answer::Count),
        Ask::Leaves { first, last, .. } => {
            // ABI encoding of a dynamic array: offset, length, items.
            let wanted = (last - first) as usize + 1;
            let bytes = bytes(result).ok_or(AnswerFault::Shape);
            bytes.and_then(|bytes| match bytes.len() == 32 * (wanted + 2) {
                true => words(&bytes[64..]).map(Answer::Leaves),
                false => Err(AnswerFault::Shape),
            })
        }
        Ask::Recent { .. } => recent(result).map(Answer::Recent),
        Ask::Membership { commitment, .. } => {
            membership(*commitment, result).map(Answer::Membership)
        }
        Ask::Path { .. } => elements(result).and_then(|siblings| {
            let siblings = <[Fr; DEPTH]>::try_from(siblings).map_err(|_| AnswerFault::Shape)?;
            Ok(Answer::Path(Box::new(siblings)))
        }),
    };
    answer.map_err(|fault| RpcError::InvalidAnswer { fault })
}

/// Decodes a number in JSON-RPC's hexadecimal notation.
pub(super) fn quantity(value: &Json) -> Option<u64> {
    let digits = value.as_str()?.strip_prefix("0x")?;
    u64::from_str_radix(digits, 16).ok()
}

/// Decodes bytes in hexadecimal notation.
pub(super) fn bytes(value: &Json) -> Option<Vec<u8>> {
    hex::decode(value.as_str()?.strip_prefix("0x")?).ok()
}

fn hash(value: &Json) -> Option<B256> {
    B256::try_from(bytes(value)?.as_slice()).ok()
}

fn head(block: &Json) -> Result<Head, AnswerFault> {
    if block.is_null() {
        return Err(AnswerFault::NoBlock);
    }
    let parse = || {
        Some(Head {
            block: BlockRef {
                number: quantity(block.get("number")?)?,
                hash: hash(block.get("hash")?)?,
            },
            parent: hash(block.get("parentHash")?)?,
        })
    };
    parse().ok_or(AnswerFault::Shape)
}

fn time(block: &Json, number: u64) -> Result<u64, AnswerFault> {
    if head(block)?.block.number != number {
        return Err(AnswerFault::NoBlock);
    }
    let unix_s = block.get("timestamp").and_then(quantity);
    unix_s.ok_or(AnswerFault::Shape)
}

fn elements(result: &Json) -> Result<Vec<Fr>, AnswerFault> {
    words(&bytes(result).ok_or(AnswerFault::Shape)?)
}

/// Decodes the recent roots: the contract sends the newest first, then 0 for unused places.
fn recent(result: &Json) -> Result<Recent, AnswerFault> {
    let mut roots = elements(result)?;
    if roots.len() != RECENT_ROOTS {
        return Err(AnswerFault::Shape);
    }
    let unused = Fr::from(0);
    let used = roots.iter().position(|root| *root == unused);
    let used = used.unwrap_or(RECENT_ROOTS);
    if roots[used..].iter().any(|root| *root != unused) {
        return Err(AnswerFault::Shape);
    }
    roots.truncate(used);
    roots.reverse();
    roots.dedup();
    Ok(Recent {
        roots,
        is_full: used == RECENT_ROOTS,
    })
}

/// Decodes a membership's limit, index and leaf; all 0 mean that there is none. A leaf of another
/// commitment or limit is invalid, and so is a membership without a leaf.
fn membership(commitment: Fr, result: &Json) -> Result<Option<Member>, AnswerFault> {
    let bytes = bytes(result).ok_or(AnswerFault::Shape)?;
    let (words, rest) = bytes.as_chunks::<32>();
    let ([limit, index, leaf], []) = (words, rest) else {
        return Err(AnswerFault::Shape);
    };
    if [limit, index, leaf].iter().all(|word| **word == [0; 32]) {
        return Ok(None);
    }
    let small = |word: &[u8; 32]| u32::try_from(U256::from_be_bytes(*word)).ok();
    let member = Member {
        index: small(index)
            .and_then(MemberIndex::new)
            .ok_or(AnswerFault::Shape)?,
        commitment,
        limit: small(limit).ok_or(AnswerFault::Shape)?,
    };
    let leaf = abi::element(U256::from_be_bytes(*leaf));
    match leaf == Some(member.leaf()) {
        true => Ok(Some(member)),
        false => Err(AnswerFault::Leaf),
    }
}

/// Decodes a number of leaves; `None` if it exceeds the tree's capacity.
pub(super) fn count(result: &Json) -> Option<u32> {
    let bytes = bytes(result)?;
    let number = U256::from_be_bytes(<[u8; 32]>::try_from(bytes).ok()?);
    u32::try_from(number)
        .ok()
        .filter(|count| *count <= CAPACITY)
}

fn words(bytes: &[u8]) -> Result<Vec<Fr>, AnswerFault> {
    let (words, rest) = bytes.as_chunks::<32>();
    if !rest.is_empty() {
        return Err(AnswerFault::Shape);
    }
    let element =
        |word: &[u8; 32]| abi::element(U256::from_be_bytes(*word)).ok_or(AnswerFault::Shape);
    words.iter().map(element).collect()
}

fn events(
    contract: &Contract,
    logs: &Json,
    from: u64,
    to: u64,
) -> Result<Vec<ContractEvent>, AnswerFault> {
    let logs = logs.as_array().ok_or(AnswerFault::Shape)?;
    let mut events: Vec<ContractEvent> = Vec::with_capacity(logs.len());
    let mut last = None;
    for log in logs {
        let (event, place) = event(contract, log)?;
        if !(from..=to).contains(&event.block.number) {
            return Err(AnswerFault::OtherLog);
        }
        if last.replace(place).is_some_and(|last| last >= place) {
            return Err(AnswerFault::Order);
        }
        if let Some(before) = events.last()
            && before.block.number == event.block.number
            && before.block.hash != event.block.hash
        {
            return Err(AnswerFault::Order);
        }
        events.push(event);
    }
    Ok(events)
}

/// Decodes a log: its event, and its position on the chain (block number and log index).
fn event(contract: &Contract, log: &Json) -> Result<(ContractEvent, (u64, u64)), AnswerFault> {
    let field = |name| log.get(name).ok_or(AnswerFault::Shape);
    let number = |name| field(name).and_then(|value| quantity(value).ok_or(AnswerFault::Shape));
    let address = bytes(field("address")?).ok_or(AnswerFault::Shape)?;
    let is_removed = log.get("removed").and_then(Json::as_bool) == Some(true);
    if address != contract.address.as_slice() || is_removed {
        return Err(AnswerFault::OtherLog);
    }
    let topics = field("topics")?.as_array().ok_or(AnswerFault::Shape)?;
    let topics: Option<Vec<B256>> = topics.iter().map(hash).collect();
    let data = bytes(field("data")?).ok_or(AnswerFault::Shape)?;
    let kind =
        abi::event(&topics.ok_or(AnswerFault::Shape)?, &data).ok_or(AnswerFault::OtherLog)?;
    let block = BlockRef {
        number: number("blockNumber")?,
        hash: hash(field("blockHash")?).ok_or(AnswerFault::Shape)?,
    };
    let transaction = number("transactionIndex")?;
    let place = (block.number, number("logIndex")?);
    let event = ContractEvent {
        block,
        transaction,
        kind,
    };
    Ok((event, place))
}
