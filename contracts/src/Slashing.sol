// SPDX-License-Identifier: MIT OR Apache-2.0
pragma solidity 0.8.24;

import { ReentrancyGuardUpgradeable } from "@openzeppelin/contracts-upgradeable/security/ReentrancyGuardUpgradeable.sol";
import { PoseidonT2 } from "poseidon-solidity/PoseidonT2.sol";

import {
    InvalidReceiver,
    InvalidSecret,
    InvalidTerms,
    MembershipDoesNotExist,
    MembershipSlashedBefore,
    SlashCommitmentExpired,
    SlashNotCommitted,
    SlashTooEarly
} from "./Errors.sol";
import { MembershipTree } from "./MembershipTree.sol";
import { Memberships } from "./Memberships.sol";

/// @title Removal of a member by whoever knows its secret, for a share of the member's deposit.
/// @notice A member that publishes more than its limit gives its secret away. Two transactions are
/// needed, so that nobody can copy the secret out of the second one and take the reward: whoever
/// learns it there has not committed in a block before. A third one pays the reward.
abstract contract Slashing is ReentrancyGuardUpgradeable, MembershipTree, Memberships {
    /// @notice Blocks between a commitment and the first block in which it counts.
    uint256 public constant SLASH_DELAY_BLOCKS = 1;

    /// @notice Blocks between a commitment and the last block in which it counts. A member that
    /// commits to its own secret, to be first if it is found out, has to do so again all the time.
    uint256 public constant SLASH_WINDOW_BLOCKS = 256;

    /// @notice The least share of a deposit that is burned, in basis points: with none, a member that
    /// is quick slashes itself for nothing.
    uint16 public constant MIN_SLASH_BURN_BPS = 1_000;

    /// @notice The greatest: with all, nobody pays for the gas of slashing.
    uint16 public constant MAX_SLASH_BURN_BPS = 9_000;

    /// @notice The share of a slashed member's deposit that nobody gets, in basis points.
    uint16 public immutable SLASH_BURN_BPS;

    /// @notice The block of a sender's commitment; 0 when there is none or it was used. Kept for
    /// each sender, so that repeating someone's hash does not make it younger.
    mapping(address sender => mapping(bytes32 commitment => uint256 blockNumber)) public slashCommitments;

    uint256[50] private __gap;

    /// @notice A member was removed; of its deposit `burned` is nobody's, and `reward` can be claimed
    /// for `receiver` from the second `payableFrom` on.
    event MembershipSlashed(
        uint256 idCommitment,
        uint32 membershipRateLimit,
        uint32 index,
        address receiver,
        uint256 burned,
        uint256 reward,
        uint256 payableFrom
    );

    /// @notice A reward was paid.
    event RewardPaid(uint256 idCommitment, address receiver, uint256 reward);

    constructor(uint16 slashBurnBps) {
        if (slashBurnBps < MIN_SLASH_BURN_BPS || slashBurnBps > MAX_SLASH_BURN_BPS) revert InvalidTerms();
        SLASH_BURN_BPS = slashBurnBps;
    }

    /// @notice Whether a commitment was slashed, and so cannot be registered again.
    function isSlashed(uint256 idCommitment) external view returns (bool) {
        return _records[idCommitment].state == State.Slashed;
    }

    /// @notice Announces a call of `slash` without telling whom it is about.
    /// @param commitment keccak256(abi.encode(secret, receiver, sender))
    function commitSlash(bytes32 commitment) external {
        slashCommitments[msg.sender][commitment] = block.number;
    }

    /// @notice Removes the member with this secret, and burns a share of what is here of its deposit;
    /// the rest is for `claimReward`. Its leaf becomes 0 at once, and its commitment can never be
    /// registered again. No token moves, so that none can keep a member from being removed.
    /// @param secret The identity secret, whose Poseidon hash is the member's commitment.
    /// @param receiver Who gets the reward.
    function slash(uint256 secret, address receiver) external nonReentrant {
        _useCommitment(keccak256(abi.encode(secret, receiver, msg.sender)));
        if (secret == 0 || secret >= Q) revert InvalidSecret();
        if (receiver == address(0)) revert InvalidReceiver();

        uint256 idCommitment = PoseidonT2.hash([secret]);
        State state = _records[idCommitment].state;
        if (state == State.Unknown) revert MembershipDoesNotExist(idCommitment);
        if (state == State.Slashed) revert MembershipSlashedBefore(idCommitment);

        (Record memory before, uint256 burned, uint256 reward) = _forfeit(idCommitment, receiver, SLASH_BURN_BPS);
        if (state == State.Held) {
            _freeIndex(before.index);
            emit MembershipErased(idCommitment, before.rateLimit, before.index);
        }
        if (_hasLeaf(idCommitment, before)) {
            _clearLeaf(before.index);
            _storeRoot();
        }
        emit MembershipSlashed(
            idCommitment, before.rateLimit, before.index, receiver, burned, reward, before.gracePeriodStart
        );
    }

    /// @notice Pays the reward for slashing a member to its receiver, whoever asks for it. Possible
    /// from the moment on at which the member's active period would have ended.
    function claimReward(uint256 idCommitment) external nonReentrant {
        (address receiver, uint256 reward) = _payReward(idCommitment);
        emit RewardPaid(idCommitment, receiver, reward);
    }

    /// @notice What can be claimed for slashing a member, for whom, and from when on; all 0 when there
    /// is nothing, or nothing any more.
    function slashReward(uint256 idCommitment)
        external
        view
        returns (address receiver, address token, uint256 amount, uint256 payableFrom)
    {
        Record memory r = _records[idCommitment];
        if (r.state != State.Slashed || r.deposit == 0) return (address(0), address(0), 0, 0);
        return (r.holder, r.token, r.deposit, r.gracePeriodStart);
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
