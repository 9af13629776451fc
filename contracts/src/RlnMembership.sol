// SPDX-License-Identifier: MIT OR Apache-2.0
pragma solidity 0.8.24;

import { IERC20 } from "@openzeppelin/contracts/token/ERC20/IERC20.sol";

import { DelayedUpgrade } from "./DelayedUpgrade.sol";
import { InvalidIdCommitment, InvalidTerms, MembershipSlashedBefore } from "./Errors.sol";
import { IPriceCalculator } from "./IPriceCalculator.sol";
import { Slashing } from "./Slashing.sol";

/// @title Members of an RLN network: who may publish how many messages per epoch.
/// @notice Compatible with the membership contract of the Waku networks (WakuRlnV2), plus slashing.
contract RlnMembership is DelayedUpgrade, Slashing {
    /// @notice The block of `initialize`: no event of this contract is older.
    uint32 public deployedBlockNumber;

    /// @param slashBurnBps The share of a slashed member's deposit that nobody gets, in basis points.
    /// @param upgradeDelay Seconds between the announcement of an upgrade and the upgrade.
    constructor(uint16 slashBurnBps, uint32 upgradeDelay) Slashing(slashBurnBps) DelayedUpgrade(upgradeDelay) {
        _disableInitializers();
    }

    /// @notice Sets the terms; called once, by the proxy's constructor.
    /// @param _priceCalculator What a membership costs.
    /// @param _maxTotalRateLimit Messages per epoch of all memberships together.
    /// @param _minMembershipRateLimit Least messages per epoch of one membership.
    /// @param _maxMembershipRateLimit Most messages per epoch of one membership.
    /// @param _activeDuration Seconds that a membership is active.
    /// @param _gracePeriod Seconds of grace after that; may be 0.
    function initialize(
        address _priceCalculator,
        uint32 _maxTotalRateLimit,
        uint32 _minMembershipRateLimit,
        uint32 _maxMembershipRateLimit,
        uint32 _activeDuration,
        uint32 _gracePeriod
    )
        external
        initializer
    {
        __Ownable_init();
        __UUPSUpgradeable_init();
        __ReentrancyGuard_init();
        __MembershipTree_init();
        __Memberships_init(
            IPriceCalculator(_priceCalculator),
            _maxTotalRateLimit,
            _minMembershipRateLimit,
            _maxMembershipRateLimit,
            _activeDuration,
            _gracePeriod
        );
        deployedBlockNumber = uint32(block.number);
    }

    /// @notice Whether a commitment may be registered at all: from 1 to Q - 1.
    function isValidIdCommitment(uint256 idCommitment) public pure returns (bool) {
        return 0 < idCommitment && idCommitment < Q;
    }

    /// @notice Whether there is a membership with this commitment whose leaf is in the tree.
    function isInMembershipSet(uint256 idCommitment) public view returns (bool) {
        (,, uint256 rateCommitment) = getMembershipInfo(idCommitment);
        return rateCommitment != 0;
    }

    /// @notice Rate limit, index and leaf of a membership; all 0 when it does not exist.
    function getMembershipInfo(uint256 idCommitment)
        public
        view
        returns (uint32 rateLimit, uint32 index, uint256 rateCommitment)
    {
        Record storage r = _records[idCommitment];
        if (r.state != State.Held) return (0, 0, 0);
        return (r.rateLimit, r.index, _leaf(r.index));
    }

    /// @notice Makes the sender the holder of a new membership. It has to have approved the deposit.
    /// @param idCommitment Poseidon hash of the identity secret.
    /// @param rateLimit Messages per epoch.
    /// @param idCommitmentsToErase Memberships to erase (lazily) before, to make room for this one.
    function register(
        uint256 idCommitment,
        uint32 rateLimit,
        uint256[] calldata idCommitmentsToErase
    )
        external
        nonReentrant
    {
        if (!isValidIdCommitment(idCommitment)) revert InvalidIdCommitment(idCommitment);
        Record memory old = _records[idCommitment];
        require(old.state != State.Held, "Duplicate idCommitment: membership already exists");
        if (old.state == State.Slashed) revert MembershipSlashedBefore(idCommitment);

        _eraseAll(idCommitmentsToErase, false);
        (uint32 index, bool reused) = _takeIndex();
        (IERC20 token, uint256 deposit) = _begin(idCommitment, rateLimit, index);
        // The order of events is that of the contract in use: a client of it takes the third log of the
        // receipt, after the token's Approval and Transfer. No call back can come between them.
        _collect(token, deposit);
        emit MembershipRegistered(idCommitment, rateLimit, index);
        // One commitment, one leaf: otherwise slashing it would leave the other one in the tree.
        if (old.state == State.Erased && old.index != index && _hasLeaf(idCommitment, old)) {
            _clearLeaf(old.index);
        }
        _setLeaf(idCommitment, rateLimit, index, reused);
        _storeRoot();
    }

    /// @notice Makes memberships in their grace period active again; for their holder.
    function extendMemberships(uint256[] calldata idCommitments) external {
        for (uint256 i = 0; i < idCommitments.length; i++) {
            _extend(idCommitments[i]);
        }
    }

    /// @notice Erases expired memberships, and the sender's own in grace. Their leaves stay in the
    /// tree, and proofs made with them hold, until their indices are taken again.
    function eraseMemberships(uint256[] calldata idCommitments) external nonReentrant {
        _eraseAll(idCommitments, false);
    }

    /// @notice The same; with `eraseFromMembershipSet` the leaves become 0 at once.
    function eraseMemberships(
        uint256[] calldata idCommitments,
        bool eraseFromMembershipSet
    )
        external
        nonReentrant
    {
        _eraseAll(idCommitments, eraseFromMembershipSet);
    }

    /// @notice Changes the price of memberships registered from now on.
    function setPriceCalculator(address _priceCalculator) external onlyOwner {
        priceCalculator = IPriceCalculator(_priceCalculator);
    }

    /// @notice Changes the total rate limit; existing memberships are not touched.
    function setMaxTotalRateLimit(uint32 _maxTotalRateLimit) external onlyOwner {
        if (_maxTotalRateLimit < maxMembershipRateLimit) revert InvalidTerms();
        maxTotalRateLimit = _maxTotalRateLimit;
    }

    /// @notice Changes the greatest limit of a new membership.
    function setMaxMembershipRateLimit(uint32 _maxMembershipRateLimit) external onlyOwner {
        if (_maxMembershipRateLimit < minMembershipRateLimit) revert InvalidTerms();
        maxMembershipRateLimit = _maxMembershipRateLimit;
    }

    /// @notice Changes the least limit of a new membership.
    function setMinMembershipRateLimit(uint32 _minMembershipRateLimit) external onlyOwner {
        if (_minMembershipRateLimit == 0 || _minMembershipRateLimit > maxMembershipRateLimit) revert InvalidTerms();
        minMembershipRateLimit = _minMembershipRateLimit;
    }

    /// @notice Changes how long new memberships are active, in seconds.
    function setActiveDuration(uint32 _activeDurationForNewMembership) external onlyOwner {
        if (_activeDurationForNewMembership == 0) revert InvalidTerms();
        activeDurationForNewMemberships = _activeDurationForNewMembership;
    }

    /// @notice Changes the grace period of new memberships, in seconds.
    function setGracePeriodDuration(uint32 _gracePeriodDurationForNewMembership) external onlyOwner {
        gracePeriodDurationForNewMemberships = _gracePeriodDurationForNewMembership;
    }

    function _eraseAll(uint256[] calldata idCommitments, bool clear) private {
        for (uint256 i = 0; i < idCommitments.length; i++) {
            uint32 index = _erase(idCommitments[i]);
            _freeIndex(index);
            if (clear) _clearLeaf(index);
        }
        if (clear && idCommitments.length > 0) _storeRoot();
    }
}
