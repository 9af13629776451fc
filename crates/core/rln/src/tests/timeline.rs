//! Timelines with a window of two roots.

use proptest::prelude::*;

use super::*;

const S: u64 = 1_000_000_000;

fn root(number: u64) -> Fr {
    Fr::from(number)
}

/// Roots 1, 2, ... at 10 s, 20 s, ...
fn every_ten_seconds(count: u64) -> RootTimeline {
    let mut timeline = RootTimeline::new(2);
    for number in 1..=count {
        timeline.push(root(number), number);
        timeline.set_time(number, number * 10 * S);
    }
    timeline
}

const EXACT: RootTolerance = RootTolerance::new(0, 0);

const CURRENT: RootStanding = RootStanding::Accepted {
    replaced_for_ns: None,
};

fn replaced(age_s: u64) -> RootStanding {
    RootStanding::Accepted {
        replaced_for_ns: Some(age_s * S),
    }
}

#[test]
fn a_root_is_accepted_from_its_change_until_two_newer_ones_came() {
    let timeline = every_ten_seconds(4);
    let at = |at_s: u64| timeline.standing(&root(2), at_s * S, &EXACT);
    assert_eq!(at(19), RootStanding::Early { since_ns: 20 * S });
    assert_eq!(at(20), CURRENT);
    assert_eq!(at(30), CURRENT);
    assert_eq!(at(35), replaced(5));
    assert_eq!(at(40), replaced(10));
    assert_eq!(at(41), RootStanding::Expired { until_ns: 40 * S });
    let newest = timeline.standing(&root(4), 1000 * S, &EXACT);
    assert_eq!(newest, CURRENT);
    let other = timeline.standing(&root(9), 20 * S, &EXACT);
    assert_eq!(other, RootStanding::Unknown);
}

#[test]
fn clocks_and_views_may_differ_by_the_tolerance() {
    let timeline = every_ten_seconds(4);
    let tolerance = RootTolerance::new(3 * S, 5 * S);
    let at = |at_s: u64| timeline.standing(&root(2), at_s * S, &tolerance);
    assert_eq!(at(16), RootStanding::Early { since_ns: 20 * S });
    assert_eq!(at(17), CURRENT);
    assert_eq!(at(45), replaced(15));
    assert_eq!(at(46), RootStanding::Expired { until_ns: 40 * S });
}

#[test]
fn a_limit_on_the_age_ends_it_before_the_window_does() {
    let timeline = every_ten_seconds(3);
    let tolerance = EXACT.with_max_age_ns(Some(7 * S));
    let at = |at_s: u64| timeline.standing(&root(2), at_s * S, &tolerance);
    assert_eq!(at(37), replaced(7));
    assert_eq!(at(38), RootStanding::Expired { until_ns: 37 * S });
}

#[test]
fn a_root_that_came_again_is_judged_by_its_best_time() {
    let mut timeline = RootTimeline::new(1);
    for (moment, number) in [1, 2, 1, 3].into_iter().enumerate() {
        let moment = moment as u64 + 1;
        timeline.push(root(number), moment);
        timeline.set_time(moment, moment * 10 * S);
    }
    let at = |at_s: u64| timeline.standing(&root(1), at_s * S, &EXACT);
    assert_eq!(at(5), RootStanding::Early { since_ns: 10 * S });
    assert_eq!(at(15), CURRENT);
    assert_eq!(at(25), RootStanding::Expired { until_ns: 20 * S });
    assert_eq!(at(35), CURRENT);
    assert_eq!(at(45), RootStanding::Expired { until_ns: 40 * S });
}

#[test]
fn a_time_that_is_not_known_is_asked_for_only_where_it_decides() {
    let mut timeline = RootTimeline::new(2);
    for number in 1..=5 {
        timeline.push(root(number), 100 * number);
    }
    let undated = |timeline: &RootTimeline, number, at_s: u64| -> Vec<u64> {
        let open = timeline.undated(&root(number), at_s * S, &EXACT);
        open.into_iter().collect()
    };
    // Neither the time of the root's arrival nor that of its departure is known.
    assert_eq!(undated(&timeline, 2, 25), [200, 400]);
    assert_eq!(undated(&timeline, 9, 25), [0; 0]);
    // The newest roots are still in the window.
    assert_eq!(undated(&timeline, 5, 25), [500]);
    // Root 1 was there at 10 s and root 3 at 30 s: between them, root 2 came, and it left after 30 s.
    timeline.set_time(100, 10 * S);
    timeline.set_time(300, 30 * S);
    assert_eq!(undated(&timeline, 2, 25), [200]);
    assert_eq!(undated(&timeline, 2, 30), [200, 400]);
    assert_eq!(undated(&timeline, 2, 31), [400]);
    assert_eq!(undated(&timeline, 2, 9), [0; 0]);
    timeline.set_time(200, 20 * S);
    assert_eq!(undated(&timeline, 2, 25), [0; 0]);
    // With an age limit, the arrival of the next root matters.
    let limited = EXACT.with_max_age_ns(Some(5 * S));
    let open = timeline.undated(&root(3), 45 * S, &limited);
    assert_eq!(open.into_iter().collect::<Vec<_>>(), [400, 500]);
}

#[test]
fn a_time_that_cannot_be_known_counts_for_the_message() {
    let mut timeline = RootTimeline::new(1);
    for number in 1..=4 {
        timeline.push(root(number), number);
    }
    timeline.set_time(3, 30 * S);
    let at = |number, at_s: u64| timeline.standing(&root(number), at_s * S, &EXACT);
    assert_eq!(at(1, 1), CURRENT);
    // Root 2 has come before 30 s, so that root 1 has left before.
    assert_eq!(at(1, 31), RootStanding::Expired { until_ns: 30 * S });
    // Root 4 came at some time after 30 s.
    assert_eq!(at(4, 29), RootStanding::Early { since_ns: 30 * S });
    assert_eq!(at(4, 31), CURRENT);
    assert_eq!(at(3, 1000), CURRENT);
}

proptest! {
    /// The requested times give the same standing as all times.
    #[test]
    fn asked_times_are_enough(
        steps in prop::collection::vec((0_u64..3, 0_u64..4), 1..12),
        number in 0_usize..12,
        at in 0_u64..40,
        window in 1_usize..4,
        age in prop::option::of(0_u64..6),
        known in prop::collection::vec(any::<bool>(), 12),
    ) {
        let mut complete = RootTimeline::new(window);
        let mut partial = RootTimeline::new(window);
        let (mut moment, mut time) = (0, 0);
        let mut times = BTreeMap::new();
        for (index, (moments, number)) in steps.iter().enumerate() {
            moment += moments;
            time += moments * 3;
            for timeline in [&mut complete, &mut partial] {
                timeline.push(root(*number), moment);
            }
            times.insert(moment, time);
            complete.set_time(moment, time);
            if known[index] {
                partial.set_time(moment, time);
            }
        }
        let tolerance = RootTolerance::new(1, 2).with_max_age_ns(age);
        let root = root(steps[number % steps.len()].1);
        for moment in partial.undated(&root, at, &tolerance) {
            prop_assert!(!partial.times_ns.contains_key(&moment));
            partial.set_time(moment, times[&moment]);
        }
        prop_assert!(partial.undated(&root, at, &tolerance).is_empty());
        let kind = |standing: RootStanding| std::mem::discriminant(&standing);
        prop_assert_eq!(
            kind(partial.standing(&root, at, &tolerance)),
            kind(complete.standing(&root, at, &tolerance))
        );
    }
}
