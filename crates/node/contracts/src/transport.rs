//! HTTP transport of requests to a chain's endpoint, with the same HTTP client that follows the chain.

use std::task::{Context, Poll};
use std::time::Duration;

use alloy::rpc::client::RpcClient;
use alloy::rpc::json_rpc::{RequestPacket, ResponsePacket};
use alloy::transports::utils::guess_local_url;
use alloy::transports::{TransportError, TransportErrorKind, TransportFut};
use tower::Service;
use ureq::Agent;
use ureq::http::Uri;

use crate::error::ChainError;

/// Timeout of a request. Longer than any caller waits, so that the caller's own error is the one reported; it
/// ends the thread of a request that has been given up.
const TIMEOUT: Duration = Duration::from_secs(31);

/// Maximum size of an answer, bytes, after decompression: a receipt or a block, never a search for logs.
const ANSWER_BYTES_MAX: u64 = 2 << 20;

/// Returns a client of the endpoint, without contacting it yet.
///
/// # Errors
/// [`ChainError::Endpoint`] when `endpoint` is not `http://..` or `https://..`.
pub(crate) fn client(endpoint: &str) -> Result<RpcClient, ChainError> {
    let url: Uri = endpoint.parse().map_err(|_| ChainError::Endpoint)?;
    let is_known = matches!(url.scheme_str(), Some("http" | "https"));
    if !is_known || url.host().is_none_or(str::is_empty) {
        return Err(ChainError::Endpoint);
    }
    let is_local = guess_local_url(endpoint);
    let agent = Agent::config_builder()
        .timeout_global(Some(TIMEOUT))
        .http_status_as_error(false)
        .build()
        .into();
    Ok(RpcClient::new(Http { url, agent }, is_local))
}

/// Transport that posts each request on a thread for blocking work.
#[derive(Debug, Clone)]
struct Http {
    url: Uri,
    agent: Agent,
}

impl Http {
    /// Posts a request and reads its answer.
    fn post(&self, body: Vec<u8>) -> Result<ResponsePacket, TransportError> {
        let mut response = self
            .agent
            .post(&self.url)
            .header("content-type", "application/json")
            .send(body)
            .map_err(TransportErrorKind::custom)?;
        let status = response.status();
        // The endpoint may explain an error in the body, whatever the status.
        let body = response
            .body_mut()
            .with_config()
            .limit(ANSWER_BYTES_MAX)
            .read_to_vec()
            .map_err(TransportErrorKind::custom)?;
        let text = || String::from_utf8_lossy(&body).into_owned();
        if !status.is_success() {
            return Err(TransportErrorKind::http_error(status.as_u16(), text()));
        }
        serde_json::from_slice(&body).map_err(|error| TransportError::deser_err(error, text()))
    }
}

impl Service<RequestPacket> for Http {
    type Response = ResponsePacket;
    type Error = TransportError;
    type Future = TransportFut<'static>;

    fn poll_ready(&mut self, _: &mut Context<'_>) -> Poll<Result<(), Self::Error>> {
        Poll::Ready(Ok(()))
    }

    fn call(&mut self, request: RequestPacket) -> Self::Future {
        let http = self.clone();
        Box::pin(async move {
            let body = serde_json::to_vec(&request).map_err(TransportError::ser_err)?;
            let answer = tokio::task::spawn_blocking(move || http.post(body)).await;
            answer.map_err(TransportErrorKind::custom)?
        })
    }
}

#[cfg(test)]
#[path = "tests/transport.rs"]
mod tests;
