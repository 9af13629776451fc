use undertone_rln::Fr;

use super::*;
use crate::registry::FoundMember;
use undertone_membership::MemberIndex;

const DEADLINE: u64 = 100;

fn absent(as_of_ns: Option<u64>) -> Observation {
    Observation {
        found: None,
        as_of_ns,
    }
}

#[test]
fn absence_counts_only_from_a_reading_after_the_window() {
    use MembershipStatus::{Erased, Failed, Pending};
    use Milestone::{Gone, Missed, Seen, Submitted};
    let rows = [
        (Submitted, None, 99, Submitted, Pending),
        (Submitted, None, 100, Missed, Failed),
        // The caller's clock is past the window, what was read is not.
        (Submitted, Some(99), 1_000, Submitted, Pending),
        (Submitted, Some(100), 1_000, Missed, Failed),
        (Missed, None, 1, Missed, Failed),
        (Seen, None, 1, Gone, Erased),
        (Gone, None, 1, Gone, Erased),
    ];
    for (before, as_of, now, after, status) in rows {
        let judged = before.judge(&absent(as_of), DEADLINE, now);
        assert_eq!(judged, (after, status, None), "{before:?} {as_of:?} {now}");
    }
}

#[test]
fn presence_counts_whatever_was_recorded() {
    let member = Member {
        index: MemberIndex::new(3).unwrap(),
        commitment: Fr::from(1),
        limit: 5,
    };
    let lifecycles = [
        (Lifecycle::Active, MembershipStatus::Active),
        (Lifecycle::GracePeriod, MembershipStatus::GracePeriod),
        (Lifecycle::Expired, MembershipStatus::Expired),
        (
            Lifecycle::ErasedAwaitsWithdrawal,
            MembershipStatus::ErasedAwaitsWithdrawal,
        ),
    ];
    for (lifecycle, status) in lifecycles {
        let observation = Observation {
            found: Some(FoundMember { member, lifecycle }),
            as_of_ns: None,
        };
        for before in [Milestone::Submitted, Milestone::Missed, Milestone::Gone] {
            let judged = before.judge(&observation, DEADLINE, 1_000);
            assert_eq!(judged, (Milestone::Seen, status, Some(member)));
        }
    }
}

#[test]
fn only_what_was_seen_needs_the_registry() {
    let known = [
        (Milestone::Submitted, Some(MembershipStatus::Pending)),
        (Milestone::Missed, Some(MembershipStatus::Failed)),
        (Milestone::Gone, Some(MembershipStatus::Erased)),
        (Milestone::Seen, None),
    ];
    for (milestone, status) in known {
        assert_eq!(milestone.unreachable(), status);
    }
}
