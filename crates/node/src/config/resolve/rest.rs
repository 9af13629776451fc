//! Resolves the keys of the REST server and of the metrics server.

use std::net::{IpAddr, Ipv4Addr, SocketAddr};

use super::Resolver;
use crate::config::raw::RestAuth;
use crate::config::{ConfigError, RestListen};
use crate::rest::TokenScope;

const MAX_CACHE_CAPACITY: usize = 100_000;
const DEFAULT_PORT: u16 = 8645;
const DEFAULT_METRICS_PORT: u16 = 8008;

/// Least length of a token, in characters; shorter ones could be guessed.
const TOKEN_CHARS_MIN: usize = 16;

impl Resolver<'_> {
    pub(super) fn rest(&self) -> Result<Option<RestListen>, ConfigError> {
        let raw = &self.raw;
        let capacity = raw.rest_relay_cache_capacity.unwrap_or(50);
        if !(1..=MAX_CACHE_CAPACITY).contains(&capacity) {
            return Err(self.bad("rest-relay-cache-capacity"));
        }
        let is_token = |text: &String| {
            text.len() >= TOKEN_CHARS_MIN && text.bytes().all(|b| b.is_ascii_graphic())
        };
        if raw.rest_token.as_ref().is_some_and(|text| !is_token(text)) {
            // The value is a secret, so the error does not show it.
            return Err(self.bad_secret("rest-token"));
        }
        if raw.rest == Some(false) {
            return Ok(None);
        }
        let loopback = IpAddr::V4(Ipv4Addr::LOCALHOST);
        let ip = raw.rest_address.unwrap_or(loopback);
        let port = self.shifted(raw.rest_port.unwrap_or(DEFAULT_PORT))?;
        let token_for = match raw.rest_auth.unwrap_or_default() {
            RestAuth::None => None,
            RestAuth::Admin => Some(TokenScope::Admin),
            RestAuth::All => Some(TokenScope::Everything),
            RestAuth::Auto if !ip.is_loopback() => Some(TokenScope::Everything),
            RestAuth::Auto => raw.rest_token.as_ref().map(|_| TokenScope::Admin),
        };
        Ok(Some(RestListen {
            address: SocketAddr::new(ip, port),
            admin: raw.rest_admin.unwrap_or(false),
            relay_cache_capacity: capacity,
            hosts: raw.rest_allow_host.clone().unwrap_or_default(),
            origins: raw.rest_allow_origin.clone().unwrap_or_default(),
            token_for,
            token: raw.rest_token.clone(),
        }))
    }

    /// Address of the separate metrics server, if it is switched on.
    pub(super) fn metrics(&self) -> Result<Option<SocketAddr>, ConfigError> {
        let raw = &self.raw;
        if raw.metrics_server != Some(true) {
            return Ok(None);
        }
        let loopback = IpAddr::V4(Ipv4Addr::LOCALHOST);
        let ip = raw.metrics_server_address.unwrap_or(loopback);
        let port = self.shifted(raw.metrics_server_port.unwrap_or(DEFAULT_METRICS_PORT))?;
        Ok(Some(SocketAddr::new(ip, port)))
    }
}
