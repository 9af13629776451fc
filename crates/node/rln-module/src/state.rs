//! What the module reports about memberships and budgets.

use std::fmt;

use undertone_rln::Epoch;

use super::registry::{Lifecycle, Observation};
use undertone_membership::Member;

#[cfg(test)]
#[path = "tests/state.rs"]
mod tests;

/// Status of a scope's membership. The registry's view takes precedence over the module's own records.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MembershipStatus {
    /// No membership is known for the scope, neither in this run nor in the store.
    Unknown,
    /// The registration was submitted, but is not in the registry yet.
    Pending,
    /// The registry was read after the confirmation window and did not contain the registration.
    Failed,
    /// The registry has the membership.
    Active,
    /// The membership can still be used, but ends soon.
    GracePeriod,
    /// The membership has expired.
    Expired,
    /// The membership was removed, and its deposit can be withdrawn.
    ErasedAwaitsWithdrawal,
    /// The registry had the membership, but no longer has it.
    Erased,
}

impl MembershipStatus {
    /// Whether proofs can be made with the membership.
    pub fn is_usable(self) -> bool {
        matches!(self, Self::Active | Self::GracePeriod)
    }

    /// Whether the membership prevents a new one for the scope.
    pub fn is_live(self) -> bool {
        self.is_usable() || self == Self::Pending
    }
}

impl fmt::Display for MembershipStatus {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Unknown => "unknown",
            Self::Pending => "pending",
            Self::Failed => "failed",
            Self::Active => "active",
            Self::GracePeriod => "in its grace period",
            Self::Expired => "expired",
            Self::ErasedAwaitsWithdrawal => "erased, with a deposit to withdraw",
            Self::Erased => "erased",
        })
    }
}

/// Public facts of a membership. Its credential stays inside the module.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ModuleMembership {
    /// Handle of the membership, see [`super::membership_hash`].
    pub membership_hash: String,
    /// Messages per epoch; the requested number until the registry has the membership.
    pub rate_limit: u32,
    /// Index of the leaf in the tree; `None` until the registry has the membership.
    pub leaf_index: Option<u32>,
}

/// Status and facts of a scope's membership.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MembershipReport {
    /// Status of the membership.
    pub status: MembershipStatus,
    /// Facts of the membership; `None` when the status is unknown.
    pub membership: Option<ModuleMembership>,
}

/// Budget of a scope in one epoch.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ScopeQuota {
    /// The present epoch.
    pub epoch: Epoch,
    /// Messages that the membership grants in an epoch.
    pub rate_limit: u32,
    /// Messages still unspent in this epoch.
    pub remaining: u32,
}

/// Progress of a membership as seen by the module. It survives a restart.
#[derive(Clone, Copy, Debug, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) enum Milestone {
    /// The registration was submitted, or is about to be.
    Submitted,
    /// The registry was read after the confirmation window without finding it.
    Missed,
    /// The registry has contained it.
    Seen,
    /// The registry contained it, and later did not.
    Gone,
}

impl Milestone {
    /// Computes the milestone after a reading of the registry. `deadline_ns` is the end of the confirmation
    /// window; `now_ns` is the time of a reading without a time of its own.
    pub(super) fn judge(
        self,
        observation: &Observation,
        deadline_ns: u64,
        now_ns: u64,
    ) -> (Self, MembershipStatus, Option<Member>) {
        if let Some(found) = &observation.found {
            let status = match found.lifecycle {
                Lifecycle::Active => MembershipStatus::Active,
                Lifecycle::GracePeriod => MembershipStatus::GracePeriod,
                Lifecycle::Expired => MembershipStatus::Expired,
                Lifecycle::ErasedAwaitsWithdrawal => MembershipStatus::ErasedAwaitsWithdrawal,
            };
            return (Self::Seen, status, Some(found.member));
        }
        let read_ns = observation.as_of_ns.unwrap_or(now_ns);
        let next = match self {
            Self::Seen | Self::Gone => Self::Gone,
            Self::Submitted if read_ns < deadline_ns => Self::Submitted,
            Self::Submitted | Self::Missed => Self::Missed,
        };
        (next, next.unread(), None)
    }

    /// Returns the status of a membership that the registry does not have.
    fn unread(self) -> MembershipStatus {
        match self {
            Self::Submitted => MembershipStatus::Pending,
            Self::Missed => MembershipStatus::Failed,
            Self::Seen | Self::Gone => MembershipStatus::Erased,
        }
    }

    /// Returns the status while the registry cannot be read; `None` if only the registry can tell.
    pub(super) fn unreachable(self) -> Option<MembershipStatus> {
        (self != Self::Seen).then(|| self.unread())
    }
}
