//! Turns keys as written into a complete configuration: presets, defaults that depend on other keys, and checks
//! across keys.

use std::{num::NonZeroU16, path::PathBuf};

use libp2p::Multiaddr;
use undertone_gossip::{Features, LARGE_MESSAGES_ID, PROTOCOLS, STEM_ID, StrategyKind};
use undertone_message::NetworkPreset;

use super::keys::{GossipOverrides, RawConfig};
use super::setting::{Setting, Values};
use super::{ConfigError, LogConfig, NodeConfig};
use undertone_network::driver::ConnectionLimits;

mod consistency;
mod discovery;
mod rest;
mod rln;
mod services;
mod shards;
mod traces;
mod transports;

const DEFAULT_PROTOCOL: &str = "/vac/waku/relay/2.0.0";

/// Turns the merged sources into a configuration.
pub(super) fn resolve(values: &Values) -> Result<NodeConfig, ConfigError> {
    let resolver = Resolver {
        raw: RawConfig::read(values)?,
        gossip: GossipOverrides::read(values)?,
    };
    let config = resolver.resolve()?;
    resolver.refuse_shared_ports(&config)?;
    consistency::check_gossip(&config, values)?;
    Ok(config)
}

struct Resolver {
    raw: RawConfig,
    gossip: GossipOverrides,
}

/// Whether the operator has changed the network's cluster. It is then another network, with other nodes and
/// memberships.
fn is_changed(network: &NetworkPreset) -> bool {
    let preset = NetworkPreset::by_name(network.name).map(|preset| preset.cluster_id);
    preset != Ok(network.cluster_id)
}

impl Resolver {
    fn resolve(&self) -> Result<NodeConfig, ConfigError> {
        let raw = &self.raw;
        let network = self.network()?;
        let content_topics = self.content_topics(&network)?;
        Ok(NodeConfig {
            autosharding: self.autosharding(),
            shards: self.shards(&network, &content_topics)?,
            content_topics,
            shard_bandwidth: self.shard_bandwidth()?,
            listen_addresses: self.listen_addresses()?,
            tcp_port: self.shifted(&raw.tcp_port)?,
            websocket_port: self.websocket_port()?,
            websocket_certificate: self.websocket_certificate()?,
            quic_port: self.quic_port()?,
            announced: self.announced()?,
            port_mapping: self.port_mapping()?,
            nat: self.nat_options()?,
            rest: self.rest()?,
            metrics: self.metrics()?,
            metrics_names: self.raw.metrics_names.get()?,
            traces: self.traces()?,
            static_peers: self.static_peers()?,
            discovery: self.discovery(&network)?,
            node_key_file: self.in_data_dir(&raw.node_key_file, "node-key")?,
            connections: self.connections()?,
            relay: raw.relay.get()?,
            services: self.services()?,
            rln: self.rln(&network)?,
            delivery_log: raw.delivery_log.get()?,
            clock_ahead_ms: raw.clock_ahead_ms.get()?,
            log: LogConfig {
                level: raw.log_level.get()?,
                format: raw.log_format.get()?,
            },
            protocols: self.protocols()?,
            gossip: self.gossip.clone(),
            router: None,
            network,
            data_dir: raw.data_dir.get()?,
        })
    }

    /// Returns the configured file, or the default one in the data directory.
    fn in_data_dir(
        &self,
        file: &Setting<Option<PathBuf>>,
        name: &str,
    ) -> Result<PathBuf, ConfigError> {
        match file.get()? {
            Some(file) => Ok(file),
            None => self.data_file(name),
        }
    }

    fn data_file(&self, name: &str) -> Result<PathBuf, ConfigError> {
        Ok(self.raw.data_dir.get()?.join(name))
    }

    fn connections(&self) -> Result<ConnectionLimits, ConfigError> {
        let raw = &self.raw;
        let limits = ConnectionLimits::with_total(raw.max_connections.get()?);
        let per_address_max = raw.max_connections_per_address.get()?;
        let per_loopback_address_max = raw.max_connections_per_loopback_address.get()?;
        let per_address_max = per_address_max.unwrap_or(limits.per_address_max);
        let per_network_max = raw.max_connections_per_network.get()?;
        Ok(ConnectionLimits {
            clients_max: raw.max_clients.get()?,
            per_address_max,
            per_network_max: per_network_max.unwrap_or(per_address_max.saturating_mul(2)),
            per_loopback_address_max: per_loopback_address_max
                .unwrap_or(limits.per_loopback_address_max),
            ..limits
        })
    }

    fn network(&self) -> Result<NetworkPreset, ConfigError> {
        let raw = &self.raw;
        let preset =
            NetworkPreset::by_name(&raw.network.get()?).map_err(|source| ConfigError::Network {
                origin: raw.network.origin(),
                source,
            })?;
        // Static sharding does not map content topics to shards, so the preset's number is not used.
        let num_shards = raw.num_shards_in_network.get()?.and_then(NonZeroU16::new);
        let max_message_bytes = raw.max_message_bytes.get()?;
        let mut network = preset;
        network.cluster_id = raw.cluster_id.get()?.unwrap_or(preset.cluster_id);
        network.num_shards = num_shards.unwrap_or(preset.num_shards);
        network.one_shard_per_content_topic &= self.autosharding();
        network.max_message_bytes = max_message_bytes.unwrap_or(preset.max_message_bytes);
        network.rln = match preset.rln {
            Some(params) if !raw.rln.is(&false) => Some(self.rln_params(params)?),
            _ => None,
        };
        Ok(network)
    }

    /// Returns a port plus the configured shift.
    fn shifted(&self, port: &Setting<u16>) -> Result<u16, ConfigError> {
        let shift = &self.raw.ports_shift;
        let port = port.get()?;
        // Port 0 asks the system for any free port; shifting it would ask for a specific one.
        if port == 0 {
            return Ok(0);
        }
        port.checked_add(shift.get()?).ok_or_else(|| {
            let most = u16::MAX - port;
            shift.bad_because(format!("at most {most}, because of port {port}"))
        })
    }

    fn static_peers(&self) -> Result<Vec<Multiaddr>, ConfigError> {
        Self::addresses(&self.raw.static_peers)
    }

    /// Parses the multiaddresses that a key lists.
    fn addresses(peers: &Setting<Option<Vec<String>>>) -> Result<Vec<Multiaddr>, ConfigError> {
        let parse = |text: String| {
            text.parse().map_err(|e: libp2p::multiaddr::Error| {
                peers.bad_because(format!("multiaddresses; {text:?} is not one ({e})"))
            })
        };
        peers.get()?.into_iter().flatten().map(parse).collect()
    }

    fn protocols(&self) -> Result<Vec<String>, ConfigError> {
        let own = &self.raw.protocols;
        let defaults = match self.gossip.strategy {
            None | Some(StrategyKind::EagerMesh) => &[DEFAULT_PROTOCOL][..],
            Some(StrategyKind::Dandelion) => &[STEM_ID, DEFAULT_PROTOCOL],
            Some(_) => &[LARGE_MESSAGES_ID, DEFAULT_PROTOCOL],
        };
        let defaults = || defaults.iter().map(|&id| id.to_owned()).collect();
        let protocols: Vec<_> = own.get()?.unwrap_or_else(defaults);
        if protocols.is_empty() || protocols.iter().any(|id| !id.starts_with('/')) {
            return Err(own.bad_because("one or more protocol ids, each starting with a slash"));
        }
        match protocols.iter().find(|id| Features::of(id).is_none()) {
            Some(id) => {
                let known: Vec<_> = PROTOCOLS.iter().map(|protocol| protocol.id).collect();
                let known = known.join(", ");
                Err(own.bad_because(format!("protocol ids of {known}; {id} is none of them")))
            }
            None => Ok(protocols),
        }
    }
}
