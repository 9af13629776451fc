use undertone_sim::outcome::{FirstCopy, Message, trace_back};

use super::{ProfileFigures, RunTotals};

const MS: u64 = 1_000_000;

fn message(index: u32, published_ms: u64, warm_up: bool) -> Message {
    Message {
        index,
        publisher: 0,
        payload_bytes: 2000,
        published_ns: published_ms * MS,
        warm_up,
    }
}

fn first(message: u32, receiver: u32, from: u32, received_ms: u64) -> FirstCopy {
    FirstCopy {
        message,
        receiver,
        from,
        received_ns: received_ms * MS,
    }
}

#[test]
fn latencies_are_without_the_warm_up_and_totals_with_it() {
    // Two messages along a line of three nodes; the first one only warms up.
    let messages = [message(0, 0, true), message(1, 1000, false)];
    let firsts = vec![
        first(0, 1, 0, 500),
        first(0, 2, 1, 900),
        first(1, 1, 0, 1100),
        first(1, 2, 1, 1230),
    ];
    let totals = RunTotals {
        expected: 4,
        copies: 6,
        links: Some(3),
        idontwant: 2,
        ihave: 8,
        iwant: 1,
        graft: 3,
        prune: 6,
        mesh_mean: 1.5,
        mesh_max: 2,
    };
    let figures = ProfileFigures::new(3, &messages, &trace_back(&messages, 3, firsts), totals);
    let named = figures.named().map(|(_, value)| value);
    let expected = [
        1.0, 100.0, 230.0, 230.0, 1.5, 1.5, 2.0, 0.5, 1.0, 0.5, 2.0, 0.25, 1.0, 2.0,
    ];
    assert_eq!(named, expected);
}
