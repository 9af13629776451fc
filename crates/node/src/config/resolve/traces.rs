//! Resolves the keys of traces.

use super::Resolver;
use crate::config::ConfigError;
use crate::traces::TraceConfig;

/// Path below the collector's URL to which spans are posted (OTLP over HTTP).
const PATH: &str = "/v1/traces";

impl Resolver {
    pub(super) fn traces(&self) -> Result<Option<TraceConfig>, ConfigError> {
        let raw = &self.raw;
        let sampled_share = raw.otlp_sampled_share.get()?;
        let Some(endpoint) = raw.otlp_endpoint.get()? else {
            return Ok(None);
        };
        let base = endpoint.trim_end_matches('/');
        let host = base
            .strip_prefix("http://")
            .or_else(|| base.strip_prefix("https://"))
            .filter(|rest| !rest.is_empty() && rest.bytes().all(|b| b.is_ascii_graphic()));
        match host {
            Some(host) if !host.starts_with('/') && !host.contains(['?', '#']) => {
                Ok(Some(TraceConfig {
                    url: format!("{base}{PATH}"),
                    sampled_share,
                }))
            }
            _ => Err(raw.otlp_endpoint.bad()),
        }
    }
}
