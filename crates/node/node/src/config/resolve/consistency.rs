//! Checks of values that are valid individually but not together.

use std::net::IpAddr;

use undertone_gossip::Rule;
use undertone_settings::{Error, Origin};

use super::Resolver;
use crate::config::setting::{Setting, Values, shown};
use crate::config::{ConfigError, KEYS, NodeConfig};

/// An address and port that a key makes the node listen on.
struct Listening<'a> {
    key: &'a Setting<u16>,
    ip: IpAddr,
    port: u16,
}

impl Listening<'_> {
    fn meets(&self, other: &Self) -> bool {
        let is_all = self.ip.is_unspecified() || other.ip.is_unspecified();
        let is_same_ip = self.ip == other.ip || is_all && self.ip.is_ipv4() == other.ip.is_ipv4();
        is_same_ip
            && self.port == other.port
            && self.port != 0
            && self.key.name() != other.key.name()
    }
}

impl Resolver {
    /// Rejects a port that two keys share.
    pub(super) fn refuse_shared_ports(&self, config: &NodeConfig) -> Result<(), ConfigError> {
        let raw = &self.raw;
        let at = |key, port: Option<u16>| {
            let addresses = config.listen_addresses.iter().zip(port.into_iter().cycle());
            addresses.map(move |(ip, port)| Listening { key, ip: *ip, port })
        };
        let discv5 = config
            .discovery
            .as_ref()
            .and_then(|discovery| discovery.udp_port);
        let mut tcp: Vec<_> = at(&raw.tcp_port, Some(config.tcp_port)).collect();
        tcp.extend(at(&raw.ws_port, config.websocket_port));
        let servers = [
            (
                &raw.rest_port,
                config.rest.as_ref().map(|rest| rest.address),
            ),
            (&raw.metrics_server_port, config.metrics),
        ];
        tcp.extend(servers.into_iter().filter_map(|(key, address)| {
            let (ip, port) = (address?.ip(), address?.port());
            Some(Listening { key, ip, port })
        }));
        let udp = at(&raw.quic_port, config.quic_port).chain(at(&raw.discv5_udp_port, discv5));
        for ports in [tcp, udp.collect()] {
            for (index, first) in ports.iter().enumerate() {
                if let Some(second) = ports[index + 1..].iter().find(|port| first.meets(port)) {
                    // Report the key that was set explicitly rather than one with its default.
                    let (named, other) = match second.key.origin() {
                        Origin::Default => (first.key, second.key),
                        _ => (second.key, first.key),
                    };
                    let port = first.port;
                    let expected = format!("a port of its own: {} has {port} too", other.name());
                    return Err(named.bad_because(expected));
                }
            }
        }
        Ok(())
    }
}

/// Rejects router parameters that contradict each other by the router's own rules.
pub(super) fn check_gossip(config: &NodeConfig, values: &Values) -> Result<(), ConfigError> {
    let gossip = crate::assemble::relay_config(config).gossip;
    let Err(broken) = gossip.validate() else {
        return Ok(());
    };
    let names: &[&str] = match broken.0 {
        Rule::DegreeOrder => &["gossip.d-low", "gossip.d-high", "gossip.d"],
        Rule::ScoreDegree => &["gossip.d-score", "gossip.d-high"],
        Rule::OutboundDegree { .. } => &["gossip.d-out", "gossip.d-low", "gossip.d"],
        Rule::History => &["gossip.history-gossip", "gossip.history-length"],
        _ => &[],
    };
    // Other rules each concern a single parameter: any gossip key that is set may be the cause.
    let others = KEYS.iter().map(|key| key.name);
    let others = others.filter(|name| names.is_empty() && name.starts_with("gossip."));
    let mut set = names.iter().copied().chain(others).filter_map(|name| {
        let key = KEYS.iter().find(|key| key.name == name)?;
        Some((key, values.entry(key)?))
    });
    let degrees = &gossip.degrees;
    let expected = format!(
        "values with which the parameters fit each other: {}; they are d = {}, d-low = {}, d-high = {}, d-score = {}, \
         d-out = {}, history-length = {}, history-gossip = {}",
        broken.0,
        degrees.d,
        degrees.d_low,
        degrees.d_high,
        degrees.d_score,
        degrees.d_out,
        gossip.history_length,
        gossip.history_gossip,
    );
    let (key, value, origin) = match set.next() {
        Some((key, entry)) => (key.name, shown(key, entry), entry.origin.clone()),
        None => ("gossip", "the defaults".to_owned(), Origin::Default),
    };
    let bad = Error::BadValue {
        origin,
        key: key.to_owned(),
        value,
        expected,
    };
    Err(bad.into())
}
