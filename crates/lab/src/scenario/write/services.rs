//! Conversion of service nodes and light clients to `[services]`.

use undertone_settings::{MS, S, TomlValue};
use undertone_sim::scenario::{
    LimitedService, RateLimits, RequestFlood, ServiceTrouble, ServicesSetup,
};

use super::network::mbit;
use super::values::{WrittenTable, count, list, named, shortest, text};
use crate::scenario::read::{FLOODED, LIGHTPUSH, TROUBLES};

pub(super) fn write(setup: &ServicesSetup) -> TomlValue {
    let mut table = WrittenTable::default();
    table.set("service_nodes", count(setup.service_nodes));
    table.set("light_clients", count(setup.light_clients));
    table.set("peers_per_client", count(setup.peers_per_client));
    if let Some(known) = setup.known_peers {
        table.set("known_peers", count(known));
    }
    table.set("metadata", TomlValue::Bool(setup.metadata));
    table.set("filter_peers", count(setup.filter_peers));
    let clients = match (setup.subscribes, setup.publish_one_in) {
        (true, 0) => "subscribe",
        (true, _) => "both",
        (false, _) => "publish",
    };
    table.set("clients", text(clients));
    if setup.publish_one_in > 0 {
        table.set("publish_one_in", count(setup.publish_one_in));
        table.set("lightpush", named(&setup.lightpush, LIGHTPUSH));
    }
    table.set("channel", TomlValue::Bool(setup.channel));
    table.set("content_topics", count(setup.content_topics));
    if setup.subscribes {
        table.set("topics_per_client", count(setup.topics_per_client));
    }
    table.set("store", TomlValue::Bool(setup.store));
    if setup.store {
        table.time("query_ms", setup.query_ns, MS);
    }
    if let Some(every_ns) = setup.read_every_ns {
        table.time("read_every_s", every_ns, S);
        table.set("page_size", count(setup.page_size));
    }
    if let Some(every_ns) = setup.sync_every_ns {
        table.time("sync_every_s", every_ns, S);
    }
    table.set("rate_limits", text(rates(&setup.rates)));
    if let Some((up, down)) = setup.client_rates {
        table.set("uplink_mbit_per_s", mbit(up));
        table.set("downlink_mbit_per_s", mbit(down));
    }
    table.set("stream_loss", shortest(setup.stream_loss));
    if let Some(every_ns) = setup.connection_lost_every_ns {
        table.time("connection_lost_every_s", every_ns, S);
    }
    if let Some(sleep) = setup.sleep {
        table.time("sleep_every_s", sleep.every_ns, S);
        table.time("sleep_s", sleep.for_ns, S);
        table.time("noticed_after_s", setup.noticed_after_ns, S);
    }
    if !setup.troubles.is_empty() {
        table.set("troubles", list(setup.troubles.iter().map(trouble)));
    }
    if let Some(flooding) = &setup.flood {
        table.set("flood", flood(flooding));
    }
    table.finish()
}

/// The limits of the simulated services, each stated.
fn rates(rates: &RateLimits) -> String {
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

fn trouble(trouble: &ServiceTrouble) -> TomlValue {
    let mut table = WrittenTable::default();
    table.set("kind", named(&trouble.kind, TROUBLES));
    table.set("peer", count(trouble.peer));
    table.time("at_s", trouble.at_ns, S);
    table.time("for_s", trouble.for_ns, S);
    table.finish()
}

fn flood(flood: &RequestFlood) -> TomlValue {
    let mut table = WrittenTable::default();
    table.set("clients", count(flood.clients));
    table.time("at_s", flood.at_ns, S);
    table.time("for_s", flood.for_ns, S);
    table.set("requests_per_s", shortest(1e9 / flood.interval_ns as f64));
    table.set("service", named(&flood.service, FLOODED));
    table.finish()
}
