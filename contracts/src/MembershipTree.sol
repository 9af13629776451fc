// SPDX-License-Identifier: MIT OR Apache-2.0
pragma solidity 0.8.24;

import { LazyIMT, LazyIMTData } from "@zk-kit/lazy-imt.sol/LazyIMT.sol";
import { PoseidonT3 } from "poseidon-solidity/PoseidonT3.sol";

import { InvalidPaginationQuery } from "./Errors.sol";

/// @title The tree of rate commitments, its recent roots, and which index is free.
/// @notice A leaf is Poseidon(idCommitment, rateLimit), an empty leaf 0.
abstract contract MembershipTree {
    /// @notice The order of the BN254 scalar field.
    uint256 public constant Q =
        21_888_242_871_839_275_222_246_405_745_257_275_088_548_364_400_416_034_343_698_204_186_575_808_495_617;

    /// @notice Levels between a leaf and the root.
    uint8 public constant MERKLE_TREE_DEPTH = 20;

    /// @notice Number of leaves.
    uint32 public constant MAX_MEMBERSHIP_SET_SIZE = uint32(1) << MERKLE_TREE_DEPTH;

    /// @notice Number of roots that are remembered.
    uint8 public constant HISTORY_SIZE = 5;

    /// @notice The tree.
    LazyIMTData public merkleTree;

    /// @notice The first index that no membership has had yet.
    uint32 public nextFreeIndex;

    /// @dev The slot of `_recentRoots` that is written next.
    uint8 private _rootIndex;

    /// @dev A ring; 0 where no root was stored yet, as no root is 0.
    uint256[HISTORY_SIZE] private _recentRoots;

    /// @notice Indices of erased memberships. The last one is given away first.
    uint32[] public indicesOfLazilyErasedMemberships;

    uint256[50] private __gap;

    /// @notice The tree has a new root.
    event RootStored(uint256 newRoot);

    /// @notice The leaf at this index became 0. Registrations overwrite leaves without this event.
    event LeafCleared(uint32 index);

    // solhint-disable-next-line func-name-mixedcase
    function __MembershipTree_init() internal {
        LazyIMT.init(merkleTree, MERKLE_TREE_DEPTH);
        // The library's own bound would leave the last leaf out.
        merkleTree.maxIndex = MAX_MEMBERSHIP_SET_SIZE;
    }

    /// @notice The root of the tree as it is now.
    function root() public view returns (uint256) {
        return LazyIMT.root(merkleTree, MERKLE_TREE_DEPTH);
    }

    /// @notice The recent roots, newest first, then 0.
    function getRecentRoots() external view virtual returns (uint256[HISTORY_SIZE] memory ordered) {
        for (uint8 age = 0; age < HISTORY_SIZE; age++) {
            ordered[age] = _rootOfAge(age);
        }
    }

    /// @notice The recent root at a position; 0 is the newest.
    function getRootAt(uint8 position) external view virtual returns (uint256) {
        require(position < HISTORY_SIZE, "Out of range");
        require(_rootOfAge(0) != 0, "No roots yet");
        return _rootOfAge(position);
    }

    /// @notice The siblings on the way from a leaf to the root, the leaf's own first.
    function getMerkleProof(uint40 index) external view returns (uint256[MERKLE_TREE_DEPTH] memory proof) {
        uint256[] memory siblings = LazyIMT.merkleProofElements(merkleTree, index, MERKLE_TREE_DEPTH);
        for (uint8 level = 0; level < MERKLE_TREE_DEPTH; level++) {
            proof[level] = siblings[level];
        }
    }

    /// @notice The leaves from one index to another, both included.
    function getRateCommitmentsInRangeBoundsInclusive(
        uint32 startIndex,
        uint32 endIndex
    )
        external
        view
        returns (uint256[] memory leaves)
    {
        if (startIndex > endIndex || endIndex >= nextFreeIndex) {
            revert InvalidPaginationQuery(startIndex, endIndex);
        }
        leaves = new uint256[](endIndex - startIndex + 1);
        for (uint32 index = startIndex; index <= endIndex; index++) {
            leaves[index - startIndex] = _leaf(index);
        }
    }

    /// @dev The leaf at an index. Level 0 of the tree is stored under the indices themselves.
    function _leaf(uint32 index) internal view returns (uint256) {
        return merkleTree.elements[index];
    }

    /// @dev The index for a new membership. A freed one is taken even when the tree is full.
    function _takeIndex() internal returns (uint32 index, bool reused) {
        uint256 free = indicesOfLazilyErasedMemberships.length;
        if (free != 0) {
            index = indicesOfLazilyErasedMemberships[free - 1];
            indicesOfLazilyErasedMemberships.pop();
            return (index, true);
        }
        require(nextFreeIndex < MAX_MEMBERSHIP_SET_SIZE, "Membership set is full");
        return (nextFreeIndex, false);
    }

    /// @dev Gives an index back. The leaf stays until it is cleared or the index is taken again.
    function _freeIndex(uint32 index) internal {
        indicesOfLazilyErasedMemberships.push(index);
    }

    /// @dev Writes the leaf of a membership at an index from `_takeIndex`.
    function _setLeaf(uint256 idCommitment, uint32 rateLimit, uint32 index, bool reused) internal {
        uint256 leaf = _rateCommitment(idCommitment, rateLimit);
        if (reused) {
            LazyIMT.update(merkleTree, leaf, index);
        } else {
            LazyIMT.insert(merkleTree, leaf);
            nextFreeIndex += 1;
        }
    }

    function _clearLeaf(uint32 index) internal virtual {
        LazyIMT.update(merkleTree, 0, index);
        emit LeafCleared(index);
    }

    /// @dev Remembers the root after all changes of a call.
    function _storeRoot() internal virtual {
        uint256 newRoot = root();
        _recentRoots[_rootIndex] = newRoot;
        _rootIndex = (_rootIndex + 1) % HISTORY_SIZE;
        emit RootStored(newRoot);
    }

    function _rateCommitment(uint256 idCommitment, uint32 rateLimit) internal pure returns (uint256) {
        return PoseidonT3.hash([idCommitment, rateLimit]);
    }

    function _rootOfAge(uint8 age) private view returns (uint256) {
        return _recentRoots[(_rootIndex + HISTORY_SIZE - 1 - age) % HISTORY_SIZE];
    }
}
