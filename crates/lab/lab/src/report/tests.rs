//! Tests of reports on invented runs.

mod figures;
mod files;
mod memory;
mod shown;

use undertone_sim::outcome::{Counters, Delivery, KindCounter, MeshDegree, Message, Violation};
use undertone_sim::{Outcome, Scenario};

use super::{RunCosts, Summary};
use crate::scenario::load;

pub(crate) fn scenario() -> Scenario {
    load("small", &[]).unwrap().scenario
}

/// Two messages, the first of them a warm-up message, at nodes 1 to 4 after 10, 20, 30, 40 ms and a
/// proof; the second twice as fast. The second is not delivered at node 4.
pub(crate) fn outcome(seed: u64) -> Outcome {
    let messages: Vec<_> = (0..2)
        .map(|index| Message {
            index,
            publisher: 0,
            payload_bytes: 2_000,
            published_ns: u64::from(index) * 1_000_000_000,
            warm_up: index == 0,
        })
        .collect();
    let mut deliveries = Vec::new();
    for message in &messages {
        let most = if message.warm_up { 4 } else { 3 };
        for receiver in 1..=most {
            let after_ns = u64::from(receiver) * 10_000_000 / u64::from(message.index + 1);
            deliveries.push(Delivery {
                message: message.index,
                receiver,
                from: 0,
                hops: if receiver == 1 { 1 } else { 2 },
                received_ns: message.published_ns + after_ns,
            });
        }
    }
    let kind = |count, bytes| KindCounter { count, bytes };
    let node = Counters {
        messages: kind(2, 4_200),
        ihave: kind(1, 30),
        graft: kind(1, 12),
        wire_sent_bytes: 5_000,
        duplicates: 2,
        first_copies: 1,
        packets_dropped: 1,
        ..Counters::default()
    };
    Outcome {
        seed,
        virtual_ns: 3_500_000_000,
        events: 1_234,
        expected: 8,
        messages,
        deliveries,
        nodes: vec![node; 5],
        mesh_degree: MeshDegree {
            min: 2,
            mean: 3.5,
            max: 4,
        },
        connections: vec![4; 5],
        interrupted: false,
        trace_hash: Some([0xab; 32]),
        violations: Vec::new(),
        services: None,
        recorded: None,
        attack: None,
    }
}

pub(crate) fn violated(seed: u64) -> Outcome {
    let violation = Violation {
        at_ns: 1_500_000_000,
        node: 3,
        rule: "a message was delivered twice",
    };
    Outcome {
        violations: vec![violation],
        ..outcome(seed)
    }
}

pub(crate) const MEASURED: RunCosts = RunCosts {
    wall_s: 0.25,
    cpu_s: 0.5,
    peak_rss_mb: Some(12.5),
};

pub(crate) fn summary(outcome: &Outcome) -> Summary {
    Summary::new(&scenario(), outcome, MEASURED, "abc123")
}
