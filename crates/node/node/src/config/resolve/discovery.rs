//! Resolves the keys of discovery.

use std::net::{IpAddr, SocketAddr};

use undertone_discovery::dns::tree::{TreeUrl, TreeUrlError};
use undertone_message::NetworkPreset;

use super::{Resolver, is_changed};
use crate::config::ConfigError;
use undertone_provider::discovery::DiscoveryConfig;

/// Port of a name server whose address has none.
const DNS_PORT: u16 = 53;

impl Resolver {
    /// Resolves discovery. Unless its key says otherwise, each method is on if it has something to start from.
    /// Rendezvous needs known peers, so by default it is used alongside other methods, and alone only on explicit
    /// request.
    pub(super) fn discovery(
        &self,
        network: &NetworkPreset,
    ) -> Result<Option<DiscoveryConfig>, ConfigError> {
        let raw = &self.raw;
        let bootstrap = raw.discv5_bootstrap_node.get()?.unwrap_or_default();
        let node_lists = self.node_lists(network)?;
        let name_servers = self.name_servers()?;
        let has_lists = raw.dns_discovery.get()?.unwrap_or(!node_lists.is_empty());
        if has_lists && node_lists.is_empty() {
            let remedy = "false, as there is no list; name one with dns-discovery-url";
            return Err(raw.dns_discovery.bad_because(remedy));
        }
        let node_lists = match has_lists {
            true => node_lists,
            false => Vec::new(),
        };
        let has_nodes = !bootstrap.is_empty() || !node_lists.is_empty();
        let udp_port = match raw.discv5_discovery.get()?.unwrap_or(has_nodes) {
            true => Some(self.shifted(&raw.discv5_udp_port)?),
            false => None,
        };
        let has_exchange = raw
            .peer_exchange_node
            .get()?
            .is_some_and(|peers| !peers.is_empty());
        let has_rendezvous = raw.rendezvous.is_asked_for();
        if udp_port.is_none() && node_lists.is_empty() && !has_exchange && !has_rendezvous {
            return Ok(None);
        }
        Ok(Some(DiscoveryConfig {
            udp_port,
            bootstrap,
            node_lists,
            name_servers,
            rendezvous: raw.rendezvous.get()?,
            peers_file: self.data_file("peers.sqlite")?,
        }))
    }

    /// Returns the configured lists, or those of the network unless its cluster was changed: it is then another
    /// network.
    fn node_lists(&self, network: &NetworkPreset) -> Result<Vec<TreeUrl>, ConfigError> {
        let key = &self.raw.dns_discovery_url;
        let texts = match key.get()? {
            Some(texts) => texts,
            None if is_changed(network) => Vec::new(),
            None => network.node_lists.iter().map(ToString::to_string).collect(),
        };
        let parse = |text: String| {
            let bad = |error: TreeUrlError| key.bad_because(error.to_string());
            TreeUrl::parse(&text).map_err(bad)
        };
        texts.into_iter().map(parse).collect()
    }

    fn name_servers(&self) -> Result<Vec<SocketAddr>, ConfigError> {
        let key = &self.raw.dns_discovery_name_server;
        let parse = |text: String| {
            let with_port = text.parse::<SocketAddr>().ok();
            let without = || Some(SocketAddr::new(text.parse::<IpAddr>().ok()?, DNS_PORT));
            with_port.or_else(without).ok_or_else(|| {
                key.bad_because(format!(
                    "IP addresses, with or without a port; {text:?} is none"
                ))
            })
        };
        let texts = key.get()?.unwrap_or_default();
        texts.into_iter().map(parse).collect()
    }
}
