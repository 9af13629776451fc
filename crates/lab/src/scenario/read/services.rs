//! TreeReader of `[services]`: service nodes and light clients. Without the table all nodes are relays.

use undertone_settings::{Error, MS, S, Section, SectionKey, TomlEntry, keys};
use undertone_sim::scenario::{
    ClientSleep, FloodedService, PushVersion, RequestFlood, ServiceTrouble, ServicesSetup,
    TroubleKind,
};

use super::places::{BYTES_PER_MBIT, MAX_MBIT};

/// Most light clients that the reader accepts.
const MAX_CLIENTS: u64 = 1_000_000;
/// Most content topics.
const MAX_TOPICS: u64 = 10_000;
/// Service nodes that a client knows, unless the file says: as many as fail one after another in a bad hour.
const DEFAULT_PEERS: u32 = 4;
/// Service nodes with which a client keeps each subscription, unless the file says (LIP p2p-reliability).
const DEFAULT_FILTER_PEERS: u32 = 2;
/// One in so many messages is published by a light client, unless the file says.
const DEFAULT_PUBLISH_ONE_IN: u32 = 2;
/// Messages on a page, unless the file says (nwaku).
const DEFAULT_PAGE_SIZE: u32 = 20;

/// Work of the light clients.
#[derive(Clone, Copy, PartialEq, Eq)]
enum ClientsName {
    Subscribe,
    Publish,
    Both,
}

const CLIENTS: &[(&str, ClientsName)] = &[
    ("subscribe", ClientsName::Subscribe),
    ("publish", ClientsName::Publish),
    ("both", ClientsName::Both),
];

pub(in crate::scenario) const LIGHTPUSH: &[(&str, PushVersion)] =
    &[("v2", PushVersion::V2), ("v3", PushVersion::V3)];

pub(in crate::scenario) const TROUBLES: &[(&str, TroubleKind)] = &[
    ("gone", TroubleKind::Gone),
    ("hangs", TroubleKind::Hangs),
    ("mute", TroubleKind::Mute),
    ("lies", TroubleKind::Lies),
    ("other-cluster", TroubleKind::OtherCluster),
];

pub(in crate::scenario) const FLOODED: &[(&str, Option<FloodedService>)] = &[
    ("all", None),
    ("store", Some(FloodedService::Store)),
    ("filter", Some(FloodedService::Filter)),
    ("lightpush", Some(FloodedService::Lightpush)),
];

pub(super) fn read(services: SectionKey<'_>, nodes: u32) -> Result<Option<ServicesSetup>, Error> {
    let section = services.table()?;
    keys!(section => service_nodes, light_clients, clients_per_service_node, peers_per_client, known_peers, metadata,
          filter_peers, clients, publish_one_in, lightpush, channel, content_topics, topics_per_client, store, query_ms,
          read_every_s, page_size, sync_every_s, rate_limits, uplink_mbit_per_s, downlink_mbit_per_s, stream_loss,
          connection_lost_every_s, sleep_every_s, sleep_s, noticed_after_s, troubles, flood);
    if !section.is_present() {
        return Ok(None);
    }
    let most = u64::from(nodes);
    let service_nodes: u32 = service_nodes
        .whole(1, most)?
        .ok_or_else(|| service_nodes.bad(format!("a number of nodes, 1 to {most}")))?;
    let count = clients_of(light_clients, clients_per_service_node, service_nodes)?;
    let mut setup = ServicesSetup::new(service_nodes, count);
    let known = peers_per_client.whole(1, u64::from(service_nodes))?;
    setup.peers_per_client = known.unwrap_or(DEFAULT_PEERS.min(service_nodes));
    setup.known_peers = known_peers.whole(1, u64::from(setup.peers_per_client))?;
    setup.metadata = metadata.flag()?.unwrap_or(false);
    let used = filter_peers.whole(1, u64::from(setup.peers_per_client))?;
    setup.filter_peers = used.unwrap_or(DEFAULT_FILTER_PEERS.min(setup.peers_per_client));
    let work = clients.word(CLIENTS)?.unwrap_or(ClientsName::Both);
    setup.subscribes = work != ClientsName::Publish;
    setup.channel = channel.flag()?.unwrap_or(false);
    setup.publish_one_in = 0;
    if work != ClientsName::Subscribe {
        let one_in = publish_one_in.whole(1, MAX_CLIENTS)?;
        // Only members write to a channel.
        let default = if setup.channel {
            1
        } else {
            DEFAULT_PUBLISH_ONE_IN
        };
        setup.publish_one_in = one_in.unwrap_or(default);
        setup.lightpush = lightpush.word(LIGHTPUSH)?.unwrap_or(setup.lightpush);
    }
    setup.content_topics = content_topics.whole(1, MAX_TOPICS)?.unwrap_or(1);
    if setup.subscribes {
        let wanted = topics_per_client.whole(1, u64::from(setup.content_topics))?;
        setup.topics_per_client = wanted.unwrap_or(1);
    }
    setup.store = store.flag()?.unwrap_or(true);
    if setup.store {
        setup.query_ns = query_ms.time(MS)?.unwrap_or(setup.query_ns);
        setup.read_every_ns = positive_time(read_every_s)?;
        setup.sync_every_ns = positive_time(sync_every_s)?;
    }
    if setup.read_every_ns.is_some() {
        setup.page_size = page_size.whole(1, 100)?.unwrap_or(DEFAULT_PAGE_SIZE);
    }
    let rates = |entry: &TomlEntry| entry.as_text()?.parse().ok();
    let expected = || "limits such as \"store:100/1m;filter:30/1m\"".to_owned();
    setup.rates = rate_limits.read(rates, expected)?.unwrap_or(setup.rates);
    setup.client_rates = client_rates(uplink_mbit_per_s, downlink_mbit_per_s)?;
    setup.stream_loss = stream_loss.number(0.0, 1.0)?.unwrap_or(0.0);
    setup.connection_lost_every_ns = positive_time(connection_lost_every_s)?;
    if let Some(every_ns) = positive_time(sleep_every_s)? {
        let for_ns = sleep_s.time(S)?;
        let for_ns = for_ns.ok_or_else(|| sleep_s.bad("seconds that a client sleeps"))?;
        setup.sleep = Some(ClientSleep { every_ns, for_ns });
        let noticed_ns = noticed_after_s.time(S)?;
        setup.noticed_after_ns = noticed_ns.unwrap_or(setup.noticed_after_ns);
    }
    let troubles = troubles.array_of_tables()?;
    let troubles = troubles
        .iter()
        .map(|section| trouble(section, service_nodes));
    setup.troubles = troubles.collect::<Result<_, _>>()?;
    setup.flood = read_flood(flood, count)?;
    section.check_all_read("another key of [services] that is not set would use it")?;
    Ok(Some(setup))
}

/// Number of light clients, stated as such or for each service node.
fn clients_of(
    light_clients: SectionKey<'_>,
    clients_per_service_node: SectionKey<'_>,
    service_nodes: u32,
) -> Result<u32, Error> {
    if let Some(clients) = light_clients.whole(1, MAX_CLIENTS)? {
        return Ok(clients);
    }
    let most = MAX_CLIENTS / u64::from(service_nodes);
    let each: Option<u32> = clients_per_service_node.whole(1, most)?;
    let each = each.ok_or_else(|| {
        let expected = "a number of light clients, here or as clients_per_service_node";
        light_clients.bad(expected)
    })?;
    Ok(each * service_nodes)
}

/// A time above zero, nanoseconds.
fn positive_time(key: SectionKey<'_>) -> Result<Option<u64>, Error> {
    match key.time(S)? {
        Some(0) => Err(key.bad("seconds, more than 0")),
        time => Ok(time),
    }
}

fn client_rates(
    uplink: SectionKey<'_>,
    downlink: SectionKey<'_>,
) -> Result<Option<(u64, u64)>, Error> {
    let rate = |key: SectionKey<'_>| {
        let mbit = key.number(0.001, MAX_MBIT)?;
        let mbit = mbit.ok_or_else(|| key.bad("a rate in megabits per second"))?;
        Ok::<_, Error>((mbit * BYTES_PER_MBIT).round() as u64)
    };
    if !uplink.is_set() && !downlink.is_set() {
        return Ok(None);
    }
    Ok(Some((rate(uplink)?, rate(downlink)?)))
}

fn trouble(section: &Section<'_>, service_nodes: u32) -> Result<ServiceTrouble, Error> {
    keys!(section => kind, peer, at_s, for_s);
    let time = |key: SectionKey<'_>, what: &str| {
        let time = key.time(S)?;
        time.ok_or_else(|| key.bad(what))
    };
    let last = u64::from(service_nodes) - 1;
    Ok(ServiceTrouble {
        kind: kind.required_word(TROUBLES)?,
        peer: peer
            .whole(0, last)?
            .ok_or_else(|| peer.bad(format!("a service node, 0 to {last}")))?,
        at_ns: time(at_s, "seconds from the start of the run")?,
        for_ns: time(for_s, "seconds that it lasts")?,
    })
}

fn read_flood(flood: SectionKey<'_>, light_clients: u32) -> Result<Option<RequestFlood>, Error> {
    let section = flood.table()?;
    keys!(section => clients, at_s, for_s, requests_per_s, service);
    if !section.is_present() {
        return Ok(None);
    }
    let time = |key: SectionKey<'_>, what: &str| {
        let time = key.time(S)?;
        time.ok_or_else(|| key.bad(what))
    };
    let most = u64::from(light_clients).saturating_sub(1).max(1);
    let rate = requests_per_s.number(0.001, 1e6)?;
    let rate = rate.ok_or_else(|| requests_per_s.bad("requests of a client in a second"))?;
    Ok(Some(RequestFlood {
        clients: clients
            .whole(1, most)?
            .ok_or_else(|| clients.bad(format!("a number of light clients, 1 to {most}")))?,
        at_ns: time(at_s, "seconds from the start of the run")?,
        for_ns: time(for_s, "seconds that it lasts")?,
        interval_ns: (1e9 / rate).round() as u64,
        service: service.word(FLOODED)?.unwrap_or(None),
    }))
}
