//! The part of the ABI of the Waku networks' membership contract that is used here.

use alloy::primitives::{B256, U256};
use alloy::sol;
use alloy::sol_types::SolEvent;
use undertone_rln::{Fr, fr_from_le, fr_to_le};

use super::chain::EventKind;
use crate::registry::MemberIndex;

sol! {
    /// A membership was registered. The limit is a `uint256` here, and a `uint32` in
    /// the other events.
    event MembershipRegistered(uint256 idCommitment, uint256 membershipRateLimit, uint32 index);
    /// A membership was erased; its leaf may remain.
    event MembershipErased(uint256 idCommitment, uint32 membershipRateLimit, uint32 index);
    /// The contract stored a new root.
    event RootStored(uint256 newRoot);
    /// A leaf was set to 0.
    event LeafCleared(uint32 index);

    /// The present root of the tree.
    function root() external view returns (uint256);
    /// The recent roots, newest first, then 0 for unused places.
    function getRecentRoots() external view returns (uint256[5] memory);
    /// The siblings on the path from a leaf to the root.
    function getMerkleProof(uint40 index) external view returns (uint256[20] memory);
    /// Number of leaves that were ever written.
    function nextFreeIndex() external view returns (uint32);
    /// Limit, index and leaf of a membership; 0 where there is none.
    function getMembershipInfo(uint256 idCommitment)
        external view returns (uint32 rateLimit, uint32 index, uint256 rateCommitment);
    /// Whether the tree has a leaf of this commitment.
    function isInMembershipSet(uint256 idCommitment) external view returns (bool);
    /// The leaves in a range of indices.
    function getRateCommitmentsInRangeBoundsInclusive(uint32 startIndex, uint32 endIndex)
        external view returns (uint256[] memory);
    /// The block in which the contract was deployed.
    function deployedBlockNumber() external view returns (uint32);
}

/// The events that change the tree.
pub(super) const CHANGES: [B256; 3] = [
    MembershipRegistered::SIGNATURE_HASH,
    MembershipErased::SIGNATURE_HASH,
    LeafCleared::SIGNATURE_HASH,
];

/// The event that reports the root.
pub(super) const ROOT: B256 = RootStored::SIGNATURE_HASH;

/// Converts a number from the chain to a field element; `None` if it is not less than the field's order.
pub(super) fn element(number: U256) -> Option<Fr> {
    fr_from_le(&number.to_le_bytes()).ok()
}

/// Converts a field element to a number for the chain.
pub(super) fn number(element: &Fr) -> U256 {
    U256::from_le_bytes(fr_to_le(element))
}

/// Decodes an event from its topics and data; `None` unless it is exactly one of the events above.
pub(super) fn event(topics: &[B256], data: &[u8]) -> Option<EventKind> {
    let [topic] = topics else { return None };
    match *topic {
        MembershipRegistered::SIGNATURE_HASH => {
            let event = MembershipRegistered::abi_decode_data_validate(data).ok()?;
            Some(EventKind::Registered {
                commitment: element(event.0)?,
                limit: u32::try_from(event.1).ok()?,
                index: MemberIndex::new(event.2)?,
            })
        }
        MembershipErased::SIGNATURE_HASH => {
            let event = MembershipErased::abi_decode_data_validate(data).ok()?;
            Some(EventKind::Erased {
                index: MemberIndex::new(event.2)?,
            })
        }
        LeafCleared::SIGNATURE_HASH => {
            let event = LeafCleared::abi_decode_data_validate(data).ok()?;
            Some(EventKind::Cleared {
                index: MemberIndex::new(event.0)?,
            })
        }
        RootStored::SIGNATURE_HASH => {
            let event = RootStored::abi_decode_data_validate(data).ok()?;
            Some(EventKind::Root(element(event.0)?))
        }
        _ => None,
    }
}

#[cfg(test)]
#[path = "tests/abi.rs"]
mod tests;
