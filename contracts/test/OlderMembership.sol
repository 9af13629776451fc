// SPDX-License-Identifier: MIT OR Apache-2.0
pragma solidity 0.8.24;

import { LazyIMT } from "@zk-kit/lazy-imt.sol/LazyIMT.sol";

import { RlnMembership } from "../src/RlnMembership.sol";

/// @title What those who follow a contract see of deployments from before there were recent roots.
/// @notice The contract in use is one of these. It keeps no recent roots, and reports neither a new
/// root nor a leaf that became 0. For tests only.
contract OlderMembership is RlnMembership {
    constructor(uint16 slashBurnBps, uint32 upgradeDelay) RlnMembership(slashBurnBps, upgradeDelay) { }

    /// @dev As a function that is not there: undone without a reason.
    function getRecentRoots() external pure override returns (uint256[HISTORY_SIZE] memory) {
        _missing();
    }

    /// @dev As `getRecentRoots`.
    function getRootAt(uint8) external pure override returns (uint256) {
        _missing();
    }

    function _clearLeaf(uint32 index) internal override {
        LazyIMT.update(merkleTree, 0, index);
    }

    function _storeRoot() internal pure override { }

    function _missing() private pure {
        // solhint-disable-next-line no-inline-assembly
        assembly {
            revert(0, 0)
        }
    }
}
