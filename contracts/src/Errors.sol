// SPDX-License-Identifier: MIT OR Apache-2.0
pragma solidity 0.8.24;

// Errors of the contract in use; names, arguments and meaning are kept.

/// The commitment is 0, or not below the field's modulus.
error InvalidIdCommitment(uint256 idCommitment);

/// The range of indices is empty, or ends beyond the last member.
error InvalidPaginationQuery(uint256 startIndex, uint256 endIndex);

/// The rate limit is below the least or above the greatest that one membership may have.
error InvalidMembershipRateLimit();

/// All memberships together would have more than the total rate limit.
error CannotExceedMaxTotalRateLimit();

/// A membership can be extended in its grace period only.
error CannotExtendNonGracePeriodMembership(uint256 idCommitment);

/// Only the holder extends a membership.
error NonHolderCannotExtend(uint256 idCommitment);

/// A membership in its active period cannot be erased.
error CannotEraseActiveMembership(uint256 idCommitment);

/// In the grace period only the holder erases a membership.
error NonHolderCannotEraseGracePeriodMembership(uint256 idCommitment);

/// There is no membership with this commitment.
error MembershipDoesNotExist(uint256 idCommitment);

// Errors of what this contract adds.

/// The member was slashed: its secret is public, so the commitment is refused for ever.
error MembershipSlashedBefore(uint256 idCommitment);

/// The limits or durations contradict each other.
error InvalidTerms();

/// A deposit can be withdrawn one block after the erasure that freed it.
error WithdrawalTooEarly(uint256 firstBlock);

/// The secret is 0, or not below the field's modulus.
error InvalidSecret();

/// The reward cannot go to the zero address.
error InvalidReceiver();

/// `commitSlash` was not called with this hash by this sender, or the hash was used.
error SlashNotCommitted(bytes32 commitment);

/// The commitment is too young.
error SlashTooEarly(uint256 firstBlock);

/// The commitment is too old; commit again.
error SlashCommitmentExpired(uint256 lastBlock);

/// There is no reward for slashing this member, or it was paid out.
error NoReward(uint256 idCommitment);

/// The reward is paid when the membership's active period would have ended.
error RewardTooEarly(uint256 payableFrom);

/// There is no code at this address.
error NoCode(address implementation);

/// The owner has not announced this upgrade, or the code there is another now.
error UpgradeNotAnnounced(address implementation);

/// The delay after the announcement is not over.
error UpgradeTooEarly(uint256 notBefore);

/// The announced upgrade was not made in time; announce it again.
error UpgradeTooLate(uint256 notAfter);
