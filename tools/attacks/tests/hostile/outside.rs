//! Section E: a clock, a chain and strangers' addresses that lead a node astray.

use undertone_attacks::attacks::{e2_clock_jump, e4_lying_chain_endpoint, e6_hole_punching_scan};

use crate::support::{measured, unharmed};

/// The largest resident memory of the victim in the long form, MiB.
const MEMORY_MAX_MIB: f64 = 128.0;

#[tokio::test]
async fn e2_a_clock_that_jumps_ahead_deletes_nothing() {
    let measured = measured(&e2_clock_jump::ATTACK, 1).await;
    assert_eq!(measured.counted.len(), 1);
    unharmed(&measured);
}

#[tokio::test]
async fn e4_a_chain_endpoint_that_lies_takes_no_memory_and_hides_no_member() {
    let measured = measured(&e4_lying_chain_endpoint::ATTACK, 1).await;
    assert_eq!(measured.counted.len(), 1);
    unharmed(&measured);
    let memory_mib = measured.usage.memory_mib;
    assert!(memory_mib < MEMORY_MAX_MIB, "{memory_mib} MiB");
}

#[tokio::test]
async fn e6_hole_punching_does_not_scan_the_nodes_own_host() {
    let measured = measured(&e6_hole_punching_scan::ATTACK, 1).await;
    assert_eq!(measured.counted.len(), 1);
    unharmed(&measured);
}
