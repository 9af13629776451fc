//! A run follows from its scenario and its seed, not from the threads that ran it.

use proptest::prelude::*;
use undertone_sim::scenario::{
    Cpu, Delay, Dialling, FaultKind, Publishers, Qdisc, ServicesSetup, Spacing, TcpProfile,
    Topology, Verification,
};
use undertone_sim::{Outcome, Scenario};

use crate::ranks::on_ranks;
use crate::support::{MS, S, delivered, fault, outcome, rln, with_messages};

/// Everything that two runs of one scenario must share.
#[track_caller]
fn assert_same(a: &Outcome, b: &Outcome, what: &str) {
    assert_eq!(a.deliveries, b.deliveries, "{what}");
    assert_eq!(a.nodes, b.nodes, "{what}");
    assert_eq!(a.trace_hash, b.trace_hash, "{what}");
    assert_eq!(a.events, b.events, "{what}");
    assert_eq!(a.violations, b.violations, "{what}");
}

/// All that a run draws at random, at once.
fn everything() -> Scenario {
    let mut scenario = with_messages(40, 6);
    scenario.topology = Topology::Dials(6);
    scenario.dialling = Dialling::OneByOne;
    let network = &mut scenario.network;
    network.delay = Delay::Uniform {
        min_ns: 5 * MS,
        max_ns: 120 * MS,
    };
    network.jitter_ns = 3 * MS;
    network.loss = 0.01;
    scenario.cpu = Cpu {
        per_frame_ns: 20_000,
        per_kb_ns: 5_000,
    };
    let mut limit = rln(4);
    limit.verification = Verification::Batches {
        single_ns: 1_150_000,
        batch_base_ns: 1_800_000,
        batch_per_proof_ns: 290_000,
    };
    scenario.rln = Some(limit);
    scenario.traffic.publishers = Publishers::Random;
    scenario.traffic.spacing = Spacing::Poisson(300 * MS);
    scenario.traffic.payload_bytes = vec![100, 40_000, 2_000];
    let spam = FaultKind::Spam {
        interval_ns: 100 * MS,
    };
    let crash = FaultKind::Crash {
        noticed_after_ns: S,
    };
    let partition = FaultKind::Partition { for_ns: S };
    for (at_s, nodes, kind) in [
        (8, 5, FaultKind::Join),
        (9, 20, partition),
        (10, 3, FaultKind::Lossy { loss: 0.1 }),
        (10, 4, FaultKind::Slow { factor: 0.1 }),
        (11, 1, spam),
        (12, 2, crash),
    ] {
        scenario.faults.extend(fault(at_s, nodes, kind));
    }
    scenario
}

/// The same on ranks: rank 0 has what one process has, and the ranks together have its deliveries.
#[test]
fn ranks_do_not_matter() {
    let mut light = with_messages(24, 8);
    light.topology = Topology::Dials(4);
    light.services = Some(ServicesSetup::new(3, 20));
    for (what, scenario) in [("everything", everything()), ("light clients", light)] {
        let alone = outcome(&scenario, 1, 1);
        assert!(!alone.deliveries.is_empty());
        for threads in [&[1, 1][..], &[2, 1, 3], &[1, 1, 1, 1]] {
            let what = format!("{what}, ranks with {threads:?} threads");
            let results = on_ranks(&scenario, 1, threads);
            let results: Vec<_> = results.into_iter().map(Result::unwrap).collect();
            assert_same(&alone, &results[0], &what);
            assert_eq!(alone.services, results[0].services, "{what}");
            assert_eq!(alone.mesh_degree, results[0].mesh_degree, "{what}");
            assert_eq!(alone.connections, results[0].connections, "{what}");
            for (rank, result) in results.iter().enumerate().skip(1) {
                let own = alone.deliveries.iter();
                let own = own.filter(|d| d.receiver as usize % threads.len() == rank);
                assert!(own.eq(&result.deliveries), "rank {rank}, {what}");
                assert_eq!(alone.trace_hash, result.trace_hash, "{what}");
            }
        }
    }
}

/// Loss, jitter, random delays, every fault, batches of proofs: the outcome is the same for one, two,
/// three and seven threads and for a second run.
#[test]
fn threads_do_not_matter() {
    let scenario = everything();
    for seed in 1..=3 {
        let alone = outcome(&scenario, seed, 1);
        assert!(!alone.deliveries.is_empty());
        assert_eq!(alone.violations, [], "seed {seed}");
        for threads in [1, 2, 3, 7] {
            let again = outcome(&scenario, seed, threads);
            assert_same(&alone, &again, &format!("seed {seed}, {threads} threads"));
        }
    }
}

/// Nodes without any delay between them leave no lookahead; asking for threads changes
/// nothing then either.
#[test]
fn a_network_without_delay_runs_alone() {
    let mut scenario = with_messages(20, 2);
    scenario.network.delay = Delay::Constant { one_way_ns: 0 };
    let (one, three) = (outcome(&scenario, 1, 1), outcome(&scenario, 1, 3));
    assert_same(&one, &three, "no delay");
    assert_eq!(one.deliveries.len() as u64, one.expected);
}

/// Another seed is another network: other connections, other first copies.
#[test]
fn seeds_matter() {
    let scenario = with_messages(40, 3);
    let (one, two) = (outcome(&scenario, 1, 1), outcome(&scenario, 2, 1));
    assert_ne!(one.trace_hash, two.trace_hash);
    assert_ne!(one.deliveries, two.deliveries);
    assert_eq!(
        delivered(&one),
        delivered(&two),
        "everybody gets everything"
    );
}

/// The trace sees what the deliveries may not show: a byte more in a message, a later start.
#[test]
fn a_small_change_changes_the_trace() {
    let plain = with_messages(30, 2);
    let mut longer = plain.clone();
    longer.traffic.payload_bytes = vec![1001];
    let mut later = plain.clone();
    later.start_ns = 1;
    let hashes = [&plain, &longer, &later].map(|s| outcome(s, 1, 1).trace_hash);
    assert_ne!(hashes[0], hashes[1]);
    assert_ne!(hashes[0], hashes[2]);
}

fn topology() -> impl Strategy<Value = Topology> {
    prop_oneof![
        (1u32..4).prop_map(Topology::Dials),
        Just(Topology::Regular(2)),
        Just(Topology::Line),
        Just(Topology::Ring),
        Just(Topology::Star),
        Just(Topology::FullMesh),
    ]
}

fn queue() -> impl Strategy<Value = Qdisc> {
    prop_oneof![
        (3_000u64..200_000).prop_map(|max_bytes| Qdisc::Fifo { max_bytes }),
        (1u64..10).prop_map(|ms| Qdisc::CoDel {
            target_ns: ms * MS,
            interval_ns: 100 * MS,
        }),
    ]
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(24))]

    /// Any small network, with slow links and short queues, loss and jitter: no rule is broken,
    /// what arrives is what was published, and threads do not matter.
    #[test]
    fn any_network_keeps_the_rules(
        topology in topology(),
        queue in queue(),
        nodes in 5u32..14,
        shadow: bool,
        loss in prop_oneof![Just(0.0), 0.0..0.2],
        jitter_ms in 0u64..30,
        bytes in prop::collection::vec(8u32..60_000, 1..4),
        uplink in 100_000u64..20_000_000,
        downlink in 100_000u64..20_000_000,
        seed: u64,
    ) {
        let mut scenario = with_messages(nodes, 3);
        scenario.topology = topology;
        scenario.traffic.payload_bytes = bytes;
        let network = &mut scenario.network;
        network.queue = queue;
        network.loss = loss;
        network.jitter_ns = jitter_ms * MS;
        network.uplink_bytes_per_s = uplink;
        network.downlink_bytes_per_s = downlink;
        network.tcp = if shadow { TcpProfile::Shadow } else { TcpProfile::Linux };
        let alone = outcome(&scenario, seed, 1);
        prop_assert_eq!(&alone.violations, &[]);
        let publisher = |message: u32| alone.messages[message as usize].publisher;
        let to_itself = alone.deliveries.iter().any(|d| d.receiver == publisher(d.message));
        prop_assert!(!to_itself);
        let three = outcome(&scenario, seed, 3);
        prop_assert_eq!(&alone.deliveries, &three.deliveries);
        prop_assert_eq!(alone.trace_hash, three.trace_hash);
    }
}
