//! Reader of `[relay]`: every parameter of the router, by its name in `undertone_gossip::Config`.

use toml_edit::{DocumentMut, InlineTable};
use undertone_gossip::{Config, LargeMessages, Limits, PROTOCOLS};
use undertone_gossip::{FloodPublish, StrategyKind};
use undertone_sim::scenario::RelaySetup;

use super::super::ScenarioError;
use super::super::section::{MS, S, Section};
use super::super::tree::{Entry, Value};
use super::score;

const KEYS: &[&str] = &[
    "base",
    "protocol",
    "max_message_bytes",
    "topics",
    "fragments",
    "strategy",
    "flood_interval_ms",
    "large",
    "d",
    "d_low",
    "d_high",
    "d_score",
    "d_out",
    "d_lazy",
    "heartbeat_ms",
    "heartbeat_delay_ms",
    "gossip_factor",
    "history_length",
    "history_gossip",
    "fanout_ttl_s",
    "seen_ttl_s",
    "prune_backoff_s",
    "unsubscribe_backoff_s",
    "backoff_slack_s",
    "graft_flood_threshold_s",
    "flood_publish",
    "flood_publish_bytes_per_ms",
    "opportunistic_graft_heartbeats",
    "opportunistic_graft_peers",
    "iwant_give_up_s",
    "iwant_followup_s",
    "gossip_retransmissions",
    "iwant_in_flight_max",
    "iwant_in_flight_retry_max",
    "iwant_give_up_dubious_ms",
    "broken_promises_habit",
    "idontwant",
    "idontwant_threshold_bytes",
    "idontwant_ttl_heartbeats",
    "peer_exchange",
    "peer_exchange_peers",
    "disconnect_graylisted",
    "thresholds",
    "score",
    "limits",
];

const LARGE: &[&str] = &[
    "threshold_bytes",
    "group",
    "gap_ms",
    "push",
    "iwant_delay_ms",
    "iwant_retry_ms",
    "transfer_bytes",
    "transfer_wait_ms",
];

/// Uplink rate that nim-libp2p assumes: 100 Mbit/s.
const DEFAULT_FLOOD_BYTES_PER_MS: usize = 12_500;
/// Waku's limit for the size of a message.
const DEFAULT_MAX_MESSAGE_BYTES: usize = 150 << 10;
const MAX: u64 = 1 << 30;

#[derive(Clone, Copy)]
enum Flood {
    Off,
    On,
    Bounded,
}

pub(super) fn read(root: &Section<'_>) -> Result<RelaySetup, ScenarioError> {
    let section = root.below("relay", KEYS)?;
    let is_waku = section
        .word("base", &[("waku", true), ("libp2p", false)])?
        .unwrap_or(true);
    let mut config = if is_waku {
        Config::waku()
    } else {
        Config::libp2p()
    };
    degrees(&section, &mut config)?;
    times(&section, &mut config)?;
    counts(&section, &mut config)?;
    flood_publish(&section, &mut config)?;
    idontwant(&section, &mut config)?;
    score::thresholds(&section, &mut config.thresholds)?;
    score::score(&section, &mut config.score)?;
    large(&section, &mut config.large)?;
    limits(&section, &mut config.limits)?;
    let setup = RelaySetup {
        protocol: protocol(&section, is_waku)?,
        max_message_bytes: section
            .whole("max_message_bytes", 1, MAX)?
            .unwrap_or(DEFAULT_MAX_MESSAGE_BYTES),
        fragments: section.whole("fragments", 1, 64)?.unwrap_or(1),
        topics: section.whole("topics", 1, 1_024)?.unwrap_or(1),
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

/// Keys of the table that are not parameters of the router, each with the corresponding flag of a node.
const NOT_OF_ROUTER: &[(&str, &str)] = &[
    ("protocol", "--protocols"),
    ("max_message_bytes", "--max-message-bytes"),
    ("topics", "--shards"),
    ("fragments", "--gossip-fragment-bytes"),
];

/// Reads the parameters of a router from a file of their own.
pub(super) fn parameters(root: &Section<'_>) -> Result<Config, ScenarioError> {
    let section = root.below("relay", KEYS)?;
    if !section.is_present() {
        return Err(root.bad("relay", "a table [relay] of keys"));
    }
    for (key, flag) in NOT_OF_ROUTER {
        if section.has(key) {
            return Err(section.bad(key, format!("no such key here: a node has the flag {flag}")));
        }
    }
    Ok(read(root)?.gossip)
}

/// The keys of the table that [`parameters`] reads, as text.
pub(super) fn parameters_text(root: &Entry) -> String {
    let mut text = DocumentMut::new();
    let mut table = InlineTable::new();
    if let Value::Table(root) = &root.value
        && let Some(Entry { value, .. }) = root.get("relay")
        && let Value::Table(relay) = value
    {
        for (key, entry) in relay {
            if NOT_OF_ROUTER.iter().all(|(other, _)| key != other) {
                table.insert(key, entry.value.to_toml());
            }
        }
    }
    text.insert("relay", toml_edit::value(table));
    text.to_string()
}

fn protocol(section: &Section<'_>, is_waku: bool) -> Result<String, ScenarioError> {
    let ids: Vec<_> = PROTOCOLS.iter().map(|known| (known.id, known.id)).collect();
    let default = if is_waku {
        "/vac/waku/relay/2.0.0"
    } else {
        "/meshsub/1.2.0"
    };
    let id = section.word("protocol", &ids)?.unwrap_or(default);
    Ok(id.to_owned())
}

fn large(section: &Section<'_>, large: &mut LargeMessages) -> Result<(), ScenarioError> {
    let section = section.below("large", LARGE)?;
    section.set_whole("threshold_bytes", &mut large.threshold_bytes, 0, MAX)?;
    section.set_whole("group", &mut large.group, 1, 1_000)?;
    section.set_whole("push", &mut large.push, 0, 1_000)?;
    section.set_time("gap_ms", &mut large.gap, MS)?;
    section.set_time("iwant_delay_ms", &mut large.iwant_delay, MS)?;
    section.set_time("iwant_retry_ms", &mut large.iwant_retry, MS)?;
    section.set_whole("transfer_bytes", &mut large.transfer_bytes, 0, MAX)?;
    section.set_time("transfer_wait_ms", &mut large.transfer_wait, MS)
}

fn degrees(section: &Section<'_>, config: &mut Config) -> Result<(), ScenarioError> {
    const MAX_DEGREE: u64 = 10_000;
    let degrees = &mut config.degrees;
    for (key, target) in [
        ("d", &mut degrees.d),
        ("d_low", &mut degrees.d_low),
        ("d_high", &mut degrees.d_high),
        ("d_score", &mut degrees.d_score),
        ("d_out", &mut degrees.d_out),
        ("d_lazy", &mut degrees.d_lazy),
    ] {
        section.set_whole(key, target, 0, MAX_DEGREE)?;
    }
    Ok(())
}

fn times(section: &Section<'_>, config: &mut Config) -> Result<(), ScenarioError> {
    for (key, target, unit_ns) in [
        ("heartbeat_ms", &mut config.heartbeat, MS),
        ("flood_interval_ms", &mut config.flood_interval, MS),
        ("heartbeat_delay_ms", &mut config.heartbeat_delay, MS),
        ("fanout_ttl_s", &mut config.fanout_ttl, S),
        ("seen_ttl_s", &mut config.seen_ttl, S),
        ("prune_backoff_s", &mut config.prune_backoff, S),
        ("unsubscribe_backoff_s", &mut config.unsubscribe_backoff, S),
        ("backoff_slack_s", &mut config.backoff_slack, S),
        (
            "graft_flood_threshold_s",
            &mut config.graft_flood_threshold,
            S,
        ),
        ("iwant_give_up_s", &mut config.iwant_give_up, S),
        (
            "iwant_give_up_dubious_ms",
            &mut config.iwant_give_up_dubious,
            MS,
        ),
        ("iwant_followup_s", &mut config.iwant_followup, S),
    ] {
        section.set_time(key, target, unit_ns)?;
    }
    Ok(())
}

fn counts(section: &Section<'_>, config: &mut Config) -> Result<(), ScenarioError> {
    let words = [
        ("eager-mesh", StrategyKind::EagerMesh),
        ("flood", StrategyKind::Flood),
        ("staggered", StrategyKind::Staggered),
        ("reduced", StrategyKind::Reduced),
    ];
    if let Some(strategy) = section.word("strategy", &words)? {
        config.strategy = strategy.into();
    }
    if let Some(factor) = section.number("gossip_factor", 0.0, 1.0)? {
        config.gossip_factor = factor;
    }
    for (key, target) in [
        ("history_length", &mut config.history_length),
        ("history_gossip", &mut config.history_gossip),
        (
            "opportunistic_graft_peers",
            &mut config.opportunistic_graft_peers,
        ),
        ("iwant_in_flight_max", &mut config.iwant_in_flight_max),
        (
            "iwant_in_flight_retry_max",
            &mut config.iwant_in_flight_retry_max,
        ),
        ("peer_exchange_peers", &mut config.peer_exchange_peers),
    ] {
        section.set_whole(key, target, 0, 1_000)?;
    }
    for (key, target) in [
        (
            "opportunistic_graft_heartbeats",
            &mut config.opportunistic_graft_heartbeats,
        ),
        (
            "idontwant_ttl_heartbeats",
            &mut config.idontwant_ttl_heartbeats,
        ),
    ] {
        section.set_whole(key, target, 0, MAX)?;
    }
    section.set_whole(
        "broken_promises_habit",
        &mut config.broken_promises_habit,
        1,
        MAX,
    )?;
    let retransmissions = &mut config.gossip_retransmissions;
    section.set_whole("gossip_retransmissions", retransmissions, 0, 255)?;
    section.set_flag("peer_exchange", &mut config.peer_exchange)?;
    section.set_flag("disconnect_graylisted", &mut config.disconnect_graylisted)
}

fn flood_publish(section: &Section<'_>, config: &mut Config) -> Result<(), ScenarioError> {
    let words = [
        ("off", Flood::Off),
        ("on", Flood::On),
        ("bounded-by-rate", Flood::Bounded),
    ];
    match section.word("flood_publish", &words)? {
        Some(Flood::Off) => config.flood_publish = FloodPublish::Off,
        Some(Flood::On) => config.flood_publish = FloodPublish::On,
        Some(Flood::Bounded) => {
            config.flood_publish = FloodPublish::BoundedByRate {
                rate_bytes_per_ms: DEFAULT_FLOOD_BYTES_PER_MS,
            };
        }
        None => {}
    }
    if let FloodPublish::BoundedByRate { rate_bytes_per_ms } = &mut config.flood_publish {
        section.set_whole("flood_publish_bytes_per_ms", rate_bytes_per_ms, 1, MAX)?;
    }
    Ok(())
}

fn idontwant(section: &Section<'_>, config: &mut Config) -> Result<(), ScenarioError> {
    if section.flag("idontwant")? == Some(false) {
        config.idontwant_threshold_bytes = usize::MAX;
        return Ok(());
    }
    let threshold = &mut config.idontwant_threshold_bytes;
    section.set_whole("idontwant_threshold_bytes", threshold, 0, MAX)
}

const LIMITS: &[&str] = &[
    "frame_bytes_max",
    "topic_bytes_max",
    "subscriptions_per_rpc_max",
    "subscriptions_per_peer_max",
    "topics_max",
    "messages_per_rpc_max",
    "control_entries_per_rpc_max",
    "ids_per_rpc_max",
    "unknown_fields_per_rpc_max",
    "empty_frames_per_heartbeat_max",
    "px_peers_per_prune_max",
    "px_record_bytes_max",
    "prune_backoff_s_max",
    "seen_max",
    "cache_bytes_max",
    "pending_max",
    "pending_bytes_max",
    "idontwant_ids_per_heartbeat_max",
    "ihave_messages_per_heartbeat_max",
    "announcements_per_heartbeat_max",
    "iwant_ids_per_heartbeat_max",
    "iwant_ids_of_dubious_per_heartbeat_max",
    "holders_per_id_max",
    "iwant_answer_bytes_max",
    "iwant_bytes_per_heartbeat_max",
    "iwant_unknown_message_bytes",
    "cancellable_per_peer_max",
    "promises_max",
    "retained_peers_max",
    "backoffs_max",
    "control_frame_bytes_max",
];

fn limits(section: &Section<'_>, limits: &mut Limits) -> Result<(), ScenarioError> {
    let section = section.below("limits", LIMITS)?;
    for (key, target) in [
        ("frame_bytes_max", &mut limits.frame_bytes_max),
        ("topic_bytes_max", &mut limits.topic_bytes_max),
        (
            "subscriptions_per_rpc_max",
            &mut limits.subscriptions_per_rpc_max,
        ),
        (
            "subscriptions_per_peer_max",
            &mut limits.subscriptions_per_peer_max,
        ),
        ("topics_max", &mut limits.topics_max),
        ("messages_per_rpc_max", &mut limits.messages_per_rpc_max),
        (
            "control_entries_per_rpc_max",
            &mut limits.control_entries_per_rpc_max,
        ),
        ("ids_per_rpc_max", &mut limits.ids_per_rpc_max),
        (
            "unknown_fields_per_rpc_max",
            &mut limits.unknown_fields_per_rpc_max,
        ),
        (
            "empty_frames_per_heartbeat_max",
            &mut limits.empty_frames_per_heartbeat_max,
        ),
        ("px_peers_per_prune_max", &mut limits.px_peers_per_prune_max),
        ("px_record_bytes_max", &mut limits.px_record_bytes_max),
        ("seen_max", &mut limits.seen_max),
        ("cache_bytes_max", &mut limits.cache_bytes_max),
        ("pending_max", &mut limits.pending_max),
        ("pending_bytes_max", &mut limits.pending_bytes_max),
        (
            "idontwant_ids_per_heartbeat_max",
            &mut limits.idontwant_ids_per_heartbeat_max,
        ),
        (
            "ihave_messages_per_heartbeat_max",
            &mut limits.ihave_messages_per_heartbeat_max,
        ),
        (
            "announcements_per_heartbeat_max",
            &mut limits.announcements_per_heartbeat_max,
        ),
        (
            "iwant_ids_per_heartbeat_max",
            &mut limits.iwant_ids_per_heartbeat_max,
        ),
        (
            "iwant_ids_of_dubious_per_heartbeat_max",
            &mut limits.iwant_ids_of_dubious_per_heartbeat_max,
        ),
        ("holders_per_id_max", &mut limits.holders_per_id_max),
        ("iwant_answer_bytes_max", &mut limits.iwant_answer_bytes_max),
        (
            "iwant_bytes_per_heartbeat_max",
            &mut limits.iwant_bytes_per_heartbeat_max,
        ),
        (
            "iwant_unknown_message_bytes",
            &mut limits.iwant_unknown_message_bytes,
        ),
        (
            "cancellable_per_peer_max",
            &mut limits.cancellable_per_peer_max,
        ),
        ("promises_max", &mut limits.promises_max),
        ("retained_peers_max", &mut limits.retained_peers_max),
        ("backoffs_max", &mut limits.backoffs_max),
        (
            "control_frame_bytes_max",
            &mut limits.control_frame_bytes_max,
        ),
    ] {
        section.set_whole(key, target, 0, MAX)?;
    }
    section.set_whole(
        "prune_backoff_s_max",
        &mut limits.prune_backoff_s_max,
        0,
        MAX,
    )
}
