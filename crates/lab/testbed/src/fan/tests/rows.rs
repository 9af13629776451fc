use super::*;

const CASE: FanCase = FanCase {
    mbit_per_s: 38,
    one_way_ms: 100,
    connections: 2,
    size_bytes: 500_000,
    idle_ms: 5_000,
};

fn time(begun_us: u64, done_us: u64) -> FanTime {
    FanTime { begun_us, done_us }
}

#[test]
fn what_was_written_is_read() {
    let times = [
        vec![time(100_001, 230_000), time(100_002, 240_000)],
        vec![time(1, 2), time(3, 4)],
        vec![time(5, 6), time(7, 8)],
    ];
    let text = format!("# a comment\n{HEADER}\n{}", FanRow::lines(&CASE, &times));
    assert_eq!(parse(&text).unwrap(), [(CASE, times)]);
}

#[test]
fn a_line_that_is_wrong_is_named() {
    let error = parse("38,100,2,500000,5000,tepid,0,1,2\n").unwrap_err();
    assert!(
        matches!(error, FanRowError::Columns { line: 1, .. }),
        "{error}"
    );
    let error = parse("38,100,2,500000,5000,cold,1,1,2\n").unwrap_err();
    assert_eq!(
        error,
        FanRowError::Order {
            line: 1,
            connection: 1
        }
    );
}
