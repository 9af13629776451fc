//! ABI of the contracts: functions, events and errors, listed by hand.
//!
//! Two tests check this list: one compares it with the compiled artifacts, the other with the
//! selectors and topics of the production contract (`WakuRlnV2`).

// The macro generates items without docs; the contract's sources document them.
#![allow(missing_docs, clippy::too_many_arguments)]

use alloy::sol;

sol! {
    #[derive(Debug, PartialEq, Eq)]
    interface RlnMembership {
        // Errors of the production contract (`WakuRlnV2`).
        error InvalidIdCommitment(uint256 idCommitment);
        error InvalidPaginationQuery(uint256 startIndex, uint256 endIndex);
        error InvalidMembershipRateLimit();
        error CannotExceedMaxTotalRateLimit();
        error CannotExtendNonGracePeriodMembership(uint256 idCommitment);
        error NonHolderCannotExtend(uint256 idCommitment);
        error CannotEraseActiveMembership(uint256 idCommitment);
        error NonHolderCannotEraseGracePeriodMembership(uint256 idCommitment);
        error MembershipDoesNotExist(uint256 idCommitment);
        // Errors of this project's contract.
        error MembershipSlashedBefore(uint256 idCommitment);
        error InvalidTerms();
        error WithdrawalTooEarly(uint256 firstBlock);
        error InvalidSecret();
        error InvalidReceiver();
        error SlashNotCommitted(bytes32 commitment);
        error SlashTooEarly(uint256 firstBlock);
        error SlashCommitmentExpired(uint256 lastBlock);
        error NoReward(uint256 idCommitment);
        error RewardTooEarly(uint256 payableFrom);
        error NoCode(address implementation);
        error UpgradeNotAnnounced(address implementation);
        error UpgradeTooEarly(uint256 notBefore);
        error UpgradeTooLate(uint256 notAfter);

        // Events of the production contract.
        event MembershipRegistered(uint256 idCommitment, uint256 membershipRateLimit, uint32 index);
        event MembershipExpired(uint256 idCommitment, uint32 membershipRateLimit, uint32 index);
        event MembershipErased(uint256 idCommitment, uint32 membershipRateLimit, uint32 index);
        event MembershipExtended(
            uint256 idCommitment,
            uint32 membershipRateLimit,
            uint32 index,
            uint256 newGracePeriodStartTimestamp
        );
        event RootStored(uint256 newRoot);
        // Events of this project's contract.
        event LeafCleared(uint32 index);
        event MembershipSlashed(
            uint256 idCommitment,
            uint32 membershipRateLimit,
            uint32 index,
            address receiver,
            uint256 burned,
            uint256 reward,
            uint256 payableFrom
        );
        event RewardPaid(uint256 idCommitment, address receiver, uint256 reward);
        event UpgradeAnnounced(
            address implementation,
            bytes32 codeHash,
            uint256 notBefore,
            uint256 notAfter
        );
        event UpgradeCancelled(address implementation);

        // Functions of the production contract.
        function initialize(
            address priceCalculator,
            uint32 maxTotalRateLimit,
            uint32 minMembershipRateLimit,
            uint32 maxMembershipRateLimit,
            uint32 activeDuration,
            uint32 gracePeriod
        ) external;
        function register(
            uint256 idCommitment,
            uint32 rateLimit,
            uint256[] idCommitmentsToErase
        ) external;
        function extendMemberships(uint256[] idCommitments) external;
        function eraseMemberships(uint256[] idCommitments) external;
        function eraseMemberships(uint256[] idCommitments, bool eraseFromMembershipSet) external;
        function withdraw(address token) external;

        function root() external view returns (uint256);
        function getRecentRoots() external view returns (uint256[5] ordered);
        function getRootAt(uint8 position) external view returns (uint256);
        function getMerkleProof(uint40 index) external view returns (uint256[20] proof);
        function getRateCommitmentsInRangeBoundsInclusive(
            uint32 startIndex,
            uint32 endIndex
        ) external view returns (uint256[] leaves);
        function nextFreeIndex() external view returns (uint32);
        function isInMembershipSet(uint256 idCommitment) external view returns (bool);
        function getMembershipInfo(
            uint256 idCommitment
        ) external view returns (uint32 rateLimit, uint32 index, uint256 rateCommitment);
        function memberships(uint256 idCommitment) external view returns (
            uint256 depositAmount,
            uint32 activeDuration,
            uint256 gracePeriodStartTimestamp,
            uint32 gracePeriodDuration,
            uint32 rateLimit,
            uint32 index,
            address holder,
            address token
        );
        function indicesOfLazilyErasedMemberships(uint256 position) external view returns (uint32);
        function depositsToWithdraw(
            address holder,
            address token
        ) external view returns (uint256 balance);
        function isValidIdCommitment(uint256 idCommitment) external pure returns (bool);
        function isValidMembershipRateLimit(uint32 rateLimit) external view returns (bool);
        function isInGracePeriod(uint256 idCommitment) external view returns (bool);
        function isExpired(uint256 idCommitment) external view returns (bool);
        function membershipExpirationTimestamp(
            uint256 idCommitment
        ) external view returns (uint256);
        function maxTotalRateLimit() external view returns (uint32);
        function maxMembershipRateLimit() external view returns (uint32);
        function minMembershipRateLimit() external view returns (uint32);
        function currentTotalRateLimit() external view returns (uint256);
        function activeDurationForNewMemberships() external view returns (uint32);
        function gracePeriodDurationForNewMemberships() external view returns (uint32);
        function deployedBlockNumber() external view returns (uint32);
        function priceCalculator() external view returns (address);
        function merkleTree() external view returns (uint40 maxIndex, uint40 numberOfLeaves);
        function Q() external view returns (uint256);
        function MERKLE_TREE_DEPTH() external view returns (uint8);
        function MAX_MEMBERSHIP_SET_SIZE() external view returns (uint32);
        function HISTORY_SIZE() external view returns (uint8);

        function setPriceCalculator(address priceCalculator) external;
        function setMaxTotalRateLimit(uint32 maxTotalRateLimit) external;
        function setMaxMembershipRateLimit(uint32 maxMembershipRateLimit) external;
        function setMinMembershipRateLimit(uint32 minMembershipRateLimit) external;
        function setActiveDuration(uint32 activeDuration) external;
        function setGracePeriodDuration(uint32 gracePeriodDuration) external;

        // Functions of the libraries: ownership and upgrades.
        function owner() external view returns (address);
        function transferOwnership(address newOwner) external;
        function renounceOwnership() external;
        function proxiableUUID() external view returns (bytes32);
        function upgradeTo(address newImplementation) external;
        function upgradeToAndCall(address newImplementation, bytes data) external payable;

        // Functions of this project's contract.
        function commitSlash(bytes32 commitment) external;
        function slash(uint256 secret, address receiver) external;
        function isSlashed(uint256 idCommitment) external view returns (bool);
        function slashCommitments(
            address sender,
            bytes32 commitment
        ) external view returns (uint256 blockNumber);
        function claimReward(uint256 idCommitment) external;
        function slashReward(uint256 idCommitment) external view returns (
            address receiver,
            address token,
            uint256 amount,
            uint256 payableFrom
        );
        function burnedDeposits(address token) external view returns (uint256 amount);
        function SLASH_BURN_BPS() external view returns (uint16);
        function MIN_SLASH_BURN_BPS() external view returns (uint16);
        function MAX_SLASH_BURN_BPS() external view returns (uint16);
        function announceUpgrade(address implementation) external;
        function cancelUpgrade() external;
        function announcedImplementation() external view returns (address);
        function announcedCodeHash() external view returns (bytes32);
        function upgradeNotBefore() external view returns (uint64);
        function UPGRADE_DELAY() external view returns (uint32);
        function MIN_UPGRADE_DELAY() external view returns (uint32);
        function MAX_UPGRADE_DELAY() external view returns (uint32);
        function UPGRADE_WINDOW() external view returns (uint32);
        function SLASH_DELAY_BLOCKS() external view returns (uint256);
        function SLASH_WINDOW_BLOCKS() external view returns (uint256);
    }

    interface PriceCalculator {
        function calculate(uint32 rateLimit) external view returns (address token, uint256 price);
    }

    interface TestToken {
        function mint(address to, uint256 amount) external;
        function approve(address spender, uint256 amount) external returns (bool);
        function allowance(address owner, address spender) external view returns (uint256);
        function balanceOf(address account) external view returns (uint256);
        function symbol() external view returns (string);
        function decimals() external view returns (uint8);
    }
}
