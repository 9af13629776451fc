//! TreeReader of `[relay]`: every parameter of the router, by its name in `undertone_gossip::Config`.

use toml_edit::{DocumentMut, InlineTable};
use undertone_gossip::{Config, FloodPublish, LargeMessages, Limits, PROFILES, PROTOCOLS};
use undertone_settings::{Error, MS, S, SectionKey, TomlEntry, keys};
use undertone_sim::scenario::RelaySetup;

use super::key_table::{KeyTable, key_table};
use super::score::{read_score, read_thresholds};
use crate::scenario::error::ScenarioError;
use crate::scenario::strategies;

/// Uplink rate that nim-libp2p assumes: 100 Mbit/s.
const DEFAULT_FLOOD_BYTES_PER_MS: usize = 12_500;
/// Waku's limit for the size of a message.
const DEFAULT_MAX_MESSAGE_BYTES: usize = 150 << 10;
const MAX: u64 = 1 << 30;
const MAX_DEGREE: u64 = 10_000;

pub(in crate::scenario) const ROUTER: KeyTable<Config> = key_table![
    whole(0, MAX_DEGREE): d = degrees.d, d_low = degrees.d_low, d_high = degrees.d_high,
        d_score = degrees.d_score, d_out = degrees.d_out, d_lazy = degrees.d_lazy;
    duration(MS): heartbeat_ms = heartbeat, flood_interval_ms = flood_interval,
        heartbeat_delay_ms = heartbeat_delay, iwant_give_up_dubious_ms = iwant_give_up_dubious;
    duration(S): fanout_ttl_s = fanout_ttl, seen_ttl_s = seen_ttl, prune_backoff_s = prune_backoff,
        unsubscribe_backoff_s = unsubscribe_backoff, backoff_slack_s = backoff_slack,
        graft_flood_threshold_s = graft_flood_threshold, iwant_give_up_s = iwant_give_up,
        iwant_followup_s = iwant_followup;
    number(0.0, 1.0): gossip_factor;
    whole(0, 1_000): history_length, history_gossip, opportunistic_graft_peers, iwant_in_flight_max,
        iwant_in_flight_retry_max, peer_exchange_peers;
    whole(0, MAX): opportunistic_graft_heartbeats, idontwant_ttl_heartbeats;
    whole(1, MAX): broken_promises_habit;
    whole(0, 255): gossip_retransmissions;
    flag(): peer_exchange, disconnect_graylisted;
];

pub(in crate::scenario) const LARGE: KeyTable<LargeMessages> = key_table![
    whole(0, MAX): threshold_bytes;
    whole(1, 1_000): group;
    whole(0, 1_000): push;
    duration(MS): gap_ms = gap, iwant_delay_ms = iwant_delay, iwant_retry_ms = iwant_retry;
    whole(0, MAX): transfer_bytes;
    duration(MS): transfer_wait_ms = transfer_wait;
];

pub(in crate::scenario) const LIMITS: KeyTable<Limits> = key_table![
    whole(0, MAX): frame_bytes_max, topic_bytes_max, subscriptions_per_rpc_max, subscriptions_per_peer_max,
        topics_max, messages_per_rpc_max, control_entries_per_rpc_max, ids_per_rpc_max,
        unknown_fields_per_rpc_max, empty_frames_per_heartbeat_max, px_peers_per_prune_max,
        px_record_bytes_max, seen_max, cache_bytes_max, pending_max, pending_bytes_max,
        idontwant_ids_per_heartbeat_max, ihave_messages_per_heartbeat_max, announcements_per_heartbeat_max,
        iwant_ids_per_heartbeat_max, iwant_ids_of_dubious_per_heartbeat_max, holders_per_id_max,
        iwant_answer_bytes_max, iwant_bytes_per_heartbeat_max, iwant_unknown_message_bytes,
        cancellable_per_peer_max, delayed_messages_max, promises_max, retained_peers_max, backoffs_max, control_frame_bytes_max,
        prune_backoff_s_max;
];

#[derive(Clone, Copy)]
enum FloodName {
    Off,
    On,
    Bounded,
}

const FLOOD: &[(&str, FloodName)] = &[
    ("off", FloodName::Off),
    ("on", FloodName::On),
    ("bounded-by-rate", FloodName::Bounded),
];

/// Keys of the table that are not parameters of the router, each with the corresponding flag of a node.
const NOT_OF_ROUTER: &[(&str, &str)] = &[
    ("protocol", "--protocols"),
    ("max_message_bytes", "--max-message-bytes"),
    ("topics", "--shards"),
    ("topics_per_node", "--shards"),
    ("fragments", "--gossip-fragment-bytes"),
];

/// Reads the table of a scenario.
pub(super) fn read(relay: SectionKey<'_>) -> Result<RelaySetup, ScenarioError> {
    read_without(relay, &[])
}

/// Reads the parameters of a router from a file of their own.
pub(super) fn parameters(relay: SectionKey<'_>) -> Result<Config, ScenarioError> {
    if !relay.is_set() {
        return Err(relay.bad("a table [relay] of keys").into());
    }
    Ok(read_without(relay, NOT_OF_ROUTER)?.gossip)
}

/// Reads the table, in which the keys of `refused` must not stand.
fn read_without(
    relay: SectionKey<'_>,
    refused: &[(&'static str, &str)],
) -> Result<RelaySetup, ScenarioError> {
    let section = relay.table()?;
    keys!(section, ROUTER.read => base, profile, protocol, strategy, max_message_bytes, topics, topics_per_node,
          fragments, large, flood_publish,
          flood_publish_bytes_per_ms, idontwant, idontwant_threshold_bytes, thresholds, score, limits);
    for (name, flag) in refused {
        let key = section.key(name);
        if key.is_set() {
            let expected = format!("no such key here: a node has the flag {flag}");
            return Err(key.bad(expected).into());
        }
    }
    let is_waku = base.word(&[("waku", true), ("libp2p", false)])?;
    let (mut config, default_protocol) = if is_waku.unwrap_or(true) {
        (Config::waku(), "/vac/waku/relay/2.0.0")
    } else {
        (Config::libp2p(), "/meshsub/1.2.0")
    };
    let profiles: Vec<_> = PROFILES.iter().map(|known| (known.name, known)).collect();
    if let Some(profile) = profile.word(&profiles)? {
        profile.apply(&mut config, is_waku.unwrap_or(true));
    }
    section.fill(ROUTER.read, &mut config)?;
    let known = strategies::all();
    let words: Vec<_> = known.iter().map(|(name, choice)| (*name, choice)).collect();
    if let Some(choice) = strategy.word(&words)? {
        config.strategy = choice.clone();
    }
    let rate = flood_publish_bytes_per_ms;
    read_flood_publish(flood_publish, rate, &mut config.flood_publish)?;
    if idontwant.flag()? == Some(false) {
        config.idontwant_threshold_bytes = usize::MAX;
    } else if let Some(bytes) = idontwant_threshold_bytes.whole(0, MAX)? {
        config.idontwant_threshold_bytes = bytes;
    }
    read_thresholds(thresholds, &mut config.thresholds)?;
    read_score(score, &mut config.score)?;
    let large = large.table()?;
    keys!(large, LARGE.read =>);
    large.fill(LARGE.read, &mut config.large)?;
    let limits = limits.table()?;
    keys!(limits, LIMITS.read =>);
    limits.fill(LIMITS.read, &mut config.limits)?;
    let protocols: Vec<_> = PROTOCOLS.iter().map(|known| (known.id, known.id)).collect();
    let protocol = protocol.word(&protocols)?.unwrap_or(default_protocol);
    let setup = RelaySetup {
        protocol: protocol.to_owned(),
        max_message_bytes: max_message_bytes
            .whole(1, MAX)?
            .unwrap_or(DEFAULT_MAX_MESSAGE_BYTES),
        fragments: fragments.whole(1, 64)?.unwrap_or(1),
        topics: topics.whole(1, 1_024)?.unwrap_or(1),
        topics_per_node: topics_per_node.whole(1, 1_024)?,
        gossip: config,
    };
    section.check_all_read("relay.flood_publish or relay.idontwant says otherwise")?;
    setup
        .gossip
        .validate()
        .map_err(|source| ScenarioError::Relay {
            origin: section.origin().clone(),
            source,
        })?;
    Ok(setup)
}

/// The keys of the table that [`parameters`] reads, as text.
pub(super) fn parameters_text(relay: Option<&TomlEntry>) -> String {
    let mut text = DocumentMut::new();
    let mut table = InlineTable::new();
    for (key, entry) in relay.and_then(TomlEntry::as_table).into_iter().flatten() {
        if NOT_OF_ROUTER.iter().all(|(other, _)| key != other) {
            table.insert(key, entry.value.to_toml());
        }
    }
    text.insert("relay", toml_edit::value(table));
    text.to_string()
}

fn read_flood_publish(
    flood_publish: SectionKey<'_>,
    flood_publish_bytes_per_ms: SectionKey<'_>,
    target: &mut FloodPublish,
) -> Result<(), Error> {
    match flood_publish.word(FLOOD)? {
        Some(FloodName::Off) => *target = FloodPublish::Off,
        Some(FloodName::On) => *target = FloodPublish::On,
        Some(FloodName::Bounded) => {
            *target = FloodPublish::BoundedByRate {
                rate_bytes_per_ms: DEFAULT_FLOOD_BYTES_PER_MS,
            };
        }
        None => {}
    }
    if let FloodPublish::BoundedByRate { rate_bytes_per_ms } = target
        && let Some(rate) = flood_publish_bytes_per_ms.whole(1, MAX)?
    {
        *rate_bytes_per_ms = rate;
    }
    Ok(())
}
