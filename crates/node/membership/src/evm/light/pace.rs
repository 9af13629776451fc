//! Schedule of polls. Requests cost money, and remote peers can trigger them.

use std::time::Duration;

/// Maximum number of doublings of the time to the next poll, after requested polls without news. At the
/// default throttle, a message still waits longer than that for its root: see docs/use/membership.md.
const MAX_DOUBLINGS: u32 = 2;

/// State of the schedule of polls.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Pace {
    poll: Duration,
    throttle: Duration,
    /// Consecutive requested polls that brought no news, up to [`MAX_DOUBLINGS`].
    in_vain: u32,
}

impl Pace {
    /// Creates a schedule: a poll every `poll`, and on request `throttle` after the last.
    pub(super) fn new(poll: Duration, throttle: Duration) -> Self {
        Self {
            poll,
            throttle,
            in_vain: 0,
        }
    }

    /// Returns the time from the last poll to the next one. A peer that sends messages with invented roots
    /// triggers polls without news, which therefore become rarer; a root that really existed brings news.
    pub(super) fn due(&self, is_wanted: bool) -> Duration {
        match is_wanted {
            true => self.poll.min(self.throttle * (1 << self.in_vain)),
            false => self.poll,
        }
    }

    /// Records whether a poll was requested and whether it brought news.
    pub(super) fn looked(&mut self, was_wanted: bool, is_news: bool) {
        match (is_news, was_wanted) {
            (true, _) => self.in_vain = 0,
            (false, true) => self.in_vain = MAX_DOUBLINGS.min(self.in_vain + 1),
            (false, false) => {}
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const S: fn(u64) -> Duration = Duration::from_secs;

    #[test]
    fn demands_in_vain_are_heard_less_often() {
        let mut pace = Pace::new(S(30), S(2));
        let mut due = Vec::new();
        for _ in 0..4 {
            due.push(pace.due(true));
            pace.looked(true, false);
        }
        assert_eq!(due, [S(2), S(4), S(8), S(8)]);
        pace.looked(false, false);
        assert_eq!(pace.due(true), S(8), "nobody asked");
        pace.looked(true, true);
        assert_eq!(pace.due(true), S(2));
        assert_eq!(pace.due(false), S(30));
    }

    #[test]
    fn a_demand_never_waits_for_longer_than_a_look_without_one() {
        let mut pace = Pace::new(S(3), S(2));
        pace.looked(true, false);
        assert_eq!(pace.due(true), S(3));
    }
}
