//! Parameters of GossipSub in a script, by their names in go-libp2p-pubsub.

use serde_json::{Map, Value, json};
use undertone_settings::nearest;

use super::InteropError;
use super::error::shortened;

/// Conversion of a parameter's unit from the script to `[relay]`.
#[derive(Clone, Copy)]
enum Unit {
    /// Same unit in both.
    Same,
    /// From nanoseconds to milliseconds.
    Ms,
    /// From nanoseconds to seconds.
    S,
}

/// Parameters and their keys in `[relay]`; a dot separates a nested table from its key.
const PARAMETERS: &[(&str, &str, Unit)] = &[
    ("D", "d", Unit::Same),
    ("Dlo", "d_low", Unit::Same),
    ("Dhi", "d_high", Unit::Same),
    ("Dscore", "d_score", Unit::Same),
    ("Dout", "d_out", Unit::Same),
    ("Dlazy", "d_lazy", Unit::Same),
    ("HistoryLength", "history_length", Unit::Same),
    ("HistoryGossip", "history_gossip", Unit::Same),
    ("GossipFactor", "gossip_factor", Unit::Same),
    ("GossipRetransmission", "gossip_retransmissions", Unit::Same),
    ("HeartbeatInterval", "heartbeat_ms", Unit::Ms),
    ("FanoutTTL", "fanout_ttl_s", Unit::S),
    ("PrunePeers", "peer_exchange_peers", Unit::Same),
    ("PruneBackoff", "prune_backoff_s", Unit::S),
    ("UnsubscribeBackoff", "unsubscribe_backoff_s", Unit::S),
    (
        "OpportunisticGraftTicks",
        "opportunistic_graft_heartbeats",
        Unit::Same,
    ),
    (
        "OpportunisticGraftPeers",
        "opportunistic_graft_peers",
        Unit::Same,
    ),
    ("GraftFloodThreshold", "graft_flood_threshold_s", Unit::S),
    ("IWantFollowupTime", "iwant_followup_s", Unit::S),
    (
        "IDontWantMessageThreshold",
        "idontwant_threshold_bytes",
        Unit::Same,
    ),
    (
        "IDontWantMessageTTL",
        "idontwant_ttl_heartbeats",
        Unit::Same,
    ),
    (
        "MaxIHaveLength",
        "limits.announcements_per_heartbeat_max",
        Unit::Same,
    ),
    (
        "MaxIHaveMessages",
        "limits.ihave_messages_per_heartbeat_max",
        Unit::Same,
    ),
    (
        "MaxIDontWantLength",
        "limits.idontwant_ids_per_heartbeat_max",
        Unit::Same,
    ),
];

/// Parameters without a counterpart. They concern connections that the script makes itself, warnings, and the
/// number of IDONTWANT messages; here the number of ids in them is limited instead.
const WITHOUT_EFFECT: &[&str] = &[
    "SlowHeartbeatWarning",
    "Connectors",
    "MaxPendingConnections",
    "ConnectionTimeout",
    "DirectConnectTicks",
    "DirectConnectInitialDelay",
    "MaxIDontWantMessages",
];

/// Parameter that may differ between nodes.
const DELAY: &str = "HeartbeatInitialDelay";

/// Reads parameters as keys of `[relay]`. Also returns the time to the first heartbeat in milliseconds, if
/// present.
pub(super) fn read(
    place: &str,
    parameters: &Map<String, Value>,
) -> Result<(Map<String, Value>, Option<f64>), InteropError> {
    let (mut relay, mut delay_ms) = (Map::new(), None);
    for (name, value) in parameters {
        let here = || format!("{place}.{name}");
        let number = value
            .as_f64()
            .filter(|number| number.is_finite() && *number >= 0.0);
        if value.is_null() || WITHOUT_EFFECT.contains(&name.as_str()) {
            continue;
        }
        let number = number.ok_or_else(|| InteropError::Value {
            place: here(),
            value: shortened(value),
            expected: "a number that is not negative".to_owned(),
        })?;
        if name == DELAY {
            delay_ms = Some(number / 1e6);
            continue;
        }
        let Some((_, key, unit)) = PARAMETERS.iter().find(|(known, ..)| known == name) else {
            let known = PARAMETERS.iter().map(|(known, ..)| *known);
            return Err(InteropError::Unknown {
                place: place.to_owned(),
                word: name.clone(),
                nearest: nearest(name, known),
            });
        };
        let value = match unit {
            Unit::Same => value.clone(),
            Unit::Ms => json!(number / 1e6),
            Unit::S => json!(number / 1e9),
        };
        match key.split_once('.') {
            None => {
                relay.insert((*key).to_owned(), value);
            }
            Some((table, key)) => {
                let table = relay.entry(table).or_insert_with(|| json!({}));
                table[key] = value;
            }
        }
    }
    Ok((relay, delay_ms))
}
