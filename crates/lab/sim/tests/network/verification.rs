//! How long proofs wait for their verdict.

use undertone_rln::batch::{BatchPolicy, Batcher, Job, VerifyCosts};
use undertone_sim::Scenario;
use undertone_sim::scenario::{Publishers, Rln, Spacing, Topology, Verification};

use crate::support::{MS, rln, simulate, with_messages};

const COSTS: VerifyCosts = VerifyCosts {
    single_ns: 1_150_000,
    batch_base_ns: 1_800_000,
    batch_per_proof_ns: 290_000,
};

/// `count` nodes and node 0 publish at the same moment, node 0 being the only peer of all. The
/// links are so fast that all proofs reach it together.
fn burst(count: u32, verification: Verification) -> Scenario {
    let mut scenario = with_messages(count + 1, count + 1);
    scenario.topology = Topology::Star;
    scenario.network.uplink_bytes_per_s = 1_000_000_000_000_000;
    scenario.network.downlink_bytes_per_s = 1_000_000_000_000_000;
    scenario.traffic.publishers = Publishers::RoundRobin(count + 1);
    scenario.traffic.spacing = Spacing::Constant(0);
    scenario.rln = Some(Rln {
        verification,
        ..rln(100)
    });
    scenario
}

/// When the middle delivers each message, nanoseconds after the proofs came, in order.
fn verdicts_ns(scenario: &Scenario) -> Vec<u64> {
    let outcome = simulate(scenario);
    let generation_ns = scenario.rln.as_ref().map_or(0, |rln| rln.generation_ns);
    let came_ns = scenario.traffic.first_ns + generation_ns + 50 * MS;
    let at_middle = outcome.deliveries.iter().filter(|d| d.receiver == 0);
    let mut verdicts: Vec<_> = at_middle.map(|d| d.received_ns - came_ns).collect();
    verdicts.sort_unstable();
    verdicts
}

/// The node's policy by hand: the worker takes the first proof as it comes, the others wait for it.
fn by_policy_ns(count: u32) -> Vec<u64> {
    let mut waiting = Batcher::new(BatchPolicy::default(), COSTS);
    waiting.good_proof(0);
    let (mut now_ns, mut verdicts) = (0, Vec::new());
    for proof in 0..count {
        waiting.push(proof, 0);
        if proof == 0 {
            assert_eq!(waiting.next_job(0), Some(Job::Single(0)));
            now_ns += COSTS.single_ns;
            verdicts.push(now_ns);
        }
    }
    while let Some(job) = waiting.next_job(now_ns) {
        now_ns += match &job {
            Job::Single(_) => COSTS.single_ns,
            Job::Batch(proofs) => COSTS.batch_ns(proofs.len()),
        };
        verdicts.extend(job.tickets().iter().map(|_| now_ns));
    }
    verdicts
}

fn assert_close(measured: &[u64], expected: &[u64]) {
    assert_eq!(measured.len(), expected.len());
    for (measured, expected) in measured.iter().zip(expected) {
        // The packets of a burst are on the wire for some nanoseconds.
        assert!(
            measured.abs_diff(*expected) < 5_000,
            "{measured} for {expected}"
        );
    }
}

fn batches() -> Verification {
    Verification::Batches {
        single_ns: COSTS.single_ns,
        batch_base_ns: COSTS.batch_base_ns,
        batch_per_proof_ns: COSTS.batch_per_proof_ns,
    }
}

/// A burst is verified in the batches, and in the time, that the policy of real nodes gives.
#[test]
fn a_burst_takes_what_the_policy_says() {
    for count in [1, 3, 4, 5, 33, 80] {
        let measured = verdicts_ns(&burst(count, batches()));
        assert_close(&measured, &by_policy_ns(count));
    }
}

/// Batches bound the wait of a burst: the last of 80 proofs waits less than half as long as one by
/// one, and no proof waits longer than for those before it.
#[test]
fn batches_bound_the_wait() {
    let count = 80;
    let verdicts = verdicts_ns(&burst(count, batches()));
    let last_ns = *verdicts.last().expect("80 verdicts");
    assert!(
        last_ns < u64::from(count) * COSTS.single_ns / 2,
        "{last_ns}"
    );
    let longest_job_ns = BatchPolicy::default().max_delay_ns;
    for pair in verdicts.windows(2) {
        assert!(pair[1] - pair[0] <= longest_job_ns, "{pair:?}");
    }
}

/// In the published simulations every proof waits the same time, however many others do.
#[test]
fn waits_do_not_add_up() {
    let ns = 4_500_000;
    let measured = verdicts_ns(&burst(40, Verification::Wait { ns }));
    assert_close(&measured, &[ns; 40]);
}
