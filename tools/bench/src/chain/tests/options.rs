use std::time::Duration;

use clap::Parser;

use super::ChainOptions;
use crate::chain::load::Load;

fn parse(line: &str) -> Result<ChainOptions, clap::Error> {
    ChainOptions::try_parse_from(
        ["chain", "--peer", "x"]
            .into_iter()
            .chain(line.split_whitespace()),
    )
}

#[test]
fn without_a_mode_every_size_has_its_turn_at_ten_per_second() {
    let gap = Duration::from_millis(100);
    let loads = parse("--sizes 16,99 --messages 7").unwrap().loads();
    assert_eq!(
        loads,
        [16, 99].map(|size| Load {
            size,
            count: 7,
            gap
        })
    );
    let sizes: Vec<_> = parse("")
        .unwrap()
        .loads()
        .iter()
        .map(|load| load.size)
        .collect();
    assert_eq!(sizes, [2 << 10, 25 << 10, 100 << 10, 150 << 10]);
}

#[test]
fn a_burst_has_no_gaps_and_a_rate_has_even_ones() {
    let burst = parse("--burst 8 --size 150000").unwrap().loads();
    assert_eq!(
        burst,
        [Load {
            size: 150_000,
            count: 8,
            gap: Duration::ZERO
        }]
    );
    let rate = parse("--rate 50 --seconds 4 --size 20").unwrap().loads();
    assert_eq!(
        rate,
        [Load {
            size: 20,
            count: 200,
            gap: Duration::from_millis(20)
        }]
    );
}

#[test]
fn half_a_mode_is_refused() {
    for line in [
        "--burst 8",
        "--rate 5 --size 99",
        "--seconds 3",
        "--size 15",
        "--nodes 1",
    ] {
        assert!(parse(line).is_err(), "{line}");
    }
    assert!(parse("--burst 8 --rate 5 --seconds 1 --size 99").is_err());
}
