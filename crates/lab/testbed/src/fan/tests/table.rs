use super::*;

fn times(last_us: u64) -> FanTimes {
    let time = |begun_us, done_us| FanTime { begun_us, done_us };
    let message = || vec![time(100_000, 200_000), time(110_000, last_us)];
    [message(), message(), message()]
}

#[test]
fn errors_are_those_beyond_a_share_and_a_time() {
    let (measured, close, far) = (times(400_000), times(410_000), times(500_000));
    let none = errors([(&measured, &close)]);
    assert_eq!((none.within, none.of, none.largest), (9, 9, 0.0));
    let some = errors([(&measured, &far)]);
    // The median of two is the upper one, which is the last.
    assert_eq!((some.within, some.of, some.largest), (3, 9, 0.25));
    assert!((some.mean_of_connections - 0.125).abs() < 1e-9);
}

#[test]
fn the_table_marks_what_is_off() {
    let case = FanCase {
        mbit_per_s: 38,
        one_way_ms: 100,
        connections: 2,
        size_bytes: 500_000,
        idle_ms: 5_000,
    };
    let text = table(&[(case, times(400_000), times(500_000))]);
    let line = text.lines().nth(2).unwrap();
    let expected = "| 38 | 100 ms | 2 | 500 KB | 100.0 / 100.0 | 400.0 / 500.0* |";
    assert!(line.starts_with(expected), "{line}");
}
