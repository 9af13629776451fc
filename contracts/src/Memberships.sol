// SPDX-License-Identifier: MIT OR Apache-2.0
pragma solidity 0.8.24;

import { IERC20 } from "@openzeppelin/contracts/token/ERC20/IERC20.sol";
import { SafeERC20 } from "@openzeppelin/contracts/token/ERC20/utils/SafeERC20.sol";
import { SafeCast } from "@openzeppelin/contracts/utils/math/SafeCast.sol";

import {
    CannotEraseActiveMembership,
    CannotExceedMaxTotalRateLimit,
    CannotExtendNonGracePeriodMembership,
    InvalidMembershipRateLimit,
    InvalidTerms,
    MembershipDoesNotExist,
    NonHolderCannotEraseGracePeriodMembership,
    NonHolderCannotExtend,
    NoReward,
    RewardTooEarly,
    WithdrawalTooEarly
} from "./Errors.sol";
import { IPriceCalculator } from "./IPriceCalculator.sol";

/// @title Who is a member, on what terms, and whose the deposits are. Knows nothing of the tree.
abstract contract Memberships {
    using SafeERC20 for IERC20;
    using SafeCast for uint256;

    /// @dev Basis points in one.
    uint256 internal constant BPS = 10_000;

    /// @dev What a commitment is. Active, in grace and expired are all `Held`: time alone tells.
    enum State {
        Unknown,
        Held,
        Erased,
        Slashed
    }

    /// @dev A membership in three slots. An erased one is kept, so that it can still be slashed. Of a
    /// slashed one, `holder` and `deposit` are the reward and whose it is, and `gracePeriodStart` says
    /// from when on.
    struct Record {
        address holder;
        uint32 rateLimit;
        uint32 index;
        uint32 activeDuration;
        address token;
        uint32 gracePeriodDuration;
        uint56 gracePeriodStart;
        State state;
        uint128 deposit;
        // Of the holder's `Credit` when this was erased: unchanged while the deposit is there.
        uint64 withdrawals;
    }

    /// @dev What a holder may withdraw in one token.
    struct Credit {
        uint128 amount;
        uint64 lastErasureBlock;
        uint64 withdrawals;
    }

    /// @notice What a new membership costs.
    IPriceCalculator public priceCalculator;

    /// @notice The most messages per epoch of all memberships together.
    uint32 public maxTotalRateLimit;

    /// @notice The most messages per epoch of one membership.
    uint32 public maxMembershipRateLimit;

    /// @notice The least messages per epoch of one membership.
    uint32 public minMembershipRateLimit;

    /// @notice Seconds that a new membership is active.
    uint32 public activeDurationForNewMemberships;

    /// @notice Seconds of grace after that.
    uint32 public gracePeriodDurationForNewMemberships;

    /// @notice Messages per epoch of all memberships together.
    uint256 public currentTotalRateLimit;

    mapping(uint256 idCommitment => Record record) internal _records;

    mapping(address holder => mapping(address token => Credit credit)) internal _credits;

    /// @notice Shares of slashed members' deposits, in the token's smallest unit. They are part of this
    /// contract's balance, and nothing pays them out.
    mapping(address token => uint256 amount) public burnedDeposits;

    uint256[50] private __gap;

    /// @notice A membership began. (The limit is wider here than below, as in the contract in use.)
    event MembershipRegistered(uint256 idCommitment, uint256 membershipRateLimit, uint32 index);

    /// @notice A membership that is being erased had expired.
    event MembershipExpired(uint256 idCommitment, uint32 membershipRateLimit, uint32 index);

    /// @notice A membership ended. Its leaf may stay in the tree; see `LeafCleared`.
    event MembershipErased(uint256 idCommitment, uint32 membershipRateLimit, uint32 index);

    /// @notice A membership in grace is active again.
    event MembershipExtended(
        uint256 idCommitment, uint32 membershipRateLimit, uint32 index, uint256 newGracePeriodStartTimestamp
    );

    // solhint-disable-next-line func-name-mixedcase
    function __Memberships_init(
        IPriceCalculator priceCalculator_,
        uint32 maxTotalRateLimit_,
        uint32 minMembershipRateLimit_,
        uint32 maxMembershipRateLimit_,
        uint32 activeDuration_,
        uint32 gracePeriod_
    )
        internal
    {
        if (
            minMembershipRateLimit_ == 0 || minMembershipRateLimit_ > maxMembershipRateLimit_
                || maxMembershipRateLimit_ > maxTotalRateLimit_ || activeDuration_ == 0
        ) revert InvalidTerms();
        priceCalculator = priceCalculator_;
        maxTotalRateLimit = maxTotalRateLimit_;
        minMembershipRateLimit = minMembershipRateLimit_;
        maxMembershipRateLimit = maxMembershipRateLimit_;
        activeDurationForNewMemberships = activeDuration_;
        gracePeriodDurationForNewMemberships = gracePeriod_;
    }

    /// @notice The terms of a membership; all 0 when it does not exist or was erased.
    function memberships(uint256 idCommitment)
        external
        view
        returns (
            uint256 depositAmount,
            uint32 activeDuration,
            uint256 gracePeriodStartTimestamp,
            uint32 gracePeriodDuration,
            uint32 rateLimit,
            uint32 index,
            address holder,
            address token
        )
    {
        Record memory r = _held(idCommitment);
        return (
            r.deposit, r.activeDuration, r.gracePeriodStart, r.gracePeriodDuration, r.rateLimit, r.index, r.holder, r.token
        );
    }

    /// @notice What a holder may withdraw, in the token's smallest unit.
    function depositsToWithdraw(address holder, address token) external view returns (uint256 balance) {
        return _credits[holder][token].amount;
    }

    /// @notice Whether one membership may have this rate limit.
    function isValidMembershipRateLimit(uint32 rateLimit) public view returns (bool) {
        return minMembershipRateLimit <= rateLimit && rateLimit <= maxMembershipRateLimit;
    }

    /// @notice Whether a membership is in its grace period.
    function isInGracePeriod(uint256 idCommitment) external view returns (bool) {
        return _inGrace(_held(idCommitment));
    }

    /// @notice Whether a membership's grace period is over; true as well for one that does not exist.
    function isExpired(uint256 idCommitment) external view returns (bool) {
        return _expirationOf(_held(idCommitment)) <= block.timestamp;
    }

    /// @notice When the grace period ends, in seconds since 1970; 0 for one that does not exist.
    function membershipExpirationTimestamp(uint256 idCommitment) external view returns (uint256) {
        return _expirationOf(_held(idCommitment));
    }

    /// @notice Pays out what the erasure of the sender's memberships has freed.
    function withdraw(address token) external {
        require(token != address(0), "ETH is not allowed");
        Credit storage credit = _credits[msg.sender][token];
        uint256 amount = credit.amount;
        require(amount > 0, "Insufficient deposit balance");
        // Whoever sees its secret revealed by `slash` cannot get away with the deposit before it.
        if (block.number <= credit.lastErasureBlock) revert WithdrawalTooEarly(credit.lastErasureBlock + 1);
        credit.amount = 0;
        credit.withdrawals += 1;
        IERC20(token).safeTransfer(msg.sender, amount);
    }

    /// @dev Begins a membership at `index`; `_collect` the deposit when all else is done.
    function _begin(
        uint256 idCommitment,
        uint32 rateLimit,
        uint32 index
    )
        internal
        returns (IERC20 token, uint256 deposit)
    {
        if (!isValidMembershipRateLimit(rateLimit)) revert InvalidMembershipRateLimit();
        currentTotalRateLimit += rateLimit;
        if (currentTotalRateLimit > maxTotalRateLimit) revert CannotExceedMaxTotalRateLimit();

        address tokenAddress;
        (tokenAddress, deposit) = priceCalculator.calculate(rateLimit);
        _records[idCommitment] = Record({
            holder: msg.sender,
            rateLimit: rateLimit,
            index: index,
            activeDuration: activeDurationForNewMemberships,
            token: tokenAddress,
            gracePeriodDuration: gracePeriodDurationForNewMemberships,
            gracePeriodStart: (block.timestamp + activeDurationForNewMemberships).toUint56(),
            state: State.Held,
            deposit: deposit.toUint128(),
            withdrawals: 0
        });
        return (IERC20(tokenAddress), deposit);
    }

    function _collect(IERC20 token, uint256 deposit) internal {
        token.safeTransferFrom(msg.sender, address(this), deposit);
    }

    /// @dev The new active period follows the whole grace period, however early it is asked for.
    function _extend(uint256 idCommitment) internal {
        Record storage r = _records[idCommitment];
        if (!_inGrace(_held(idCommitment))) revert CannotExtendNonGracePeriodMembership(idCommitment);
        if (msg.sender != r.holder) revert NonHolderCannotExtend(idCommitment);
        r.gracePeriodStart += uint56(r.gracePeriodDuration) + r.activeDuration;
        emit MembershipExtended(idCommitment, r.rateLimit, r.index, r.gracePeriodStart);
    }

    /// @dev Ends a membership that has expired, or is in grace and the sender's.
    /// @return index The index that it had.
    function _erase(uint256 idCommitment) internal returns (uint32 index) {
        Record storage stored = _records[idCommitment];
        Record memory r = stored;
        if (r.state != State.Held) revert MembershipDoesNotExist(idCommitment);
        bool expired = _expirationOf(r) <= block.timestamp;
        if (!expired) {
            if (!_inGrace(r)) revert CannotEraseActiveMembership(idCommitment);
            if (msg.sender != r.holder) revert NonHolderCannotEraseGracePeriodMembership(idCommitment);
        }

        Credit storage credit = _credits[r.holder][r.token];
        credit.amount += r.deposit;
        credit.lastErasureBlock = block.number.toUint64();
        stored.state = State.Erased;
        stored.withdrawals = credit.withdrawals;
        currentTotalRateLimit -= r.rateLimit;

        if (expired) emit MembershipExpired(idCommitment, r.rateLimit, r.index);
        emit MembershipErased(idCommitment, r.rateLimit, r.index);
        return r.index;
    }

    /// @dev Takes the deposit of a member whose secret is known, wherever it is by now: a share stays
    /// here for ever, the rest is the receiver's reward.
    /// @return before The record as it was; what is kept of it is the reward.
    /// @return burned The share, rounded up.
    /// @return reward The rest; both are 0 when the deposit was paid out before.
    function _forfeit(
        uint256 idCommitment,
        address receiver,
        uint256 burnedBps
    )
        internal
        returns (Record memory before, uint256 burned, uint256 reward)
    {
        Record storage stored = _records[idCommitment];
        before = stored;
        uint256 deposit = before.deposit;
        if (before.state == State.Held) {
            currentTotalRateLimit -= before.rateLimit;
        } else {
            Credit storage credit = _credits[before.holder][before.token];
            // Another membership's deposit is not touched when this one's has been paid out.
            if (credit.withdrawals == before.withdrawals) credit.amount -= before.deposit;
            else deposit = 0;
        }
        burned = (deposit * burnedBps + BPS - 1) / BPS;
        reward = deposit - burned;
        burnedDeposits[before.token] += burned;
        stored.state = State.Slashed;
        stored.holder = receiver;
        stored.deposit = uint128(reward);
    }

    /// @dev Pays the reward for slashing a member. Not before the member could have left with its
    /// deposit: otherwise slashing oneself would be a way to get it back sooner.
    function _payReward(uint256 idCommitment) internal returns (address receiver, uint256 amount) {
        Record storage r = _records[idCommitment];
        (receiver, amount) = (r.holder, r.deposit);
        if (r.state != State.Slashed || amount == 0) revert NoReward(idCommitment);
        if (block.timestamp < r.gracePeriodStart) revert RewardTooEarly(r.gracePeriodStart);
        r.deposit = 0;
        IERC20(r.token).safeTransfer(receiver, amount);
    }

    /// @dev The record of a membership that exists; all 0 otherwise.
    function _held(uint256 idCommitment) internal view returns (Record memory r) {
        Record memory stored = _records[idCommitment];
        if (stored.state == State.Held) return stored;
    }

    function _inGrace(Record memory r) private view returns (bool) {
        return r.gracePeriodStart <= block.timestamp && block.timestamp < _expirationOf(r);
    }

    function _expirationOf(Record memory r) private pure returns (uint256) {
        return uint256(r.gracePeriodStart) + r.gracePeriodDuration;
    }
}
