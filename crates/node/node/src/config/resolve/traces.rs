//! Resolves the keys of traces.

use undertone_membership::evm::EndpointUrl;

use super::Resolver;
use crate::config::ConfigError;
use undertone_network::traces::TraceConfig;

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
        let is_url = EndpointUrl::parse(base, &["http", "https"]).is_ok();
        if !is_url || base.contains(['?', '#']) {
            return Err(raw.otlp_endpoint.bad());
        }
        Ok(Some(TraceConfig {
            url: format!("{base}{PATH}"),
            sampled_share,
        }))
    }
}
