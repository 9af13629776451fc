//! Services and light clients: what arrives, what it costs, and what troubles do.

use std::collections::BTreeSet;

use proptest::prelude::*;
use undertone_sim::outcome::ServicesOutcome;
use undertone_sim::scenario::{
    ClientSleep, FloodedService, RequestFlood, ServiceTrouble, ServicesSetup, Spacing, Topology,
    TroubleKind,
};
use undertone_sim::{Outcome, Scenario};

use crate::support::{MS, S, SEED, outcome, rln, simulate, with_messages};

/// Thirty relays of which the last three serve, and light clients.
pub(crate) fn served(clients: u32, messages: u32) -> Scenario {
    let mut scenario = with_messages(30, messages);
    scenario.topology = Topology::Dials(4);
    scenario.services = Some(ServicesSetup::new(3, clients));
    scenario
}

pub(crate) fn setup(scenario: &mut Scenario) -> &mut ServicesSetup {
    scenario
        .services
        .as_mut()
        .expect("the test's scenario has services")
}

pub(crate) fn services(outcome: &Outcome) -> &ServicesOutcome {
    outcome
        .services
        .as_ref()
        .expect("the test's scenario has services")
}

/// What did not arrive, in words.
pub(crate) fn missing(outcome: &Outcome) -> String {
    let light = services(outcome);
    format!(
        "{} of {} to relays, {} of {} to light clients are missing",
        outcome.expected - outcome.deliveries.len() as u64,
        outcome.expected,
        light.missing,
        light.expected
    )
}

/// Whether every message arrived everywhere, be it late.
pub(crate) fn all_arrived(outcome: &Outcome) -> bool {
    let light = services(outcome);
    let mut pairs = BTreeSet::new();
    let twice = light
        .deliveries
        .iter()
        .any(|d| !pairs.insert((d.message, d.receiver)));
    let is_complete = |message: u32| {
        let to_relays = outcome.deliveries.iter().filter(|d| d.message == message);
        let publisher = outcome.messages[message as usize].publisher;
        let relays = outcome.nodes.len() - usize::from((publisher as usize) < outcome.nodes.len());
        to_relays.count() == relays
    };
    !twice
        && light.missing == 0
        && light.deliveries.len() as u64 == light.expected
        && (0..outcome.messages.len() as u32).all(is_complete)
}

#[test]
fn light_clients_get_each_message_once_and_publish_to_all() {
    let outcome = simulate(&served(12, 10));
    assert!(all_arrived(&outcome), "{}", missing(&outcome));
    let light = services(&outcome);
    // Five messages of relays for twelve clients, five of clients for the eleven others.
    assert_eq!(light.expected, 5 * 12 + 5 * 11);
    assert!(
        light.deliveries.iter().all(|d| !d.from_store),
        "pushed, not fetched"
    );
    let sends: u64 = light.clients.iter().map(|client| client.sends_stored).sum();
    assert_eq!(sends, 5, "a store confirms each message");
    // Two filter peers push each message to each client.
    let pushes: u64 = light.clients.iter().map(|client| client.pushes).sum();
    assert_eq!(pushes, 2 * 10 * 12);
    // A push takes a way from the service node, which has the message from the relays.
    let first = light.deliveries.first().expect("there is one");
    let published_ns = outcome.messages[first.message as usize].published_ns;
    assert!(first.received_ns - published_ns > 100 * MS);
}

#[test]
fn clients_of_a_network_with_a_rate_limit_prove_for_themselves() {
    let mut scenario = served(6, 8);
    scenario.rln = Some(rln(10));
    let outcome = simulate(&scenario);
    assert!(all_arrived(&outcome), "{}", missing(&outcome));
    // A proof, the negotiation of a stream, the way to the service node and the check there.
    let by_client = outcome.messages.iter().find(|m| m.publisher >= 30);
    let by_client = by_client.expect("every second is");
    let first = outcome
        .deliveries
        .iter()
        .filter(|d| d.message == by_client.index);
    let first_ns = first.map(|d| d.received_ns).min().expect("relays have it");
    let least_ns = 276 * MS + 3 * 50 * MS;
    assert!(first_ns - by_client.published_ns > least_ns, "{first_ns}");
}

#[test]
fn each_client_gets_only_the_content_topics_that_it_wants() {
    let mut scenario = served(8, 16);
    scenario.relay.topics = 2;
    let services_setup = setup(&mut scenario);
    services_setup.content_topics = 4;
    services_setup.topics_per_client = 2;
    let outcome = simulate(&scenario);
    assert!(all_arrived(&outcome), "{}", missing(&outcome));
    assert_eq!(
        services(&outcome).expected as usize,
        16 * 4 - own_wanted(&outcome)
    );
}

/// Messages that their publisher has subscribed to itself: two of four topics, from its own number on.
fn own_wanted(outcome: &Outcome) -> usize {
    let wants = |number: u32, topic: u32| topic == number % 4 || topic == (number + 1) % 4;
    let of_clients = outcome.messages.iter().filter(|m| m.publisher >= 30);
    let wanted = of_clients.filter(|m| wants(m.publisher - 30, (m.index / 2) % 4));
    wanted.count()
}

#[test]
fn history_is_read_whole_while_messages_arrive() {
    let mut scenario = served(6, 60);
    scenario.traffic.spacing = Spacing::Constant(200 * MS);
    let setup = setup(&mut scenario);
    setup.read_every_ns = Some(3 * S);
    setup.page_size = 4;
    let outcome = simulate(&scenario);
    let light = services(&outcome);
    assert!(light.readings.len() >= 6, "{:?}", light.readings);
    let longest = light.readings.iter().map(|reading| reading.pages).max();
    assert!(longest > Some(10), "{:?}", light.readings);
    assert!(all_arrived(&outcome));
}

#[test]
fn a_flood_is_refused_and_honest_clients_are_served() {
    let mut scenario = served(9, 20);
    scenario.rln = Some(rln(100));
    let setup = setup(&mut scenario);
    // One attacker for each service node.
    setup.flood = Some(RequestFlood {
        clients: 3,
        at_ns: 8 * S,
        for_ns: 20 * S,
        interval_ns: 10 * MS,
        service: None,
    });
    let outcome = simulate(&scenario);
    assert!(all_arrived(&outcome), "{}", missing(&outcome));
    let light = services(&outcome);
    let floods = light.clients.iter().filter(|client| client.floods);
    let refused: u64 = floods.flat_map(|client| client.refused).sum();
    assert!(refused > 3_000, "{:?}", light.clients);
    let honest = light.clients.iter().filter(|client| !client.floods);
    let refused: u64 = honest.flat_map(|client| client.refused).sum();
    assert_eq!(refused, 0);
}

/// The rule would be of no use if no run could break it.
#[test]
fn a_flood_that_an_archive_cannot_bear_is_told() {
    let mut scenario = served(9, 20);
    let setup = setup(&mut scenario);
    // The archive takes so long that a few queries of an attacker keep it busy beyond what clients wait for.
    setup.query_ns = 3 * S;
    setup.flood = Some(RequestFlood {
        clients: 3,
        at_ns: 8 * S,
        for_ns: 20 * S,
        interval_ns: 10 * MS,
        service: Some(FloodedService::Store),
    });
    let outcome = outcome(&scenario, SEED, 1);
    let rules: BTreeSet<_> = outcome.violations.iter().map(|v| v.rule).collect();
    assert_eq!(
        rules,
        ["honest clients are served during a flood"].into(),
        "{}",
        missing(&outcome)
    );
}

/// Messages that each service node has at the end.
fn archived(outcome: &Outcome) -> Vec<u64> {
    let served = services(outcome).served.iter();
    served.map(|node| node.archived).collect()
}

/// Sixty messages, one a second, of which the second store misses those of half a minute.
fn gap(kind: TroubleKind) -> Scenario {
    let mut scenario = served(3, 60);
    setup(&mut scenario).troubles = vec![ServiceTrouble {
        peer: 1,
        at_ns: 20 * S,
        for_ns: 30 * S,
        kind,
    }];
    // Sessions leave out what is younger than 20 s.
    scenario.drain_ns = 60 * S;
    scenario
}

#[test]
fn stores_fill_the_gaps_of_each_other() {
    for kind in [TroubleKind::Gone, TroubleKind::Hangs] {
        let mut scenario = gap(kind);
        let alone = archived(&simulate(&scenario));
        assert_eq!((alone[0], alone[2]), (60, 60));
        assert!((20..50).contains(&alone[1]), "{kind:?}: {alone:?}");

        setup(&mut scenario).sync_every_ns = Some(10 * S);
        let outcome = simulate(&scenario);
        assert_eq!(archived(&outcome), [60; 3], "{kind:?}");
        let served = &services(&outcome).served;
        let gap = 60 - alone[1];
        assert_eq!(
            served[1].sync_received, gap,
            "each message once: {served:?}"
        );
        assert!(
            served.iter().all(|node| node.sync_sessions > 2),
            "{served:?}"
        );
        // Sessions compare fingerprints, and only what is missing is sent.
        let sent: u64 = served.iter().map(|node| node.sync_sent_bytes).sum();
        let payload = u64::from(scenario.traffic.payload_bytes[0]);
        let messages = gap * payload;
        assert!(
            (messages..messages + 60_000).contains(&sent),
            "{sent}: {served:?}"
        );
    }
}

/// Who lies or is silent costs sessions, and keeps the others from nothing.
#[test]
fn stores_synchronise_beside_one_that_lies_or_hangs() {
    for kind in [TroubleKind::Lies, TroubleKind::Hangs] {
        let mut scenario = gap(TroubleKind::Gone);
        let setup = setup(&mut scenario);
        setup.sync_every_ns = Some(5 * S);
        setup.troubles.push(ServiceTrouble {
            peer: 2,
            at_ns: 10 * S,
            for_ns: 3_600 * S,
            kind,
        });
        let outcome = simulate(&scenario);
        assert_eq!(archived(&outcome)[..2], [60, 60], "{kind:?}");
    }
}

#[test]
fn what_the_services_draw_does_not_depend_on_threads() {
    let mut scenario = served(12, 12);
    scenario.rln = Some(rln(100));
    scenario.network.loss = 0.01;
    scenario.network.jitter_ns = 3 * MS;
    let setup = setup(&mut scenario);
    setup.stream_loss = 0.1;
    setup.connection_lost_every_ns = Some(5 * S);
    setup.read_every_ns = Some(4 * S);
    setup.sync_every_ns = Some(3 * S);
    setup.sleep = Some(ClientSleep {
        every_ns: 6 * S,
        for_ns: 3 * S,
    });
    setup.noticed_after_ns = 2 * S;
    setup.troubles = vec![ServiceTrouble {
        peer: 1,
        at_ns: 12 * S,
        for_ns: 5 * S,
        kind: TroubleKind::Lies,
    }];
    let one = outcome(&scenario, SEED, 1);
    for threads in [2, 3] {
        let again = outcome(&scenario, SEED, threads);
        assert_eq!(again.trace_hash, one.trace_hash, "{threads} threads");
        assert_eq!(again.services, one.services, "{threads} threads");
        assert_eq!(again.events, one.events, "{threads} threads");
    }
    let other = outcome(&scenario, SEED + 1, 2);
    assert_ne!(other.trace_hash, one.trace_hash);
}

#[test]
fn services_that_cannot_be_are_refused_by_name() {
    let refused = |change: &dyn Fn(&mut ServicesSetup)| {
        let mut scenario = served(6, 2);
        change(setup(&mut scenario));
        let options = undertone_sim::RunOptions::new(SEED);
        let result = undertone_sim::run(&scenario, options, &mut |_| {});
        result.expect_err("it cannot be run").to_string()
    };
    type Change = Box<dyn Fn(&mut ServicesSetup)>;
    let changes: [(&str, Change); 11] = [
        (
            "services.known_peers is 0",
            Box::new(|s| s.known_peers = Some(0)),
        ),
        (
            "services.publish_one_in is 2",
            Box::new(|s| s.channel = true),
        ),
        (
            "services.content_topics is 2",
            Box::new(|s| (s.channel, s.content_topics) = (true, 2)),
        ),
        (
            "services.service_nodes is 31",
            Box::new(|s| s.service_nodes = 31),
        ),
        (
            "services.light_clients is 0",
            Box::new(|s| s.light_clients = 0),
        ),
        (
            "services.peers_per_client is 4",
            Box::new(|s| s.peers_per_client = 4),
        ),
        (
            "services.filter_peers is 4",
            Box::new(|s| s.filter_peers = 4),
        ),
        (
            "services.topics_per_client is 2",
            Box::new(|s| s.topics_per_client = 2),
        ),
        ("services.page_size is 101", Box::new(|s| s.page_size = 101)),
        (
            "services.stream_loss is 1.5",
            Box::new(|s| s.stream_loss = 1.5),
        ),
        (
            "services.flood.clients is 6",
            Box::new(|s| {
                s.flood = Some(RequestFlood {
                    clients: 6,
                    at_ns: 0,
                    for_ns: S,
                    interval_ns: S,
                    service: None,
                });
            }),
        ),
    ];
    for (expected, change) in changes {
        let text = refused(&*change);
        assert!(text.starts_with(expected), "{text}");
    }
}

/// Troubles of an hour. The last service node never loses or withholds history, so that some store holds each message.
fn troubles() -> impl Strategy<Value = Vec<ServiceTrouble>> {
    let kinds = prop_oneof![
        Just(TroubleKind::Gone),
        Just(TroubleKind::Hangs),
        Just(TroubleKind::Mute),
        Just(TroubleKind::Lies),
    ];
    let any = (0..3u32, 20..3_500u64, 30..600u64, kinds);
    let mute = (Just(3), 20..3_500u64, 30..600u64, Just(TroubleKind::Mute));
    let trouble = prop_oneof![4 => any.boxed(), 1 => mute.boxed()];
    let trouble = trouble.prop_map(|(peer, at_s, for_s, kind)| ServiceTrouble {
        peer,
        at_ns: at_s * S,
        for_ns: for_s * S,
        kind,
    });
    prop::collection::vec(trouble, 6..16)
}

/// An hour with service nodes in trouble, sleeping machines, a share of all packets lost and a tenth of all streams
/// broken.
fn hour(seed: u64, troubles: Vec<ServiceTrouble>, loss: f64, has_rate_limit: bool) -> Outcome {
    let mut scenario = with_messages(10, 240);
    scenario.topology = Topology::Dials(3);
    scenario.traffic.spacing = Spacing::Poisson(15 * S);
    // Longer than the longest backoff, and than what is asked of history anew.
    scenario.drain_ns = 1_200 * S;
    scenario.network.loss = loss;
    let mut setup = ServicesSetup::new(4, 8);
    setup.stream_loss = 0.1;
    setup.connection_lost_every_ns = Some(300 * S);
    setup.sleep = Some(ClientSleep {
        every_ns: 400 * S,
        for_ns: 60 * S,
    });
    setup.troubles = troubles;
    scenario.services = Some(setup);
    scenario.rln = has_rate_limit.then(|| rln(100));
    outcome(&scenario, seed, 1)
}

/// Asserts that every message arrived in the end, once, and that the troubles were felt.
fn assert_nothing_lost(outcome: &Outcome) {
    assert_eq!(&outcome.violations, &[]);
    let light = services(outcome);
    let clients = light.clients.iter();
    let failed: u64 = clients.map(|c| c.sends_failed + c.sends_refused).sum();
    assert_eq!((light.missing, failed), (0, 0));
    assert_eq!(outcome.deliveries.len() as u64, outcome.expected);
    assert!(light.deliveries.iter().any(|delivery| delivery.from_store));
    assert!(light.clients.iter().any(|client| client.sleeps > 0));
}

/// Variable with the seeds of other hours, `A..B`.
const SEEDS: &str = "UNDERTONE_HOUR_SEEDS";

/// Seeds of hours in which something was once lost: a client spent all attempts to send a message on a service node
/// that falsely claimed to have relayed it, while the others were out of reach.
fn seeds() -> Vec<u64> {
    let Ok(range) = std::env::var(SEEDS) else {
        return vec![1, 2, 9, 14];
    };
    let ends = range.split_once("..");
    let parsed = ends.and_then(|(from, to)| Some(from.parse().ok()?..to.parse().ok()?));
    let seeds = parsed.unwrap_or_else(|| panic!("{SEEDS}={range}: it must be A..B"));
    seeds.collect()
}

/// A tenth of all packets is lost besides, with and without rate limiting.
#[test]
fn an_hour_of_troubles_and_lost_packets_loses_nothing() {
    let kinds = [
        TroubleKind::Lies,
        TroubleKind::Hangs,
        TroubleKind::Gone,
        TroubleKind::Lies,
        TroubleKind::Mute,
    ];
    for seed in seeds() {
        let trouble = |n: u64| ServiceTrouble {
            peer: ((n + seed) % 3) as u32,
            at_ns: (100 + 230 * n) * S,
            for_ns: (200 + 37 * ((seed + n) % 9)) * S,
            kind: kinds[(n + seed) as usize % kinds.len()],
        };
        for has_rate_limit in [false, true] {
            println!("{SEEDS}={seed}..{}, rate limit: {has_rate_limit}", seed + 1);
            let troubles = (0..14).map(trouble).collect();
            let outcome = hour(seed, troubles, 0.1, has_rate_limit);
            assert_nothing_lost(&outcome);
            let dropped = outcome.nodes.iter().map(|node| node.packets_dropped);
            assert!(dropped.sum::<u64>() > 1_000, "seed {seed}");
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(2))]

    /// An hour with service nodes that vanish, hang, sleep and lie, sleeping machines, and a tenth of all streams
    /// broken, with and without lost packets: every message arrives in the end, once.
    #[test]
    fn an_hour_of_troubles_loses_nothing(
        seed in 0..1_000u64,
        troubles in troubles(),
        loss in prop::sample::select(vec![0.0, 0.1]),
        has_rate_limit in any::<bool>(),
    ) {
        assert_nothing_lost(&hour(seed, troubles, loss, has_rate_limit));
    }
}
