//! `[services]`: service nodes and light clients. Without the table all nodes are relays.

use undertone_settings::{Error, MS, S, TomlEntry, keys};
use undertone_sim::scenario::{
    ClientSleep, FloodedService, LimitedService, PushVersion, RateLimits, RequestFlood,
    ServiceTrouble, ServicesSetup, TroubleKind,
};

use super::key::{FieldKey, Key, Table, fields};
use super::places::rate;
use super::values::{shortest, text};

/// Maximum number of light clients.
const MAX_CLIENTS: u64 = 1_000_000;
/// Maximum number of content topics.
const MAX_TOPICS: u64 = 10_000;
/// Default number of service nodes with which a client keeps each subscription (LIP p2p-reliability).
const DEFAULT_FILTER_PEERS: u32 = 2;
/// By default, one in this many messages is published by a light client.
const DEFAULT_PUBLISH_ONE_IN: u32 = 2;

/// Work of the light clients: whether they subscribe, and whether they publish.
const CLIENTS: &[(&str, (bool, bool))] = &[
    ("subscribe", (true, false)),
    ("publish", (false, true)),
    ("both", (true, true)),
];

const LIGHTPUSH: &[(&str, PushVersion)] = &[("v2", PushVersion::V2), ("v3", PushVersion::V3)];

const TROUBLES: &[(&str, TroubleKind)] = &[
    ("gone", TroubleKind::Gone),
    ("hangs", TroubleKind::Hangs),
    ("mute", TroubleKind::Mute),
    ("lies", TroubleKind::Lies),
    ("other-cluster", TroubleKind::OtherCluster),
];

const FLOODED: &[(&str, Option<FloodedService>)] = &[
    ("all", None),
    ("store", Some(FloodedService::Store)),
    ("filter", Some(FloodedService::Filter)),
    ("lightpush", Some(FloodedService::Lightpush)),
];

const SETUP: &[FieldKey<ServicesSetup>] = fields![
    flag(): metadata, channel, store;
    whole(1, MAX_TOPICS): content_topics;
    number(0.0, 1.0): stream_loss;
];

pub(super) fn services(
    key: Key<'_>,
    services: &mut Option<ServicesSetup>,
    nodes: u32,
) -> Result<(), Error> {
    key.some(services, ServicesSetup::new(1, 0), |key, services| {
        key.table(|table| setup(table, services, nodes))
    })
}

fn setup(table: &Table<'_>, setup: &mut ServicesSetup, nodes: u32) -> Result<(), Error> {
    keys!(table, SETUP => service_nodes, light_clients, clients_per_service_node, peers_per_client, known_peers,
          filter_peers, clients, publish_one_in, lightpush, topics_per_client, query_ms, read_every_s, page_size,
          sync_every_s, rate_limits, uplink_mbit_per_s, downlink_mbit_per_s, connection_lost_every_s, sleep_every_s, sleep_s,
          noticed_after_s, troubles, flood);
    let most = u64::from(nodes);
    let expected = format!("a number of nodes, 1 to {most}");
    service_nodes
        .required(expected)?
        .whole(1, most, &mut setup.service_nodes)?;
    if clients_per_service_node.is_set() && !light_clients.is_set() {
        let most = MAX_CLIENTS / u64::from(setup.service_nodes);
        clients_per_service_node.whole(1, most, &mut setup.light_clients)?;
        setup.light_clients *= setup.service_nodes;
    } else {
        light_clients
            .required("a number of light clients, here or as clients_per_service_node")?
            .whole(1, MAX_CLIENTS, &mut setup.light_clients)?;
    }
    if table.is_read() {
        *setup = ServicesSetup::new(setup.service_nodes, setup.light_clients);
    }
    let most = u64::from(setup.service_nodes);
    peers_per_client.whole(1, most, &mut setup.peers_per_client)?;
    let most = u64::from(setup.peers_per_client);
    known_peers.some(&mut setup.known_peers, 0, |key, known| {
        key.whole(1, most, known)
    })?;
    if table.is_read() {
        setup.filter_peers = DEFAULT_FILTER_PEERS.min(setup.peers_per_client);
    }
    filter_peers.whole(1, most, &mut setup.filter_peers)?;
    table.fill(SETUP, setup)?;
    let mut work = (setup.subscribes, setup.publish_one_in > 0);
    clients.word(CLIENTS, &mut work)?;
    let (subscribes, publishes) = work;
    setup.subscribes = subscribes;
    if table.is_read() {
        // Only members write to a channel.
        setup.publish_one_in = match (publishes, setup.channel) {
            (false, _) => 0,
            (true, true) => 1,
            (true, false) => DEFAULT_PUBLISH_ONE_IN,
        };
    }
    if publishes {
        publish_one_in.whole(1, MAX_CLIENTS, &mut setup.publish_one_in)?;
        lightpush.word(LIGHTPUSH, &mut setup.lightpush)?;
    }
    if subscribes {
        let most = u64::from(setup.content_topics);
        topics_per_client.whole(1, most, &mut setup.topics_per_client)?;
    }
    if setup.store {
        query_ms.time(MS, &mut setup.query_ns)?;
        read_every_s.some(&mut setup.read_every_ns, 0, positive_time)?;
        sync_every_s.some(&mut setup.sync_every_ns, 0, positive_time)?;
    }
    if setup.read_every_ns.is_some() {
        page_size.whole(1, 100, &mut setup.page_size)?;
    }
    rate_limits.both(
        &mut setup.rates,
        |key| {
            let expected = || "limits such as \"store:100/1m;filter:30/1m\"".to_owned();
            let rates = |entry: &TomlEntry| entry.as_text()?.parse().ok();
            key.read(rates, expected)
        },
        |rates| Some(text(written_rates(rates))),
    )?;
    if uplink_mbit_per_s.is_set() || downlink_mbit_per_s.is_set() || setup.client_rates.is_some() {
        let (up, down) = setup.client_rates.get_or_insert_default();
        for (key, bytes_per_s) in [(uplink_mbit_per_s, up), (downlink_mbit_per_s, down)] {
            rate(key.required("a rate in megabits per second")?, bytes_per_s)?;
        }
    }
    let lost_every_ns = &mut setup.connection_lost_every_ns;
    connection_lost_every_s.some(lost_every_ns, 0, positive_time)?;
    let initial = ClientSleep {
        every_ns: 0,
        for_ns: 0,
    };
    sleep_every_s.some(&mut setup.sleep, initial, |key, sleep| {
        positive_time(key, &mut sleep.every_ns)?;
        let sleep_s = sleep_s.required("seconds that a client sleeps")?;
        sleep_s.time(S, &mut sleep.for_ns)?;
        noticed_after_s.time(S, &mut setup.noticed_after_ns)
    })?;
    let (service_nodes, light_clients) = (setup.service_nodes, setup.light_clients);
    let initial = ServiceTrouble {
        peer: 0,
        at_ns: 0,
        for_ns: 0,
        kind: TroubleKind::Gone,
    };
    troubles.each(&mut setup.troubles, &initial, |table, one| {
        trouble(table, one, service_nodes)
    })?;
    let initial = RequestFlood {
        clients: 0,
        at_ns: 0,
        for_ns: 0,
        interval_ns: 0,
        service: None,
    };
    flood.some(&mut setup.flood, initial, |key, flood| {
        key.table(|table| request_flood(table, flood, light_clients))
    })?;
    table.check_all_read("another key of [services] that is not set would use it")
}

/// A time above zero, nanoseconds.
fn positive_time(key: Key<'_>, ns: &mut u64) -> Result<(), Error> {
    key.time(S, ns)?;
    key.refuse_if(*ns == 0, "seconds, more than 0")
}

/// The limits of the simulated services as text, with unlimited ones stated, too.
fn written_rates(rates: &RateLimits) -> String {
    let limits = [
        ("store", LimitedService::Store),
        ("lightpush", LimitedService::Lightpush),
        ("filter", LimitedService::Filter),
    ];
    let item = |(name, service)| {
        let limit = rates.of(service);
        match limit.is_unlimited() {
            true => format!("{name}:0/1s"),
            false => format!("{name}:{limit}"),
        }
    };
    limits.map(item).join(";")
}

/// Reads or writes the start and the duration of an event.
fn times(at_s: Key<'_>, at_ns: &mut u64, for_s: Key<'_>, for_ns: &mut u64) -> Result<(), Error> {
    let at_s = at_s.required("seconds from the start of the run")?;
    at_s.time(S, at_ns)?;
    let for_s = for_s.required("seconds that it lasts")?;
    for_s.time(S, for_ns)
}

fn trouble(
    table: &Table<'_>,
    trouble: &mut ServiceTrouble,
    service_nodes: u32,
) -> Result<(), Error> {
    keys!(table => kind, peer, at_s, for_s);
    kind.required_word(TROUBLES)?
        .word(TROUBLES, &mut trouble.kind)?;
    let last = u64::from(service_nodes) - 1;
    peer.required(format!("a service node, 0 to {last}"))?
        .whole(0, last, &mut trouble.peer)?;
    times(at_s, &mut trouble.at_ns, for_s, &mut trouble.for_ns)
}

fn request_flood(
    table: &Table<'_>,
    flood: &mut RequestFlood,
    light_clients: u32,
) -> Result<(), Error> {
    keys!(table => clients, at_s, for_s, requests_per_s, service);
    requests_per_s
        .required("requests of a client in a second")?
        .both(
            &mut flood.interval_ns,
            |key| {
                let rate = key.number(0.001, 1e6)?;
                Ok::<_, Error>(rate.map(|rate| (1e9 / rate).round() as u64))
            },
            |interval_ns| Some(shortest(1e9 / *interval_ns as f64)),
        )?;
    let most = u64::from(light_clients).saturating_sub(1).max(1);
    clients
        .required(format!("a number of light clients, 1 to {most}"))?
        .whole(1, most, &mut flood.clients)?;
    times(at_s, &mut flood.at_ns, for_s, &mut flood.for_ns)?;
    service.word(FLOODED, &mut flood.service)
}
