use std::time::Duration;

use super::Load;

fn counts(count: u32, gap_ms: u64, rounds: u32) -> Vec<u32> {
    let load = Load {
        size: 16,
        count,
        gap: Duration::from_millis(gap_ms),
    };
    load.rounds(rounds).map(|round| round.count).collect()
}

#[test]
fn rounds_share_the_messages_evenly() {
    assert_eq!(counts(100, 1, 4), [25; 4]);
    assert_eq!(counts(10, 1, 4), [3, 3, 2, 2]);
    assert_eq!(counts(2, 1, 4), [1, 1]);
    assert_eq!(counts(0, 1, 4), [0]);
}

#[test]
fn a_burst_is_not_cut() {
    assert_eq!(counts(8, 0, 4), [8]);
}
