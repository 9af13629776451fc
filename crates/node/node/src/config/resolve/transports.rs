//! Resolves the keys of transports other than TCP, and of the addresses announced to others.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, UdpSocket};
use std::time::Duration;

use super::Resolver;
use crate::config::ConfigError;
use undertone_network::driver::{
    AnnouncedAddresses, CertificateFiles, CircuitLimits, MappingMethod, NatOptions, RelayClient,
    without_peer_id,
};

/// Longest host name, characters.
const NAME_MAX: usize = 253;

/// Kind of NAT router between the node and the Internet.
#[derive(Clone, Copy)]
enum Nat {
    /// No router that the node should ask.
    None,
    /// A router that can be asked to open ports.
    Ask(MappingMethod),
    /// A router that forwards ports of this address to the node.
    At(IpAddr),
}

/// Values of `nat` that are a single word.
const NATS: [(&str, Nat); 4] = [
    ("none", Nat::None),
    ("any", Nat::Ask(MappingMethod::Any)),
    ("upnp", Nat::Ask(MappingMethod::Upnp)),
    ("pmp", Nat::Ask(MappingMethod::Pmp)),
];

/// Whether this machine has IPv6; it may be compiled out, or disabled together with all its addresses.
fn has_v6() -> bool {
    UdpSocket::bind((Ipv6Addr::LOCALHOST, 0)).is_ok()
}

impl Resolver {
    /// Returns the addresses that libp2p listens on. If both `0.0.0.0` and `::` are listed, as by default, `::` is
    /// dropped on a machine without IPv6.
    pub(super) fn listen_addresses(&self) -> Result<Vec<IpAddr>, ConfigError> {
        let mut addresses = self.raw.listen_address.get()?.0;
        if addresses.contains(&Ipv4Addr::UNSPECIFIED.into()) && !has_v6() {
            addresses.retain(|address| *address != Ipv6Addr::UNSPECIFIED);
        }
        Ok(addresses)
    }

    /// Returns the port of WebSocket, with or without TLS.
    pub(super) fn websocket_port(&self) -> Result<Option<u16>, ConfigError> {
        let raw = &self.raw;
        let is_on = raw.websocket.get()? || raw.websocket_secure_support.get()?;
        is_on.then(|| self.shifted(&raw.ws_port)).transpose()
    }

    /// Returns the port of QUIC.
    pub(super) fn quic_port(&self) -> Result<Option<u16>, ConfigError> {
        let raw = &self.raw;
        let is_on = raw.quic_support.get()?;
        if is_on && !cfg!(feature = "quic") {
            let remedy = "false, as this program was built without QUIC; or build it with the feature `quic`";
            return Err(raw.quic_support.bad_because(remedy));
        }
        is_on.then(|| self.shifted(&raw.quic_port)).transpose()
    }

    /// Returns the certificate files of the WebSocket port. Whether they are usable is checked when the node starts.
    pub(super) fn websocket_certificate(&self) -> Result<Option<CertificateFiles>, ConfigError> {
        let raw = &self.raw;
        let support = &raw.websocket_secure_support;
        let (chain, key) = (
            raw.websocket_secure_cert_path.get()?,
            raw.websocket_secure_key_path.get()?,
        );
        match (support.get()?, chain, key) {
            (false, None, None) => Ok(None),
            (true, Some(chain), Some(key)) => Ok(Some(CertificateFiles { chain, key })),
            (true, None, _) => Err(support.bad_because(
                "false without a certificate; name one with websocket-secure-cert-path",
            )),
            (true, _, None) => Err(support.bad_because(
                "false without the certificate's key; name it with websocket-secure-key-path",
            )),
            (false, _, _) => Err(support.bad_because(
                "true with websocket-secure-cert-path or websocket-secure-key-path; or leave both out",
            )),
        }
    }

    /// Returns the addresses at which other nodes can reach this one.
    pub(super) fn announced(&self) -> Result<AnnouncedAddresses, ConfigError> {
        let raw = &self.raw;
        let more = Self::addresses(&raw.ext_multiaddr)?;
        let more: Vec<_> = more.iter().map(without_peer_id).collect();
        let only_more = raw.ext_multiaddr_only.get()?;
        if only_more && more.is_empty() {
            let remedy = "false, as there is no such address; name one with ext-multiaddr";
            return Err(raw.ext_multiaddr_only.bad_because(remedy));
        }
        Ok(AnnouncedAddresses {
            ip: self.public_ip()?,
            name: self.host_name()?,
            more,
            only_more,
        })
    }

    /// Returns how the router is asked to open ports.
    pub(super) fn port_mapping(&self) -> Result<Option<MappingMethod>, ConfigError> {
        Ok(match self.nat()? {
            Nat::Ask(method) => Some(method),
            Nat::None | Nat::At(_) => None,
        })
    }

    /// Returns the options of NAT and firewall traversal.
    pub(super) fn nat_options(&self) -> Result<NatOptions, ConfigError> {
        let raw = &self.raw;
        let relay_client = match raw.relay_client.get()?.to_ascii_lowercase().as_str() {
            "auto" => RelayClient::IfUnreachable,
            "true" => RelayClient::Always,
            "false" => RelayClient::Never,
            _ => return Err(raw.relay_client.bad_because("auto, true or false")),
        };
        let circuits_max = raw.circuit_relay_circuits.get()?;
        let limits = CircuitLimits {
            reservations_max: raw.circuit_relay_reservations.get()?,
            circuits_max,
            circuits_per_peer_max: (circuits_max / 4).max(1),
            circuit: Duration::from_secs(raw.circuit_relay_s.get()?),
            circuit_bytes_max: raw.circuit_relay_bytes.get()?,
            ..CircuitLimits::default()
        };
        Ok(NatOptions {
            autonat: raw.autonat.get()?,
            circuits: raw.circuit_relay.get()?.then_some(limits),
            relay_client,
            ..NatOptions::default()
        })
    }

    fn public_ip(&self) -> Result<Option<IpAddr>, ConfigError> {
        Ok(match self.nat()? {
            Nat::At(ip) => Some(ip),
            Nat::None | Nat::Ask(_) => None,
        })
    }

    fn nat(&self) -> Result<Nat, ConfigError> {
        let key = &self.raw.nat;
        let text = key.get()?.to_ascii_lowercase();
        let named = NATS.iter().find(|(name, _)| *name == text);
        let at = || {
            let ip: IpAddr = text.strip_prefix("extip:")?.parse().ok()?;
            (!ip.is_unspecified()).then_some(Nat::At(ip))
        };
        named.map(|(_, nat)| *nat).or_else(at).ok_or_else(|| {
            key.bad_because(
                "none; any, upnp or pmp to have the router open the ports; or extip: with the public IP address",
            )
        })
    }

    fn host_name(&self) -> Result<Option<String>, ConfigError> {
        let key = &self.raw.dns4_domain_name;
        let name = key.get()?;
        let is_allowed = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '.' | '_');
        let is_name =
            |name: &String| (1..=NAME_MAX).contains(&name.len()) && name.chars().all(is_allowed);
        match name {
            Some(name) if !is_name(&name) => {
                Err(key.bad_because("a host name without protocol and port, such as node.example"))
            }
            name => Ok(name),
        }
    }
}
