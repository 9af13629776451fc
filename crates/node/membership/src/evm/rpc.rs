//! Requests to endpoints: one at a time, with timeouts and backoff; no answer is trusted unchecked.

use std::time::{Duration, Instant};

use super::chain::{Answer, Ask, Contract};

mod check;
mod error;
mod json;
mod transport;
mod url;

pub use error::{AnswerFault, RpcError};
use json::Quantity;
use transport::Transport;
pub use url::{EndpointUrl, without_credentials};

/// Schemes of endpoints.
pub const RPC_SCHEMES: [&str; 4] = ["http", "https", "ws", "wss"];

/// Limits and timeouts of requests to endpoints.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RpcLimits {
    /// Timeout of one request, from looking up the name to the last byte of the answer.
    pub timeout: Duration,
    /// Maximum length of an answer with events, in bytes, after decompression. Other answers are limited to
    /// the length of the longest valid one.
    pub max_answer_bytes: u64,
    /// Time for which an endpoint is not used after its first failure; doubled by each further one.
    pub backoff: Duration,
    /// Maximum time for which an endpoint is not used.
    pub max_backoff: Duration,
}

impl Default for RpcLimits {
    fn default() -> Self {
        Self {
            timeout: Duration::from_secs(10),
            max_answer_bytes: 32 << 20,
            backoff: Duration::from_secs(1),
            max_backoff: Duration::from_secs(60),
        }
    }
}

/// Number of requests and bytes exchanged with all endpoints so far.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct RpcCosts {
    /// Number of requests sent.
    pub requests: u64,
    /// Number of requests without a useful answer.
    pub failures: u64,
    /// Bytes sent in the requests' bodies.
    pub sent_bytes: u64,
    /// Bytes received in the answers' bodies, after decompression.
    pub received_bytes: u64,
}

/// Requests and failures of one endpoint so far.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct EndpointCosts {
    /// The endpoint's URL without path and user name, which may hold a key.
    pub name: String,
    /// Number of requests sent to the endpoint.
    pub requests: u64,
    /// Number of requests without a useful answer.
    pub failures: u64,
}

/// The configured endpoints, in order of preference.
#[derive(Debug)]
pub(super) struct Endpoints {
    contract: Contract,
    limits: RpcLimits,
    list: Vec<RpcEndpoint>,
    costs: RpcCosts,
}

#[derive(Debug)]
struct RpcEndpoint {
    transport: Transport,
    /// Whether the endpoint's chain id was verified since the last failure.
    checked: bool,
    /// Number of consecutive failures.
    failures: u32,
    requests_total: u64,
    failures_total: u64,
    not_before: Option<Instant>,
}

impl Endpoints {
    /// Creates the endpoints at these URLs: `http`, `https`, `ws` or `wss`. With `announced` the
    /// latter two are asked to announce new blocks.
    pub(super) fn new(
        urls: &[String],
        contract: Contract,
        limits: RpcLimits,
        announced: bool,
    ) -> Result<Self, RpcError> {
        let open = |url: &String| {
            Ok(RpcEndpoint {
                transport: Transport::new(url, &limits, announced)?,
                checked: false,
                failures: 0,
                requests_total: 0,
                failures_total: 0,
                not_before: None,
            })
        };
        Ok(Self {
            contract,
            limits,
            list: urls.iter().map(open).collect::<Result<_, RpcError>>()?,
            costs: RpcCosts::default(),
        })
    }

    /// Returns the number of requests and bytes so far.
    pub(super) fn costs(&self) -> RpcCosts {
        self.costs
    }

    /// Returns the requests and failures of each endpoint, in order of preference.
    pub(super) fn each(&self) -> Vec<EndpointCosts> {
        let costs = |endpoint: &RpcEndpoint| EndpointCosts {
            name: endpoint.transport.name().to_owned(),
            requests: endpoint.requests_total,
            failures: endpoint.failures_total,
        };
        self.list.iter().map(costs).collect()
    }

    /// Returns the endpoint to use at `now`, or how long to wait until one may be used.
    pub(super) fn choose(&self, now: Instant) -> Result<usize, Duration> {
        let wait = |endpoint: &RpcEndpoint| {
            let until = endpoint.not_before.unwrap_or(now);
            until.saturating_duration_since(now)
        };
        let waits = self.list.iter().map(wait).enumerate();
        match waits.min_by_key(|(at, wait)| (*wait, *at)) {
            Some((at, Duration::ZERO)) => Ok(at),
            Some((_, wait)) => Err(wait),
            None => Err(self.limits.max_backoff),
        }
    }

    /// Returns the URL of an endpoint with credentials removed, for logs.
    pub(super) fn name(&self, at: usize) -> &str {
        self.list[at].transport.name()
    }

    /// Sends a request to endpoint `at`. Failures count until [`Self::worked`] is called.
    pub(super) fn ask(&mut self, at: usize, ask: &Ask) -> Result<Answer, RpcError> {
        self.check_chain(at)?;
        let (method, parameters) = json::request(&self.contract, ask);
        let max_bytes = json::max_answer_bytes(ask).unwrap_or(u64::MAX);
        let contract = self.contract;
        self.call(at, method, &parameters, max_bytes, |id, bytes| {
            check::answer(&contract, ask, id, bytes)
        })
    }

    /// Resets the consecutive failures of endpoint `at`, after it gave a useful answer.
    pub(super) fn worked(&mut self, at: usize) {
        self.list[at].failures = 0;
    }

    /// Calls the contract by `eth_call` at the newest block; returns the bytes of the result.
    pub(super) fn view(&mut self, at: usize, data: Vec<u8>) -> Result<Vec<u8>, RpcError> {
        self.check_chain(at)?;
        let parameters = json::call(&self.contract, &data, None);
        let contract = self.contract;
        let max_bytes = json::SMALL_ANSWER_BYTES;
        self.call(at, "eth_call", &parameters, max_bytes, |id, bytes| {
            check::called(&contract, id, bytes)
        })
    }

    /// Records a failure of an endpoint, which is then not used for some time.
    pub(super) fn blame(&mut self, at: usize, error: &RpcError) {
        self.costs.failures += 1;
        let limits = self.limits;
        let endpoint = &mut self.list[at];
        let doubled = limits
            .backoff
            .saturating_mul(1 << endpoint.failures.min(16));
        let wait = match error {
            RpcError::Busy {
                retry_after: Some(wait),
            } => (*wait).max(limits.backoff),
            _ => doubled,
        };
        endpoint.failures += 1;
        endpoint.failures_total += 1;
        endpoint.checked = false;
        endpoint.not_before = Some(Instant::now() + wait.min(limits.max_backoff));
    }

    /// Waits for an endpoint's announcement of a block, for at most `timeout`; over HTTP
    /// returns at once.
    pub(super) fn wait(&mut self, at: usize, timeout: Duration) -> bool {
        self.list[at].transport.wait(timeout)
    }

    /// Whether an endpoint announces new blocks.
    pub(super) fn is_subscribed(&self, at: usize) -> bool {
        self.list[at].transport.is_subscribed()
    }

    fn check_chain(&mut self, at: usize) -> Result<(), RpcError> {
        if self.list[at].checked {
            return Ok(());
        }
        let expected = self.contract.chain_id;
        let max_bytes = json::SMALL_ANSWER_BYTES;
        self.call(
            at,
            "eth_chainId",
            "[]",
            max_bytes,
            |id, bytes| match json::result(id, bytes)? {
                Some(Quantity(found)) if found == expected => Ok(()),
                Some(Quantity(found)) => Err(RpcError::OtherChain { found, expected }),
                None => Err(RpcError::InvalidAnswer {
                    fault: AnswerFault::Shape,
                }),
            },
        )?;
        self.list[at].checked = true;
        Ok(())
    }

    /// Sends a request and reads the answer, of at most `max_bytes`.
    fn call<T>(
        &mut self,
        at: usize,
        method: &str,
        parameters: &str,
        max_bytes: u64,
        read: impl FnOnce(u64, &[u8]) -> Result<T, RpcError>,
    ) -> Result<T, RpcError> {
        self.costs.requests += 1;
        let id = self.costs.requests;
        let body =
            format!(r#"{{"jsonrpc":"2.0","id":{id},"method":"{method}","params":{parameters}}}"#);
        self.costs.sent_bytes += body.len() as u64;
        let limits = RpcLimits {
            max_answer_bytes: self.limits.max_answer_bytes.min(max_bytes),
            ..self.limits
        };
        let endpoint = &mut self.list[at];
        endpoint.requests_total += 1;
        let answer = endpoint.transport.call(id, body, &limits);
        let result = answer.and_then(|bytes| {
            self.costs.received_bytes += bytes.len() as u64;
            read(id, &bytes)
        });
        if let Err(error) = &result
            && !error.may_be_too_much()
        {
            self.blame(at, error);
        }
        result
    }
}

#[cfg(test)]
#[path = "tests/rpc.rs"]
mod tests;
