//! Keys of the transports beside TCP, and of the addresses that others are told.

use std::net::IpAddr;

use super::Resolver;
use crate::config::ConfigError;
use crate::driver::{AnnouncedAddresses, CertificateFiles, without_peer_id};

/// Longest host name, characters.
const NAME_MAX: usize = 253;

impl Resolver {
    /// Port of WebSocket, with or without TLS.
    pub(super) fn websocket_port(&self) -> Result<Option<u16>, ConfigError> {
        let raw = &self.raw;
        let is_on = raw.websocket.get()? || raw.websocket_secure_support.get()?;
        is_on.then(|| self.shifted(&raw.ws_port)).transpose()
    }

    /// Port of QUIC.
    pub(super) fn quic_port(&self) -> Result<Option<u16>, ConfigError> {
        let raw = &self.raw;
        let is_on = raw.quic_support.get()?;
        is_on.then(|| self.shifted(&raw.quic_port)).transpose()
    }

    /// Files with the certificate of the WebSocket port. Whether they can be used is found when the node starts.
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

    /// Addresses at which others reach the node.
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

    fn public_ip(&self) -> Result<Option<IpAddr>, ConfigError> {
        let key = &self.raw.nat;
        let nat = key.get()?.to_ascii_lowercase();
        if nat == "none" {
            return Ok(None);
        }
        let ip = nat.strip_prefix("extip:").and_then(|ip| ip.parse().ok());
        let ip: Option<IpAddr> = ip.filter(|ip: &IpAddr| !ip.is_unspecified());
        ip.map(Some).ok_or_else(|| {
            key.bad_because(
                "none, or extip: with the public IP address; the node opens no ports at a router, so forward them there",
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
