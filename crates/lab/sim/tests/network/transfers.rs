//! Messages in transfer are not requested again.

use std::time::Duration;

use undertone_gossip::StrategyKind;
use undertone_sim::scenario::Topology;

use crate::support::{SEED, have_all, outcome, with_messages};

/// Number of requested ids, and of redundant copies of 50 KB, in a mesh that announces messages
/// instead of sending them, and whose nodes wait only for transfers in progress.
fn asked_and_wasted(transfer_wait: Duration) -> (u64, u64) {
    let mut scenario = with_messages(30, 10);
    scenario.topology = Topology::Dials(8);
    scenario.traffic.payload_bytes = vec![50_000];
    scenario.relay.protocol = undertone_gossip::LARGE_MESSAGES_ID.to_owned();
    let gossip = &mut scenario.relay.gossip;
    gossip.strategy = StrategyKind::Reduced.into();
    gossip.large.iwant_delay = Duration::ZERO;
    gossip.large.transfer_wait = transfer_wait;
    let outcome = outcome(&scenario, SEED, 1);
    assert_eq!(outcome.violations, []);
    assert!(have_all(&outcome, 0..30));
    let asked = outcome.nodes.iter().map(|node| node.iwant.count).sum();
    let copies: u64 = outcome.nodes.iter().map(|node| node.messages.count).sum();
    (asked, copies - 29 * 10)
}

#[test]
fn waiting_for_what_comes_in_saves_requests_and_copies() {
    let patient = asked_and_wasted(Duration::from_secs(3));
    let impatient = asked_and_wasted(Duration::ZERO);
    assert!(patient.0 > 0, "some copies never come by themselves");
    assert!(
        patient.0 < impatient.0 && patient.1 < impatient.1,
        "{patient:?}, not fewer than {impatient:?}"
    );
}
