//! `[relay]`: every parameter of the router, by its name in `undertone_gossip::Config`.

use toml_edit::{DocumentMut, InlineTable};
use undertone_gossip::{
    Config, Dandelion, FloodPublish, LargeMessages, Limits, PROFILES, PROTOCOLS,
};
use undertone_settings::{MS, S, SectionKey, TomlEntry, TomlValue, keys};
use undertone_sim::Scenario;
use undertone_sim::scenario::{GroupRelay, RelaySetup};

use super::key::{FieldKey, Key, Table, fields};
use super::score::{THRESHOLDS, score_params};
use super::values::text;
use crate::scenario::error::ScenarioError;
use crate::scenario::strategies;

const MAX: u64 = 1 << 30;
const MAX_DEGREE: u64 = 10_000;

const SETUP: &[FieldKey<RelaySetup>] = fields![
    whole(1, MAX): max_message_bytes;
    whole(1, 64): fragments;
    whole(1, 1_024): topics;
];

const ROUTER: &[FieldKey<Config>] = fields![
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
    variant(FLOOD): flood_publish;
    word(&strategies::all()): strategy;
];

const LARGE: &[FieldKey<LargeMessages>] = fields![
    whole(0, MAX): threshold_bytes;
    whole(1, 1_000): group;
    whole(0, 1_000): push;
    duration(MS): gap_ms = gap, iwant_delay_ms = iwant_delay, iwant_retry_ms = iwant_retry;
    whole(0, MAX): transfer_bytes;
    duration(MS): transfer_wait_ms = transfer_wait;
];

const DANDELION: &[FieldKey<Dandelion>] = fields![
    duration(S): epoch_s = epoch, embargo_mean_s = embargo_mean;
    number(0.0, 1.0): diffuser_probability;
];

const LIMITS: &[FieldKey<Limits>] = fields![
    whole(0, MAX): frame_bytes_max, topic_bytes_max, subscriptions_per_rpc_max, subscriptions_per_peer_max,
        topics_max, messages_per_rpc_max, control_entries_per_rpc_max, ids_per_rpc_max,
        unknown_fields_per_rpc_max, empty_frames_per_heartbeat_max, px_peers_per_prune_max,
        px_record_bytes_max, seen_max, cache_bytes_max, pending_max, pending_bytes_max,
        idontwant_ids_per_heartbeat_max, ihave_messages_per_heartbeat_max, announcements_per_heartbeat_max,
        iwant_ids_per_heartbeat_max, iwant_ids_of_dubious_per_heartbeat_max, holders_per_id_max,
        iwant_answer_bytes_max, iwant_bytes_per_heartbeat_max, iwant_unknown_message_bytes,
        cancellable_per_peer_max, delayed_messages_max, promises_max, retained_peers_max, backoffs_max, control_frame_bytes_max,
        prune_backoff_s_max, stem_messages_max, stem_bytes_max;
];

/// How a node's own messages are flooded; nim-libp2p assumes an uplink of 100 Mbit/s.
const FLOOD: &[(&str, FloodPublish)] = &[
    ("off", FloodPublish::Off),
    ("on", FloodPublish::On),
    (
        "bounded-by-rate",
        FloodPublish::BoundedByRate {
            rate_bytes_per_ms: 12_500,
        },
    ),
];

/// Keys of the table that are not parameters of the router, each with what a node has instead.
const NOT_OF_ROUTER: &[(&str, &str)] = &[
    ("protocol", "a node has the flag --protocols"),
    (
        "max_message_bytes",
        "a node has the flag --max-message-bytes",
    ),
    ("topics", "a node has the flag --shards"),
    ("topics_per_node", "a node has the flag --shards"),
    ("fragments", "a node has the flag --gossip-fragment-bytes"),
];

/// Keys of the table that are the same for all groups of nodes.
const SHARED: &[(&str, &str)] = &[
    ("max_message_bytes", "[relay] sets it for all nodes"),
    ("topics", "[relay] sets it for all nodes"),
    ("topics_per_node", "[relay] sets it for all nodes"),
    ("fragments", "[relay] sets it for all nodes"),
];

/// Reads or writes the table `[relay]` of a scenario.
pub(super) fn relay(key: Key<'_>, setup: &mut RelaySetup) -> Result<(), ScenarioError> {
    key.table(|table| relay_without(table, &[], setup))
}

/// Reads or writes the table `[groups.relay]` of a group. What it does not set is as in `[relay]`.
pub(super) fn group_relay(
    key: Key<'_>,
    of_all: &RelaySetup,
    own: &mut Option<GroupRelay>,
) -> Result<(), ScenarioError> {
    if !key.is_set() && own.is_none() {
        return Ok(());
    }
    let mut setup = of_all.clone();
    if let Some(own) = own {
        setup.protocol.clone_from(&own.protocol);
        setup.gossip.clone_from(&own.gossip);
    }
    key.table(|table| relay_without(table, SHARED, &mut setup))?;
    *own = Some(GroupRelay {
        protocol: setup.protocol,
        gossip: setup.gossip,
    });
    Ok(())
}

/// Reads router parameters from a file that has nothing else.
pub(super) fn read_parameters(key: Key<'_>) -> Result<Config, ScenarioError> {
    let key = key.required("a table [relay] of keys")?;
    let mut setup = Scenario::plain(2).relay;
    key.table(|table| relay_without(table, NOT_OF_ROUTER, &mut setup))?;
    Ok(setup.gossip)
}

/// Reads or writes the table, and refuses the keys of `refused`.
fn relay_without(
    table: &Table<'_>,
    refused: &[(&'static str, &str)],
    setup: &mut RelaySetup,
) -> Result<(), ScenarioError> {
    keys!(table, SETUP, ROUTER => base, profile, protocol, topics_per_node, large, dandelion, flood_publish_bytes_per_ms, idontwant,
          idontwant_threshold_bytes, thresholds, score, limits);
    for (name, elsewhere) in refused {
        let key = table.key(name);
        let expected = format!("no such key here: {elsewhere}");
        key.refuse_if(key.is_set(), expected)?;
    }
    let mut is_waku = true;
    let bases = [("waku", true), ("libp2p", false)];
    base.both(&mut is_waku, |key| key.word(&bases), |_| None)?;
    if !is_waku {
        setup.gossip = Config::libp2p();
        "/meshsub/1.2.0".clone_into(&mut setup.protocol);
    }
    let config = &mut setup.gossip;
    let name = config.policy.profile;
    let profiles: Vec<_> = PROFILES
        .iter()
        .map(|known| (known.name, Some(known)))
        .collect();
    let mut rules = None;
    profile.both(&mut rules, |key| key.word(&profiles), |_| Some(text(name)))?;
    if let Some(rules) = rules {
        rules.apply(config, is_waku);
    }
    table.fill(ROUTER, config)?;
    if let FloodPublish::BoundedByRate { rate_bytes_per_ms } = &mut config.flood_publish {
        flood_publish_bytes_per_ms.whole(1, MAX, rate_bytes_per_ms)?;
    }
    let threshold_bytes = &mut config.idontwant_threshold_bytes;
    let mut is_on = table.is_read() || *threshold_bytes != usize::MAX;
    let read = |key: SectionKey<'_>| key.flag();
    idontwant.both(&mut is_on, read, |is_on| {
        (!is_on).then_some(TomlValue::Bool(false))
    })?;
    match is_on {
        true => idontwant_threshold_bytes.whole(0, MAX, threshold_bytes)?,
        false => *threshold_bytes = usize::MAX,
    }
    thresholds.fields(THRESHOLDS, &mut config.thresholds)?;
    score.table(|table| score_params(table, &mut config.score))?;
    large.fields(LARGE, &mut config.large)?;
    dandelion.fields(DANDELION, &mut config.dandelion)?;
    limits.fields(LIMITS, &mut config.limits)?;
    let ids: Vec<_> = PROTOCOLS
        .iter()
        .map(|known| (known.id, known.id.to_owned()))
        .collect();
    protocol.word(&ids, &mut setup.protocol)?;
    if refused.is_empty() {
        table.fill(SETUP, setup)?;
        topics_per_node.some(&mut setup.topics_per_node, 0, |key, topics| {
            key.whole(1, 1_024, topics)
        })?;
    }
    table.check_all_read("relay.flood_publish or relay.idontwant says otherwise")?;
    let Table::Read(section) = table else {
        return Ok(());
    };
    let validated = setup.gossip.validate();
    validated.map_err(|source| ScenarioError::Relay {
        origin: section.origin().clone(),
        source,
    })
}

/// The keys of the table that [`read_parameters`] accepts, as text.
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
