use undertone_sim::outcome::{FirstCopy, MeshDegree, Message, trace_back};
use undertone_sim::scenario::Topology;

use super::super::costs::Costs;
use super::*;

const MS: u64 = 1_000_000;

/// Two messages from node 0 to 1 to 2; the first message only warms up. A hop takes 60 ms, then 55, of
/// which validation takes 3.
fn run() -> (Scenario, Observed) {
    let mut scenario = Scenario::plain(3);
    scenario.topology = Topology::Line;
    scenario.traffic.messages = 3;
    scenario.warm_up_messages = 2;
    let message = |index: u32| Message {
        index,
        publisher: 0,
        payload_bytes: 1_000,
        published_ns: u64::from(index) * 1_000 * MS,
        warm_up: index < 2,
    };
    let messages: Vec<_> = (0..3).map(message).collect();
    let sent_ns: Vec<_> = messages.iter().map(|m| m.published_ns + 200 * MS).collect();
    let mut firsts = Vec::new();
    for message in &messages {
        for receiver in 1..3 {
            let hop_ms = if message.index == 0 { 60 } else { 55 };
            let received_ns = sent_ns[message.index as usize] + u64::from(receiver) * hop_ms * MS;
            firsts.push(FirstCopy {
                message: message.index,
                receiver,
                from: receiver - 1,
                received_ns,
            });
        }
    }
    let outcome = Outcome {
        seed: 1,
        virtual_ns: 0,
        events: 0,
        expected: 6,
        deliveries: trace_back(&messages, 3, firsts),
        messages,
        nodes: Vec::new(),
        mesh_degree: MeshDegree::default(),
        connections: Vec::new(),
        trace_hash: None,
        interrupted: false,
        violations: Vec::new(),
        services: None,
        recorded: None,
        attack: None,
    };
    let observed = Observed {
        validate_ns: vec![3 * MS; outcome.deliveries.len()],
        prove_ns: vec![200 * MS],
        sent_ns,
        outcome,
    };
    (scenario, observed)
}

#[test]
fn a_hop_is_from_leaving_a_node_to_the_verdict_at_the_next() {
    let (scenario, observed) = run();
    let plan = Plan::new(&scenario, 1).unwrap();
    let mut hops = HopTimes::default();
    hops.add(&scenario, &plan, &observed);
    let rows = hops.rows();
    let shown: Vec<_> = rows
        .iter()
        .map(|row| (row.connections, row.hop, row.n, row.transmit_ms, row.hop_ms))
        .collect();
    assert_eq!(
        shown,
        [
            (Connections::Cold, 1, 1, 57.0, 60.0),
            (Connections::Cold, 2, 1, 57.0, 60.0),
            (Connections::Warm, 1, 1, 52.0, 55.0),
            (Connections::Warm, 2, 1, 52.0, 55.0),
        ]
    );
    // 50 ms, two packets' time, and validation.
    assert_eq!(rows[0].formula_ms, Some(50.0 + 0.24 + 3.0));
    assert_eq!(
        hops.validate_ms().into_iter().collect::<Vec<_>>(),
        [(1_000, 3.0)]
    );
}

#[test]
fn the_simulator_is_told_the_measured_costs() {
    let (scenario, observed) = run();
    let plan = Plan::new(&scenario, 1).unwrap();
    let mut hops = HopTimes::default();
    hops.add(&scenario, &plan, &observed);
    let costs = Costs::of(&hops, &[observed]);
    assert_eq!((costs.generation_ms, costs.validation_ms), (200.0, 3.0));
    let costly = costs.in_place(&scenario);
    // Without a rate limit, the only cost left is that of the frame, of a kilobyte.
    assert_eq!((costly.cpu.per_frame_ns, costly.cpu.per_kb_ns), (0, 3 * MS));
    let options = undertone_sim::RunOptions::new(1);
    let outcome = undertone_sim::run(&costly, options, &mut |_| {}).unwrap();
    hops.add_simulated(&costly, &outcome);
    let row = &hops.rows()[2];
    assert_eq!(
        row.transmit_ratio(),
        row.sim_transmit_ms.map(|ms| 52.0 / ms)
    );
    let cost_ms = row.sim_ms.unwrap() - row.sim_transmit_ms.unwrap();
    assert!((cost_ms - 3.0).abs() < 1e-9, "{cost_ms}");
    let simulated: Vec<_> = hops.rows().iter().filter_map(|row| row.sim_ms).collect();
    assert_eq!(simulated.len(), 4);
    assert!(
        simulated.iter().all(|ms| (53.0..54.0).contains(ms)),
        "{simulated:?}"
    );
}
