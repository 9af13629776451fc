//! The part of the membership contract's ABI that is read, as deployed by the Waku networks.

use alloy::primitives::{B256, U256};
use alloy::sol;
use alloy::sol_types::SolEvent;
use undertone_rln::{Fr, fr_from_le, fr_to_le};

use super::chain::EventKind;
use crate::registry::MemberIndex;

sol! {
    /// A membership began. The limit is a `uint256` here, and a `uint32` in the other events.
    event MembershipRegistered(uint256 idCommitment, uint256 membershipRateLimit, uint32 index);
    /// A membership ended.
    event MembershipErased(uint256 idCommitment, uint32 membershipRateLimit, uint32 index);
    /// The tree has a new root.
    event RootStored(uint256 newRoot);
    /// A leaf became 0.
    event LeafCleared(uint32 index);

    /// The root now.
    function root() external view returns (uint256);
    /// The newest roots, newest first, then 0.
    function getRecentRoots() external view returns (uint256[5] memory);
    /// The siblings from a leaf to the root.
    function getMerkleProof(uint40 index) external view returns (uint256[20] memory);
    /// Leaves that were ever written.
    function nextFreeIndex() external view returns (uint32);
    /// A membership's terms.
    function getMembershipInfo(uint256 idCommitment)
        external view returns (uint32 rateLimit, uint32 index, uint256 rateCommitment);
    /// Whether there is a leaf of this commitment.
    function isInMembershipSet(uint256 idCommitment) external view returns (bool);
    /// Leaves.
    function getRateCommitmentsInRangeBoundsInclusive(uint32 startIndex, uint32 endIndex)
        external view returns (uint256[] memory);
    /// The block of the deployment.
    function deployedBlockNumber() external view returns (uint32);
}

/// The events that change the tree.
pub(super) const CHANGES: [B256; 3] = [
    MembershipRegistered::SIGNATURE_HASH,
    MembershipErased::SIGNATURE_HASH,
    LeafCleared::SIGNATURE_HASH,
];

/// The event that tells the root.
pub(super) const ROOT: B256 = RootStored::SIGNATURE_HASH;

/// A number from the chain as a field element; `None` from the field's order on.
pub(super) fn element(number: U256) -> Option<Fr> {
    fr_from_le(&number.to_le_bytes()).ok()
}

/// A field element as a number of the chain.
pub(super) fn number(element: &Fr) -> U256 {
    U256::from_le_bytes(fr_to_le(element))
}

/// An event from its topics and data; `None` when they are not one of ours in every detail.
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
mod tests;
