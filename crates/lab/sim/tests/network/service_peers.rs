//! Light clients that find their service nodes, judge their networks, and publish with the older protocol.

use undertone_sim::outcome::{ClientCounters, ServiceCounters};
use undertone_sim::scenario::{PushVersion, ServiceTrouble, TroubleKind};
use undertone_sim::{Outcome, Scenario};

use crate::services::{all_arrived, missing, served, services, setup};
use crate::support::{S, SEED, outcome, simulate};

fn of_clients(outcome: &Outcome, field: fn(&ClientCounters) -> u64) -> u64 {
    services(outcome).clients.iter().map(field).sum()
}

fn of_servers(outcome: &Outcome, field: fn(&ServiceCounters) -> u64) -> u64 {
    services(outcome).served.iter().map(field).sum()
}

fn trouble(peer: u32, kind: TroubleKind) -> ServiceTrouble {
    ServiceTrouble {
        peer,
        at_ns: 0,
        for_ns: 3_600 * S,
        kind,
    }
}

#[test]
fn messages_go_out_by_the_older_lightpush_too() {
    let mut scenario = served(12, 10);
    setup(&mut scenario).lightpush = PushVersion::V2;
    let legacy = simulate(&scenario);
    assert!(all_arrived(&legacy), "{}", missing(&legacy));
    assert_eq!(of_clients(&legacy, |client| client.sends_stored), 5);
    assert_eq!(of_servers(&legacy, |server| server.requests[2]), 5);
    // Its frames differ.
    setup(&mut scenario).lightpush = PushVersion::V3;
    assert_ne!(simulate(&scenario).trace_hash, legacy.trace_hash);
}

#[test]
fn a_lie_about_an_older_lightpush_is_found_out() {
    let mut scenario = served(6, 20);
    scenario.drain_ns = 120 * S;
    let setup = setup(&mut scenario);
    setup.lightpush = PushVersion::V2;
    setup.troubles = vec![trouble(0, TroubleKind::Lies)];
    let outcome = simulate(&scenario);
    assert!(all_arrived(&outcome), "{}", missing(&outcome));
}

/// Twelve clients, each of which knows one of three service nodes.
fn strangers() -> Scenario {
    let mut scenario = served(12, 20);
    setup(&mut scenario).known_peers = Some(1);
    scenario
}

#[test]
fn clients_learn_of_other_service_nodes_by_peer_exchange() {
    let outcome = simulate(&strangers());
    assert!(all_arrived(&outcome), "{}", missing(&outcome));
    let found = services(&outcome).clients.iter().map(|c| c.peers_found);
    let found: Vec<_> = found.collect();
    assert_eq!(found, [2; 12]);
    // A question is answered with the two other nodes.
    assert_eq!(of_servers(&outcome, |server| server.peers_given), 2 * 12);
    // With the nodes that were found, each message comes from two.
    let late = |scenario: &Scenario| of_clients(&simulate(scenario), |client| client.pushes);
    let mut alone = strangers();
    setup(&mut alone).peers_per_client = 1;
    setup(&mut alone).filter_peers = 1;
    assert_eq!(late(&alone), 20 * 12);
    assert!(late(&strangers()) > 35 * 12);
}

#[test]
fn a_client_lives_on_when_the_node_that_it_was_told_of_first_goes() {
    let mut scenario = strangers();
    scenario.drain_ns = 120 * S;
    let gone = |peer| ServiceTrouble {
        at_ns: 10 * S,
        ..trouble(peer, TroubleKind::Gone)
    };
    setup(&mut scenario).troubles = vec![gone(0), gone(1)];
    let outcome = simulate(&scenario);
    assert!(all_arrived(&outcome), "{}", missing(&outcome));
}

#[test]
fn records_of_nodes_that_do_not_serve_keep_a_client_from_nothing() {
    let mut scenario = strangers();
    scenario.drain_ns = 240 * S;
    let with = setup(&mut scenario);
    // Whether a lie about a message is found out is another matter.
    with.publish_one_in = 0;
    // A third of the clients has its first records from the liar.
    with.troubles = vec![ServiceTrouble {
        for_ns: 40 * S,
        ..trouble(0, TroubleKind::Lies)
    }];
    let outcome = simulate(&scenario);
    assert!(all_arrived(&outcome), "{}", missing(&outcome));
    let found = services(&outcome).clients.iter().map(|c| c.peers_found);
    assert_eq!(found.collect::<Vec<_>>(), [2; 12]);
}

#[test]
fn a_service_node_of_another_cluster_is_left_before_it_is_asked_for_anything() {
    let mut scenario = served(12, 20);
    scenario.drain_ns = 120 * S;
    let with = setup(&mut scenario);
    with.metadata = true;
    with.troubles = vec![ServiceTrouble {
        at_ns: 10 * S,
        for_ns: 30 * S,
        ..trouble(1, TroubleKind::OtherCluster)
    }];
    let told = simulate(&scenario);
    assert!(all_arrived(&told), "{}", missing(&told));
    assert_eq!(of_servers(&told, |server| server.as_other_cluster), 0);
    assert!(of_clients(&told, |client| client.other_clusters) >= 12);
    assert!(of_servers(&told, |server| server.metadata_answers) >= 12 * 3);

    setup(&mut scenario).metadata = false;
    let untold = outcome(&scenario, SEED, 1);
    let asked = of_servers(&untold, |server| server.as_other_cluster);
    assert!(asked > 0, "the count is of something");
    assert_eq!(of_clients(&untold, |client| client.other_clusters), 0);
}

#[test]
fn what_clients_find_does_not_depend_on_threads() {
    let mut scenario = strangers();
    let with = setup(&mut scenario);
    with.metadata = true;
    with.stream_loss = 0.1;
    with.connection_lost_every_ns = Some(5 * S);
    with.troubles = vec![trouble(2, TroubleKind::OtherCluster)];
    let one = outcome(&scenario, SEED, 1);
    let two = outcome(&scenario, SEED, 2);
    assert_eq!(two.trace_hash, one.trace_hash);
    assert_eq!(two.services, one.services);
}
