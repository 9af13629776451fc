//! Transport of requests and answers, over HTTP or a WebSocket.

use std::io::Read;
use std::time::Duration;

use super::error::RpcError;
use super::{EndpointUrl, RPC_SCHEMES, RpcLimits};

mod tcp;
mod ws;

use ws::Socket;

/// Transport to one endpoint.
#[derive(Debug)]
pub(super) struct Transport {
    name: String,
    kind: Kind,
}

#[derive(Debug)]
enum Kind {
    Http { url: String, agent: ureq::Agent },
    Ws(Box<Socket>),
}

impl Transport {
    pub(super) fn new(url: &str, limits: &RpcLimits, announced: bool) -> Result<Self, RpcError> {
        let EndpointUrl { scheme, host } = EndpointUrl::parse(url, &RPC_SCHEMES)?;
        let name = format!("{scheme}://{host}");
        let kind = match scheme.as_str() {
            "ws" | "wss" => {
                let is_tls = scheme == "wss";
                Kind::Ws(Box::new(Socket::new(url, &host, is_tls, announced)))
            }
            _ => Kind::Http {
                url: url.to_owned(),
                agent: ureq::Agent::config_builder()
                    .timeout_global(Some(limits.timeout))
                    .http_status_as_error(false)
                    .max_redirects(0)
                    .build()
                    .into(),
            },
        };
        Ok(Self { name, kind })
    }

    /// Returns the URL with credentials removed, for logs.
    pub(super) fn name(&self) -> &str {
        &self.name
    }

    /// Sends a request and returns the answer's body.
    pub(super) fn call(
        &mut self,
        id: u64,
        body: String,
        limits: &RpcLimits,
    ) -> Result<Vec<u8>, RpcError> {
        match &mut self.kind {
            Kind::Http { url, agent } => http(agent, url, body, limits),
            Kind::Ws(socket) => socket.call(id, body, limits),
        }
    }

    /// Waits for the announcement of a block; returns `false` if none comes within `timeout`, and at once
    /// over HTTP.
    pub(super) fn wait(&mut self, timeout: Duration) -> bool {
        match &mut self.kind {
            Kind::Http { .. } => false,
            Kind::Ws(socket) => socket.wait(timeout),
        }
    }

    pub(super) fn is_subscribed(&self) -> bool {
        match &self.kind {
            Kind::Http { .. } => false,
            Kind::Ws(socket) => socket.is_subscribed(),
        }
    }
}

fn http(
    agent: &ureq::Agent,
    url: &str,
    body: String,
    limits: &RpcLimits,
) -> Result<Vec<u8>, RpcError> {
    let failed = |error| failed(error, limits);
    let mut response = agent
        .post(url)
        .header("content-type", "application/json")
        .send(body)
        .map_err(failed)?;
    let status = response.status().as_u16();
    if status == 429 {
        let seconds = response.headers().get("retry-after");
        let seconds = seconds.and_then(|value| value.to_str().ok()?.parse().ok());
        return Err(RpcError::Busy {
            retry_after: seconds.map(Duration::from_secs),
        });
    }
    // Some endpoints refuse a request with status 400 and give the reason in the body.
    if status != 200 && status != 400 {
        return Err(RpcError::Status { status });
    }
    let max_bytes = limits.max_answer_bytes;
    let mut bytes = Vec::new();
    let mut reader = response.body_mut().as_reader().take(max_bytes + 1);
    reader.read_to_end(&mut bytes).map_err(|error| {
        let timeout = error.kind() == std::io::ErrorKind::TimedOut
            || error
                .get_ref()
                .is_some_and(|source| source.to_string().contains("timeout"));
        match timeout {
            true => timed_out(limits),
            false => RpcError::Unreachable {
                detail: error.to_string(),
            },
        }
    })?;
    if bytes.len() as u64 > max_bytes {
        return Err(RpcError::TooLong { max_bytes });
    }
    Ok(bytes)
}

fn failed(error: ureq::Error, limits: &RpcLimits) -> RpcError {
    match error {
        ureq::Error::Timeout(_) => timed_out(limits),
        error => RpcError::Unreachable {
            detail: error.to_string(),
        },
    }
}

fn timed_out(limits: &RpcLimits) -> RpcError {
    RpcError::Timeout {
        after_ms: limits.timeout.as_millis() as u64,
    }
}

#[cfg(test)]
#[path = "tests/transport.rs"]
mod tests;
