//! Turns keys as written into a complete configuration: defaults, presets, checks across keys.

use std::{net::Ipv4Addr, num::NonZeroU16, path::PathBuf};

use libp2p::Multiaddr;
use undertone_gossip::{LARGE_MESSAGES_ID, StrategyKind};
use undertone_message::{NetworkPreset, pubsub_topic::MAX_SHARD_INDEX};

use super::{
    ConfigError, Key, LogConfig, LogFormat, LogLevel, NodeConfig, raw::Raw, sources::Gathered,
};
use crate::driver::ConnectionLimits;

mod rest;
mod rln;
mod shards;

/// Least length of a part, bytes; in shorter ones the hashes that each part carries dominate.
const FRAGMENT_BYTES_MIN: usize = 1_000;

/// Largest offset of the clock, about eleven days.
const MAX_CLOCK_AHEAD_MS: i64 = 1_000_000_000;

const DEFAULT_NETWORK: &str = "local";
const DEFAULT_PROTOCOL: &str = "/vac/waku/relay/2.0.0";

/// Turns the merged sources into a configuration.
pub(super) fn resolve(gathered: &Gathered) -> Result<NodeConfig, ConfigError> {
    let raw = gathered
        .figment
        .extract::<Raw>()
        .map_err(|e| mistyped(gathered, &e))?;
    Resolver { gathered, raw }.resolve()
}

fn mistyped(gathered: &Gathered, error: &figment::Error) -> ConfigError {
    let path = error.path.as_slice();
    let key = (1..=path.len())
        .find_map(|len| Key::by_name(&path[..len].join(".")))
        .expect("the sources refuse unknown keys, so every value read has one");
    bad_value(gathered, key, key.expected.to_owned())
}

fn bad_value(gathered: &Gathered, key: &'static Key, expected: String) -> ConfigError {
    let value = gathered
        .figment
        .find_value(key.name)
        .ok()
        .and_then(|value| serde_json::to_string(&value).ok())
        .unwrap_or_else(|| "nothing".to_owned());
    ConfigError::BadValue {
        origin: gathered.origin(key),
        key: key.name,
        value,
        expected,
    }
}

/// Whether a strategy has this name and is meant for nodes; flooding is for simulations only.
fn is_for_nodes(strategy: &str) -> bool {
    strategy
        .parse()
        .is_ok_and(|kind: StrategyKind| kind != StrategyKind::Flood)
}

struct Resolver<'a> {
    gathered: &'a Gathered,
    raw: Raw,
}

impl Resolver<'_> {
    fn resolve(self) -> Result<NodeConfig, ConfigError> {
        let network = self.network()?;
        let data_dir = self
            .raw
            .data_dir
            .clone()
            .unwrap_or_else(|| "undertone-data".into());
        let in_data_dir =
            |set: &Option<PathBuf>, name: &str| set.clone().unwrap_or_else(|| data_dir.join(name));
        self.check_gossip()?;
        let content_topics = self.content_topics(&network)?;
        Ok(NodeConfig {
            autosharding: self.autosharding(),
            shards: self.shards(&network, &content_topics),
            content_topics,
            listen_address: self
                .raw
                .listen_address
                .unwrap_or(Ipv4Addr::UNSPECIFIED.into()),
            tcp_port: self.shifted(self.raw.tcp_port.unwrap_or(60000))?,
            websocket_port: match self.raw.websocket {
                Some(true) => Some(self.shifted(self.raw.ws_port.unwrap_or(8000))?),
                _ => None,
            },
            rest: self.rest()?,
            metrics: self.metrics()?,
            static_peers: self.static_peers()?,
            node_key_file: in_data_dir(&self.raw.node_key_file, "node-key"),
            connections: self.connections()?,
            relay: self.raw.relay.unwrap_or(true),
            rln: self.rln(&network, in_data_dir)?,
            delivery_log: self.raw.delivery_log.clone(),
            clock_ahead_ms: self.clock_ahead_ms()?,
            log: LogConfig {
                level: self.raw.log_level.unwrap_or(LogLevel::Info),
                format: self.raw.log_format.unwrap_or(LogFormat::Text),
            },
            protocols: self.protocols()?,
            gossip: self.raw.gossip.clone(),
            router: None,
            network,
            data_dir,
        })
    }

    fn bad(&self, name: &str) -> ConfigError {
        let key = Key::by_name(name).expect("checks use names from KEYS");
        bad_value(self.gathered, key, key.expected.to_owned())
    }

    fn bad_because(&self, name: &str, expected: String) -> ConfigError {
        let key = Key::by_name(name).expect("checks use names from KEYS");
        bad_value(self.gathered, key, expected)
    }

    /// As [`Self::bad`], without showing the value, which is a secret.
    fn bad_secret(&self, name: &str) -> ConfigError {
        let key = Key::by_name(name).expect("checks use names from KEYS");
        ConfigError::BadValue {
            origin: self.gathered.origin(key),
            key: key.name,
            value: "(not shown)".to_owned(),
            expected: key.expected.to_owned(),
        }
    }

    fn at_least_one<T: PartialOrd + From<u8>>(
        &self,
        name: &str,
        value: Option<T>,
        default: T,
    ) -> Result<T, ConfigError> {
        let value = value.unwrap_or(default);
        if value < T::from(1) {
            Err(self.bad(name))
        } else {
            Ok(value)
        }
    }

    fn connections(&self) -> Result<ConnectionLimits, ConfigError> {
        let raw = &self.raw;
        let total_max = self.at_least_one("max-connections", raw.max_connections, 150)?;
        let limits = ConnectionLimits::with_total(total_max);
        Ok(ConnectionLimits {
            per_address_max: self.at_least_one(
                "max-connections-per-address",
                raw.max_connections_per_address,
                limits.per_address_max,
            )?,
            per_loopback_address_max: self.at_least_one(
                "max-connections-per-loopback-address",
                raw.max_connections_per_loopback_address,
                limits.per_loopback_address_max,
            )?,
            ..limits
        })
    }

    fn network(&self) -> Result<NetworkPreset, ConfigError> {
        let name = self.raw.network.as_deref().unwrap_or(DEFAULT_NETWORK);
        let preset = NetworkPreset::by_name(name).map_err(|source| ConfigError::Network {
            origin: self
                .gathered
                .origin(Key::by_name("network").expect("network is a key")),
            source,
        })?;
        let num_shards = match self.raw.num_shards_in_network {
            // Static sharding spreads no content topics, so the preset's number does no harm.
            None | Some(0) => preset.num_shards,
            Some(number) => NonZeroU16::new(number)
                .filter(|number| number.get() <= MAX_SHARD_INDEX + 1)
                .ok_or_else(|| self.bad("num-shards-in-network"))?,
        };
        let max_message_bytes = self
            .raw
            .max_message_bytes
            .unwrap_or(preset.max_message_bytes);
        if max_message_bytes == 0 {
            return Err(self.bad("max-message-bytes"));
        }
        let mut network = preset;
        network.cluster_id = self.raw.cluster_id.unwrap_or(preset.cluster_id);
        network.num_shards = num_shards;
        network.one_shard_per_content_topic &= self.autosharding();
        network.max_message_bytes = max_message_bytes;
        network.rln = match preset.rln {
            Some(params) if self.raw.rln != Some(false) => Some(self.rln_params(params)?),
            _ => None,
        };
        Ok(network)
    }

    fn shifted(&self, port: u16) -> Result<u16, ConfigError> {
        let shift = self.raw.ports_shift.unwrap_or(0);
        // Port 0 asks the system for any free port; shifting it would ask for a specific one.
        if port == 0 {
            return Ok(0);
        }
        port.checked_add(shift).ok_or_else(|| {
            let expected = format!("at most {}, because of port {port}", u16::MAX - port);
            self.bad_because("ports-shift", expected)
        })
    }

    fn static_peers(&self) -> Result<Vec<Multiaddr>, ConfigError> {
        let peers = self.raw.static_peers.as_deref().unwrap_or(&[]);
        let parse = |text: &String| {
            text.parse().map_err(|e: libp2p::multiaddr::Error| {
                let expected = format!("multiaddresses; {text:?} is not one ({e})");
                self.bad_because("static-peers", expected)
            })
        };
        peers.iter().map(parse).collect()
    }

    fn clock_ahead_ms(&self) -> Result<i64, ConfigError> {
        let ahead_ms = self.raw.clock_ahead_ms.unwrap_or(0);
        match (-MAX_CLOCK_AHEAD_MS..=MAX_CLOCK_AHEAD_MS).contains(&ahead_ms) {
            true => Ok(ahead_ms),
            false => Err(self.bad("clock-ahead-ms")),
        }
    }

    fn protocols(&self) -> Result<Vec<String>, ConfigError> {
        let protocols = self.raw.protocols.clone();
        let large = self
            .raw
            .gossip
            .strategy
            .as_deref()
            .is_some_and(|name| name != "eager-mesh");
        let defaults = if large {
            &[LARGE_MESSAGES_ID, DEFAULT_PROTOCOL][..]
        } else {
            &[DEFAULT_PROTOCOL]
        };
        let protocols =
            protocols.unwrap_or_else(|| defaults.iter().map(|&id| id.to_owned()).collect());
        if protocols.is_empty() || protocols.iter().any(|id| !id.starts_with('/')) {
            let expected = "one or more protocol ids, each starting with a slash".to_owned();
            return Err(self.bad_because("protocols", expected));
        }
        Ok(protocols)
    }

    /// Checks the bounds of single parameters; the router checks how they fit together.
    fn check_gossip(&self) -> Result<(), ConfigError> {
        let gossip = &self.raw.gossip;
        for (name, value) in [
            ("gossip.d", gossip.d),
            ("gossip.d-low", gossip.d_low),
            ("gossip.d-high", gossip.d_high),
            ("gossip.d-score", gossip.d_score),
            ("gossip.history-length", gossip.history_length),
            ("gossip.history-gossip", gossip.history_gossip),
        ] {
            if value == Some(0) {
                return Err(self.bad(name));
            }
        }
        for (name, value) in [
            ("gossip.heartbeat-ms", gossip.heartbeat_ms),
            ("gossip.seen-ttl-s", gossip.seen_ttl_s),
        ] {
            if value == Some(0) {
                return Err(self.bad(name));
            }
        }
        let strategy = gossip.strategy.as_deref();
        if strategy.is_some_and(|name| !is_for_nodes(name)) {
            return Err(self.bad("gossip.strategy"));
        }
        if gossip
            .fragment_bytes
            .is_some_and(|bytes| bytes < FRAGMENT_BYTES_MIN)
        {
            return Err(self.bad("gossip.fragment-bytes"));
        }
        if gossip
            .gossip_factor
            .is_some_and(|factor| !(0.0..=1.0).contains(&factor))
        {
            return Err(self.bad("gossip.gossip-factor"));
        }
        Ok(())
    }
}
