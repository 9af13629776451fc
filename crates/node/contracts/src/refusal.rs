//! Reasons for which the contract reverts, decoded, with advice for each.

use alloy::primitives::{Address, B256, Bytes, U256};
use alloy::sol_types::{Revert, SolError, SolInterface};

use crate::abi::RlnMembership::RlnMembershipErrors as Errors;

#[cfg(test)]
#[path = "tests/refusal.rs"]
mod tests;

/// Reason why the contract reverted a transaction.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Refusal {
    /// The commitment is 0 or not a field element.
    #[error("{0} is not a commitment: it must be from 1 to Q - 1; is the byte order right?")]
    InvalidCommitment(U256),
    /// The commitment is already registered.
    #[error("this commitment is registered already; make another identity")]
    Duplicate,
    /// The member was slashed before, so its secret is public.
    #[error("member {0} was slashed and cannot return; make another identity")]
    Slashed(U256),
    /// The rate limit is outside the contract's bounds.
    #[error("the rate limit is not between the contract's least and greatest; ask for another")]
    RateLimit,
    /// The total rate limit of all members would be exceeded.
    #[error(
        "the total rate limit is used up; name expired memberships to erase, or ask for a lower limit"
    )]
    TotalRateLimit,
    /// All indices of the tree are taken.
    #[error("all 2^20 indices are taken; name expired memberships to erase")]
    Full,
    /// The commitment is not registered.
    #[error("there is no membership with commitment {0}; is this the right identity?")]
    NotAMember(U256),
    /// The membership cannot be extended outside its grace period.
    #[error("membership {0} is not in its grace period: it can be extended in that alone")]
    NotInGrace(U256),
    /// The sender does not hold the membership.
    #[error("the sender does not hold membership {0}; use the key that registered it")]
    NotTheHolder(U256),
    /// The membership is active and cannot be erased yet.
    #[error("membership {0} is active: it can be erased by its holder in grace, by anyone after")]
    StillActive(U256),
    /// The sender has no deposit to withdraw.
    #[error("there is no deposit to withdraw; erase the membership first")]
    NoDeposit,
    /// The membership was erased in this same block.
    #[error("the deposit can be withdrawn from block {0} on; try again")]
    WithdrawalTooEarly(U256),
    /// The sender has too few tokens.
    #[error("the sender has too few tokens for the deposit; get some and try again")]
    Balance,
    /// The contract's token allowance is too small for the deposit.
    #[error("the contract may not take the deposit; approve the price first")]
    Allowance,
    /// The secret is 0 or not a field element.
    #[error("this is not an identity secret: it must be from 1 to Q - 1; is the byte order right?")]
    InvalidSecret,
    /// The receiver of the reward is the zero address.
    #[error("the zero address cannot receive the deposit; name another receiver")]
    InvalidReceiver,
    /// `slash` without an earlier `commitSlash`.
    #[error("nothing was committed with this secret, receiver and sender; commit first")]
    NotCommitted(B256),
    /// `slash` in the same block as `commitSlash`.
    #[error("the commitment counts from block {0} on; try again")]
    SlashTooEarly(U256),
    /// `slash` too long after `commitSlash`.
    #[error("the commitment counted until block {0}; commit again")]
    CommitmentExpired(U256),
    /// The reward for slashing was already paid, or never existed.
    #[error("there is no reward for slashing {0}: it was paid out, or nobody slashed this member")]
    NoReward(U256),
    /// The slashed member's original active period has not ended yet.
    #[error("the reward is paid from {0} on, in seconds since 1970: the member's active period")]
    RewardTooEarly(U256),
    /// An upgrade to an address without code.
    #[error("there is no code at {0}; deploy the new implementation before announcing it")]
    NoCode(Address),
    /// An upgrade that was not announced.
    #[error("the upgrade to {0} was not announced, or its code has changed since; announce it")]
    UpgradeNotAnnounced(Address),
    /// An upgrade during the delay after its announcement.
    #[error("the upgrade can be made from {0} on, in seconds since 1970")]
    UpgradeTooEarly(U256),
    /// An upgrade too long after its announcement.
    #[error("the upgrade could be made until {0}, in seconds since 1970; announce it again")]
    UpgradeTooLate(U256),
    /// Limits or durations that contradict each other.
    #[error(
        "the terms contradict each other: least <= greatest <= total, durations above 0, the burned \
         share and the delay of upgrades within their bounds"
    )]
    InvalidTerms,
    /// Only the contract's owner may make this call.
    #[error("only the contract's owner may do this; use the owner's key")]
    NotTheOwner,
    /// A range of indices that is empty or too long.
    #[error("there are no leaves from {first} to {last}")]
    Range {
        /// The first index of the range.
        first: U256,
        /// The last index of the range.
        last: U256,
    },
    /// A reason unknown to this program.
    #[error("for a reason unknown to this program (revert data {0})")]
    Unknown(Bytes),
}

impl Refusal {
    /// Decodes the data that a reverted call returned.
    #[must_use]
    pub fn decode(data: &Bytes) -> Self {
        if let Ok(revert) = Revert::abi_decode(data) {
            return Self::from_reason(&revert.reason)
                .unwrap_or_else(|| Self::Unknown(data.clone()));
        }
        match Errors::abi_decode(data) {
            Ok(error) => error.into(),
            Err(_) => Self::Unknown(data.clone()),
        }
    }

    /// Decodes a textual reason from the production contract or a library; `None` if it is unknown.
    fn from_reason(reason: &str) -> Option<Self> {
        Some(match reason {
            "Duplicate idCommitment: membership already exists" => Self::Duplicate,
            "Membership set is full" | "LazyIMT: tree is full" => Self::Full,
            "Insufficient deposit balance" => Self::NoDeposit,
            "ERC20: transfer amount exceeds balance" => Self::Balance,
            "ERC20: insufficient allowance" => Self::Allowance,
            "Ownable: caller is not the owner" => Self::NotTheOwner,
            _ => return None,
        })
    }
}

impl From<Errors> for Refusal {
    fn from(error: Errors) -> Self {
        match error {
            Errors::InvalidIdCommitment(e) => Self::InvalidCommitment(e.idCommitment),
            Errors::InvalidPaginationQuery(e) => Self::Range {
                first: e.startIndex,
                last: e.endIndex,
            },
            Errors::InvalidMembershipRateLimit(_) => Self::RateLimit,
            Errors::CannotExceedMaxTotalRateLimit(_) => Self::TotalRateLimit,
            Errors::CannotExtendNonGracePeriodMembership(e) => Self::NotInGrace(e.idCommitment),
            Errors::NonHolderCannotExtend(e) => Self::NotTheHolder(e.idCommitment),
            Errors::CannotEraseActiveMembership(e) => Self::StillActive(e.idCommitment),
            Errors::NonHolderCannotEraseGracePeriodMembership(e) => {
                Self::NotTheHolder(e.idCommitment)
            }
            Errors::MembershipDoesNotExist(e) => Self::NotAMember(e.idCommitment),
            Errors::MembershipSlashedBefore(e) => Self::Slashed(e.idCommitment),
            Errors::InvalidTerms(_) => Self::InvalidTerms,
            Errors::WithdrawalTooEarly(e) => Self::WithdrawalTooEarly(e.firstBlock),
            Errors::InvalidSecret(_) => Self::InvalidSecret,
            Errors::InvalidReceiver(_) => Self::InvalidReceiver,
            Errors::SlashNotCommitted(e) => Self::NotCommitted(e.commitment),
            Errors::SlashTooEarly(e) => Self::SlashTooEarly(e.firstBlock),
            Errors::NoReward(e) => Self::NoReward(e.idCommitment),
            Errors::RewardTooEarly(e) => Self::RewardTooEarly(e.payableFrom),
            Errors::NoCode(e) => Self::NoCode(e.implementation),
            Errors::UpgradeNotAnnounced(e) => Self::UpgradeNotAnnounced(e.implementation),
            Errors::UpgradeTooEarly(e) => Self::UpgradeTooEarly(e.notBefore),
            Errors::UpgradeTooLate(e) => Self::UpgradeTooLate(e.notAfter),
            Errors::SlashCommitmentExpired(e) => Self::CommitmentExpired(e.lastBlock),
        }
    }
}
