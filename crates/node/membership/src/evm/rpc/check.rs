//! Validation of answers against the question.

use alloy::primitives::{B256, U256};
use undertone_rln::Fr;
use undertone_rln::tree::{CAPACITY, DEPTH};

use super::error::{AnswerFault, RpcError};
use super::json::{self, HexBytes, HexHash, Quantity};
use crate::evm::abi;
use crate::evm::chain::{
    Answer, Ask, BlockRef, Contract, ContractEvent, Head, RECENT_ROOTS, Recent,
};
use crate::registry::{Member, MemberIndex};

/// Fields of a block that are needed here.
#[derive(serde::Deserialize)]
#[serde(rename_all = "camelCase")]
struct Block {
    number: Quantity,
    hash: HexHash,
    parent_hash: HexHash,
    timestamp: Option<Quantity>,
}

/// Fields of a log that are needed here.
#[derive(serde::Deserialize)]
#[serde(rename_all = "camelCase")]
struct Log {
    address: HexBytes,
    topics: Vec<HexHash>,
    data: HexBytes,
    block_number: Quantity,
    block_hash: HexHash,
    transaction_index: Quantity,
    log_index: Quantity,
    removed: Option<bool>,
}

/// Reads and validates an endpoint's answer to `ask`, the request with number `id`.
pub(super) fn answer(
    contract: &Contract,
    ask: &Ask,
    id: u64,
    bytes: &[u8],
) -> Result<Answer, RpcError> {
    match read(contract, ask, id, bytes) {
        // The contract has a fallback but not this function, or the address has no code.
        Err(RpcError::NoContract { .. }) if ask.may_be_refused() => Ok(Answer::Refused),
        answer => answer,
    }
}

fn read(contract: &Contract, ask: &Ask, id: u64, bytes: &[u8]) -> Result<Answer, RpcError> {
    let called = || called(contract, id, bytes);
    let answer = match ask {
        Ask::Head => block(id, bytes).map(|block| Ok(Answer::Head(block.head()))),
        Ask::Header { number } => {
            let block = block(id, bytes)?.of(*number);
            Ok(block.map(|block| Answer::Header(block.head().block)))
        }
        Ask::Time { number } => Ok(block(id, bytes)?.of(*number).and_then(|block| {
            let unix_s = block.timestamp.ok_or(AnswerFault::Shape)?;
            Ok(Answer::Time(unix_s.0))
        })),
        Ask::Events { from, to, .. } => {
            let logs: Option<Vec<Log>> = json::result(id, bytes)?;
            let logs = logs.ok_or(AnswerFault::Shape);
            Ok(logs.and_then(|logs| events(contract, &logs, *from, *to).map(Answer::Events)))
        }
        Ask::Root { .. } | Ask::RootOf { .. } => called().map(|bytes| match words(&bytes)?[..] {
            [root] => Ok(Answer::Root(root)),
            _ => Err(AnswerFault::Shape),
        }),
        Ask::Count { .. } => called().map(|bytes| {
            let count = count(&bytes).ok_or(AnswerFault::Shape)?;
            Ok(Answer::Count(count))
        }),
        Ask::Leaves { first, last, .. } => {
            // ABI encoding of a dynamic array: offset, length, items.
            let wanted = (last - first) as usize + 1;
            called().map(|bytes| match bytes.len() == 32 * (wanted + 2) {
                true => words(&bytes[64..]).map(Answer::Leaves),
                false => Err(AnswerFault::Shape),
            })
        }
        Ask::Recent { .. } => called().map(|bytes| recent(&bytes).map(Answer::Recent)),
        Ask::Membership { commitment, .. } => {
            called().map(|bytes| membership(*commitment, &bytes).map(Answer::Membership))
        }
        Ask::Path { .. } => called().map(|bytes| {
            let siblings = <[Fr; DEPTH]>::try_from(words(&bytes)?);
            let siblings = siblings.map_err(|_| AnswerFault::Shape)?;
            Ok(Answer::Path(Box::new(siblings)))
        }),
    };
    answer?.map_err(|fault| RpcError::InvalidAnswer { fault })
}

/// Reads the result of a contract call; it is empty if there is no contract.
pub(super) fn called(contract: &Contract, id: u64, bytes: &[u8]) -> Result<Vec<u8>, RpcError> {
    match json::result(id, bytes)? {
        Some(HexBytes(bytes)) if bytes.is_empty() => Err(RpcError::NoContract {
            address: contract.address,
            chain_id: contract.chain_id,
        }),
        Some(HexBytes(bytes)) => Ok(bytes),
        None => Err(RpcError::InvalidAnswer {
            fault: AnswerFault::Shape,
        }),
    }
}

fn block(id: u64, bytes: &[u8]) -> Result<Block, RpcError> {
    json::result(id, bytes)?.ok_or(RpcError::InvalidAnswer {
        fault: AnswerFault::NoBlock,
    })
}

impl Block {
    fn head(&self) -> Head {
        Head {
            block: BlockRef {
                number: self.number.0,
                hash: self.hash.0,
            },
            parent: self.parent_hash.0,
        }
    }

    /// Returns the block if it is the one of this height.
    fn of(self, number: u64) -> Result<Self, AnswerFault> {
        match self.number.0 == number {
            true => Ok(self),
            false => Err(AnswerFault::NoBlock),
        }
    }
}

/// Decodes the recent roots: the contract sends the newest first, then 0 for unused places.
fn recent(bytes: &[u8]) -> Result<Recent, AnswerFault> {
    let mut roots = words(bytes)?;
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
fn membership(commitment: Fr, bytes: &[u8]) -> Result<Option<Member>, AnswerFault> {
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
fn count(bytes: &[u8]) -> Option<u32> {
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
    logs: &[Log],
    from: u64,
    to: u64,
) -> Result<Vec<ContractEvent>, AnswerFault> {
    let mut events: Vec<ContractEvent> = Vec::with_capacity(logs.len());
    let mut last = None;
    for log in logs {
        let event = event(contract, log)?;
        if !(from..=to).contains(&event.block.number) {
            return Err(AnswerFault::OtherLog);
        }
        let place = (event.block.number, log.log_index.0);
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

/// Decodes the event of a log.
fn event(contract: &Contract, log: &Log) -> Result<ContractEvent, AnswerFault> {
    if log.address.0 != contract.address.as_slice() || log.removed == Some(true) {
        return Err(AnswerFault::OtherLog);
    }
    let topics: Vec<B256> = log.topics.iter().map(|topic| topic.0).collect();
    let kind = abi::event(&topics, &log.data.0).ok_or(AnswerFault::OtherLog)?;
    Ok(ContractEvent {
        block: BlockRef {
            number: log.block_number.0,
            hash: log.block_hash.0,
        },
        transaction: log.transaction_index.0,
        kind,
    })
}
