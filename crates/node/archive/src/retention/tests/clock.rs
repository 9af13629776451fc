use super::*;

const S: i64 = 1_000_000_000;
const DAY: i64 = 86_400 * S;
const NOW: i64 = 1_700_000_000 * S;

/// Clock of a running node, and both of the machine's clocks.
struct Machine {
    clock: RetentionClock,
    wall_ns: i64,
    monotonic: Duration,
}

impl Machine {
    /// Starts a node at [`NOW`].
    fn started(newest_ns: Option<i64>) -> Self {
        let mut machine = Self {
            clock: RetentionClock::new(newest_ns),
            wall_ns: NOW,
            monotonic: Duration::from_secs(77),
        };
        machine.look();
        machine
    }

    fn look(&mut self) -> i64 {
        self.clock.time_ns(self.wall_ns, self.monotonic)
    }

    /// Takes a reading every 30 s for this many seconds, and returns the last result.
    fn after(&mut self, seconds: i64) -> i64 {
        let mut time_ns = 0;
        for _ in 0..seconds / 30 {
            self.wall_ns += 30 * S;
            self.monotonic += Duration::from_secs(30);
            time_ns = self.look();
        }
        time_ns
    }
}

#[test]
fn the_wall_clock_is_followed() {
    let mut machine = Machine::started(Some(NOW - S));
    assert_eq!(machine.after(DAY / S), NOW + DAY);
    assert!(machine.clock.held_back().is_zero());
}

#[test]
fn a_step_of_three_days_that_is_undone_makes_nothing_older() {
    let mut machine = Machine::started(Some(NOW));
    machine.after(60);
    machine.wall_ns += 3 * DAY;
    assert_eq!(machine.look(), NOW + 60 * S);
    assert_eq!(machine.after(570), NOW + 630 * S);
    assert_eq!(machine.clock.held_back(), Duration::from_secs(3 * 86_400));
    machine.wall_ns -= 3 * DAY;
    assert_eq!(machine.look(), NOW + 630 * S);
    assert!(machine.clock.held_back().is_zero());
}

#[test]
fn a_step_that_holds_for_ten_minutes_is_believed() {
    let mut machine = Machine::started(Some(NOW));
    machine.wall_ns += 3 * DAY;
    machine.look();
    assert_eq!(machine.after(570), NOW + 570 * S);
    assert_eq!(machine.after(30), NOW + 3 * DAY + 600 * S);
}

/// Regardless of how long the last reading took, e.g. because the database did not answer.
#[test]
fn a_step_is_not_believed_at_the_first_look() {
    let mut machine = Machine::started(Some(NOW));
    machine.wall_ns += 3 * DAY + 7_200 * S;
    machine.monotonic += Duration::from_secs(7_200);
    assert_eq!(machine.look(), NOW + 7_200 * S);
    assert_eq!(machine.after(600), NOW + 3 * DAY + 7_800 * S);
}

#[test]
fn each_further_step_has_to_hold_anew() {
    let mut machine = Machine::started(Some(NOW));
    machine.wall_ns += 3 * DAY;
    machine.look();
    machine.after(540);
    machine.wall_ns -= DAY;
    machine.look();
    assert_eq!(machine.after(570), NOW + 1_110 * S);
    assert_eq!(machine.after(30), NOW + 2 * DAY + 1_140 * S);
}

#[test]
fn a_step_back_is_followed_at_once() {
    let mut machine = Machine::started(Some(NOW));
    machine.wall_ns -= 3 * DAY;
    assert_eq!(machine.look(), NOW - 3 * DAY);
}

#[test]
fn a_start_believes_the_newest_message_until_the_wall_clock_has_held() {
    let mut machine = Machine::started(Some(NOW - 30 * DAY));
    assert_eq!(machine.look(), NOW - 30 * DAY);
    assert_eq!(machine.after(570), NOW - 30 * DAY + 570 * S);
    assert_eq!(machine.after(30), NOW + 600 * S);
}

#[test]
fn a_start_with_an_empty_archive_or_messages_of_the_future_believes_the_wall_clock() {
    for newest_ns in [None, Some(NOW + DAY), Some(NOW)] {
        assert_eq!(Machine::started(newest_ns).look(), NOW);
    }
}

#[test]
fn a_slow_correction_of_the_rate_is_no_step() {
    let mut machine = Machine::started(Some(NOW));
    for _ in 0..1_000 {
        machine.wall_ns += S / 10;
        machine.after(30);
    }
    assert!(machine.clock.held_back().is_zero());
    assert_eq!(machine.look(), NOW + 30_100 * S);
}

#[test]
fn readings_at_the_ends_of_time_do_not_overflow() {
    let mut clock = RetentionClock::new(Some(i64::MIN));
    for (wall_ns, monotonic) in [
        (i64::MAX, Duration::MAX),
        (i64::MIN, Duration::ZERO),
        (i64::MAX, Duration::MAX),
    ] {
        clock.time_ns(wall_ns, monotonic);
        clock.held_back();
    }
}
