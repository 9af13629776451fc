// SPDX-License-Identifier: MIT OR Apache-2.0
pragma solidity 0.8.24;

import { ReentrancyGuardUpgradeable } from "@openzeppelin/contracts-upgradeable/security/ReentrancyGuardUpgradeable.sol";
import { IERC20 } from "@openzeppelin/contracts/token/ERC20/IERC20.sol";
import { SafeERC20 } from "@openzeppelin/contracts/token/ERC20/utils/SafeERC20.sol";
import { PoseidonT2 } from "poseidon-solidity/PoseidonT2.sol";

import {
    InvalidReceiver,
    InvalidSecret,
    MembershipDoesNotExist,
    MembershipSlashedBefore,
    SlashCommitmentExpired,
    SlashNotCommitted,
    SlashTooEarly
} from "./Errors.sol";
import { MembershipTree } from "./MembershipTree.sol";
import { Memberships } from "./Memberships.sol";

/// @title Removal of a member by whoever knows its secret, for the member's deposit.
/// @notice A member that publishes more than its limit gives its secret away. Two transactions are
/// needed, so that nobody can copy the secret out of the second one and take the reward: whoever
/// learns it there has not committed in a block before.
abstract contract Slashing is ReentrancyGuardUpgradeable, MembershipTree, Memberships {
    using SafeERC20 for IERC20;

    /// @notice Blocks between a commitment and the first block in which it counts.
    uint256 public constant SLASH_DELAY_BLOCKS = 1;

    /// @notice Blocks between a commitment and the last block in which it counts. A member that
    /// commits to its own secret, to be first if it is found out, has to do so again all the time.
    uint256 public constant SLASH_WINDOW_BLOCKS = 256;

    /// @notice The block of a sender's commitment; 0 when there is none or it was used. Kept for
    /// each sender, so that repeating someone's hash does not make it younger.
    mapping(address sender => mapping(bytes32 commitment => uint256 blockNumber)) public slashCommitments;

    uint256[50] private __gap;

    /// @notice A member was removed; `receiver` got `reward` of its deposit.
    event MembershipSlashed(
        uint256 idCommitment, uint32 membershipRateLimit, uint32 index, address receiver, uint256 reward
    );

    /// @notice Whether a commitment was slashed, and so cannot be registered again.
    function isSlashed(uint256 idCommitment) external view returns (bool) {
        return _records[idCommitment].state == State.Slashed;
    }

    /// @notice Announces a call of `slash` without telling whom it is about.
    /// @param commitment keccak256(abi.encode(secret, receiver, sender))
    function commitSlash(bytes32 commitment) external {
        slashCommitments[msg.sender][commitment] = block.number;
    }

    /// @notice Removes the member with this secret and pays what is here of its deposit to
    /// `receiver`. Its leaf becomes 0 at once, and its commitment can never be registered again.
    /// @param secret The identity secret, whose Poseidon hash is the member's commitment.
    /// @param receiver Who gets the deposit.
    function slash(uint256 secret, address receiver) external nonReentrant {
        _useCommitment(keccak256(abi.encode(secret, receiver, msg.sender)));
        if (secret == 0 || secret >= Q) revert InvalidSecret();
        if (receiver == address(0)) revert InvalidReceiver();

        uint256 idCommitment = PoseidonT2.hash([secret]);
        State state = _records[idCommitment].state;
        if (state == State.Unknown) revert MembershipDoesNotExist(idCommitment);
        if (state == State.Slashed) revert MembershipSlashedBefore(idCommitment);

        (Record memory before, uint256 reward) = _forfeit(idCommitment);
        if (state == State.Held) {
            _freeIndex(before.index);
            emit MembershipErased(idCommitment, before.rateLimit, before.index);
        }
        if (_hasLeaf(idCommitment, before)) {
            _clearLeaf(before.index);
            _storeRoot();
        }
        emit MembershipSlashed(idCommitment, before.rateLimit, before.index, receiver, reward);
        if (reward > 0) IERC20(before.token).safeTransfer(receiver, reward);
    }

    /// @dev Whether the leaf of a membership, erased or not, is in the tree.
    function _hasLeaf(uint256 idCommitment, Record memory record) internal view returns (bool) {
        return _leaf(record.index) == _rateCommitment(idCommitment, record.rateLimit);
    }

    function _useCommitment(bytes32 commitment) private {
        uint256 committedAt = slashCommitments[msg.sender][commitment];
        if (committedAt == 0) revert SlashNotCommitted(commitment);
        uint256 firstBlock = committedAt + SLASH_DELAY_BLOCKS;
        if (block.number < firstBlock) revert SlashTooEarly(firstBlock);
        uint256 lastBlock = committedAt + SLASH_WINDOW_BLOCKS;
        if (block.number > lastBlock) revert SlashCommitmentExpired(lastBlock);
        delete slashCommitments[msg.sender][commitment];
    }
}
