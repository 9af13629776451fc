//! Resolves the keys of the REST server and of the metrics server.

use std::net::SocketAddr;

use super::Resolver;
use crate::config::kind::RestAuth;
use crate::config::{ConfigError, RestListen};
use undertone_rest::TokenScope;

/// Minimum length of a token, in characters; shorter ones could be guessed.
const TOKEN_CHARS_MIN: usize = 16;

impl Resolver {
    pub(super) fn rest(&self) -> Result<Option<RestListen>, ConfigError> {
        let raw = &self.raw;
        let relay_cache_capacity = raw.rest_relay_cache_capacity.get()?;
        let token = raw.rest_token.get()?;
        let is_token = |text: &String| {
            text.len() >= TOKEN_CHARS_MIN && text.bytes().all(|b| b.is_ascii_graphic())
        };
        if token.as_ref().is_some_and(|text| !is_token(text)) {
            return Err(raw.rest_token.bad());
        }
        if !raw.rest.get()? {
            return Ok(None);
        }
        let ip = raw.rest_address.get()?;
        let port = self.shifted(&raw.rest_port)?;
        let admin = raw.rest_admin.get()?;
        let token_for = match raw.rest_auth.get()? {
            RestAuth::None => None,
            RestAuth::Admin => Some(TokenScope::Admin),
            RestAuth::All => Some(TokenScope::Everything),
            RestAuth::Auto if !ip.is_loopback() => Some(TokenScope::Everything),
            RestAuth::Auto => (admin || token.is_some()).then_some(TokenScope::Admin),
        };
        Ok(Some(RestListen {
            address: SocketAddr::new(ip, port),
            admin,
            relay_cache_capacity,
            hosts: raw.rest_allow_host.get()?.unwrap_or_default(),
            origins: raw.rest_allow_origin.get()?.unwrap_or_default(),
            token_for,
            token,
        }))
    }

    /// Returns the address of the separate metrics server, if it is switched on.
    pub(super) fn metrics(&self) -> Result<Option<SocketAddr>, ConfigError> {
        let raw = &self.raw;
        if !raw.metrics_server.get()? {
            return Ok(None);
        }
        let ip = raw.metrics_server_address.get()?;
        let port = self.shifted(&raw.metrics_server_port)?;
        Ok(Some(SocketAddr::new(ip, port)))
    }
}
