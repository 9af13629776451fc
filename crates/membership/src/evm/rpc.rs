//! Asking endpoints: one after the other, with time limits, patience, and no trust.

use std::time::{Duration, Instant};

use super::chain::{Answer, Ask, Contract};

mod check;
mod error;
mod json;
mod transport;

pub use error::{Fault, RpcError};
use json::Json;
use transport::Transport;

/// How endpoints are asked.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RpcLimits {
    /// Time for one answer.
    pub timeout: Duration,
    /// Longest answer, bytes.
    pub max_answer_bytes: u64,
    /// How long an endpoint is left alone after its first failure; twice as long after each more.
    pub backoff: Duration,
    /// The longest that it is left alone.
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

/// What asking has cost so far.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct RpcCosts {
    /// Requests sent.
    pub requests: u64,
    /// Requests without a useful answer.
    pub failures: u64,
    /// Bytes of the requests' bodies.
    pub sent_bytes: u64,
    /// Bytes of the answers' bodies, unpacked where an endpoint packs them.
    pub received_bytes: u64,
}

/// What one endpoint was asked so far.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct EndpointCosts {
    /// Its URL, without what may be a key.
    pub name: String,
    /// Requests sent to it.
    pub requests: u64,
    /// Requests without a useful answer.
    pub failures: u64,
}

/// The endpoints, in order of preference.
#[derive(Debug)]
pub(super) struct Endpoints {
    contract: Contract,
    limits: RpcLimits,
    list: Vec<Endpoint>,
    costs: RpcCosts,
}

#[derive(Debug)]
struct Endpoint {
    transport: Transport,
    /// Its chain was asked for since the last failure.
    checked: bool,
    /// In a row.
    failures: u32,
    requests_total: u64,
    failures_total: u64,
    not_before: Option<Instant>,
}

impl Endpoints {
    /// Endpoints at these URLs: `http`, `https`, `ws` or `wss`. The latter are asked to announce
    /// new blocks if `announced`.
    pub(super) fn new(
        urls: &[String],
        contract: Contract,
        limits: RpcLimits,
        announced: bool,
    ) -> Result<Self, RpcError> {
        let open = |url: &String| {
            Ok(Endpoint {
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

    /// What asking has cost.
    pub(super) fn costs(&self) -> RpcCosts {
        self.costs
    }

    /// What each endpoint had to do with that, in order of preference.
    pub(super) fn each(&self) -> Vec<EndpointCosts> {
        let costs = |endpoint: &Endpoint| EndpointCosts {
            name: endpoint.transport.name().to_owned(),
            requests: endpoint.requests_total,
            failures: endpoint.failures_total,
        };
        self.list.iter().map(costs).collect()
    }

    /// The endpoint to ask at `now`, or how long to wait for one.
    pub(super) fn choose(&self, now: Instant) -> Result<usize, Duration> {
        let wait = |endpoint: &Endpoint| {
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

    /// The URL of an endpoint, without what may be a key.
    pub(super) fn name(&self, at: usize) -> &str {
        self.list[at].transport.name()
    }

    /// Asks endpoint `at`. A failure is remembered until it [`Self::worked`].
    pub(super) fn ask(&mut self, at: usize, ask: &Ask) -> Result<Answer, RpcError> {
        self.check_chain(at)?;
        let (method, parameters) = json::request(&self.contract, ask);
        let result = self.call(at, method, &parameters)?;
        let answer = check::answer(&self.contract, ask, &result);
        answer.inspect_err(|error| self.blame(at, error))
    }

    /// Forgets the failures in a row of endpoint `at`, which was of use.
    pub(super) fn worked(&mut self, at: usize) {
        self.list[at].failures = 0;
    }

    /// One `eth_call` of the contract at the newest block; the words of its result.
    pub(super) fn view(&mut self, at: usize, data: Vec<u8>) -> Result<Vec<u8>, RpcError> {
        self.check_chain(at)?;
        let parameters = json::call(&self.contract, &data, None);
        let result = self.call(at, "eth_call", &parameters)?;
        check::bytes(&result).ok_or(RpcError::Nonsense {
            fault: Fault::Shape,
        })
    }

    /// Leaves an endpoint alone for a while.
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

    /// Waits for a new block where an endpoint tells of them; at most `timeout`.
    pub(super) fn wait(&mut self, at: usize, timeout: Duration) -> bool {
        self.list[at].transport.wait(timeout)
    }

    /// Whether an endpoint tells of new blocks.
    pub(super) fn is_subscribed(&self, at: usize) -> bool {
        self.list[at].transport.is_subscribed()
    }

    fn check_chain(&mut self, at: usize) -> Result<(), RpcError> {
        if self.list[at].checked {
            return Ok(());
        }
        let result = self.call(at, "eth_chainId", "[]")?;
        let found = check::quantity(&result);
        if found == Some(self.contract.chain_id) {
            self.list[at].checked = true;
            return Ok(());
        }
        let error = match found {
            Some(found) => RpcError::OtherChain {
                found,
                expected: self.contract.chain_id,
            },
            None => RpcError::Nonsense {
                fault: Fault::Shape,
            },
        };
        self.blame(at, &error);
        Err(error)
    }

    fn call(&mut self, at: usize, method: &str, parameters: &str) -> Result<Json, RpcError> {
        self.costs.requests += 1;
        let id = self.costs.requests;
        let body =
            format!(r#"{{"jsonrpc":"2.0","id":{id},"method":"{method}","params":{parameters}}}"#);
        self.costs.sent_bytes += body.len() as u64;
        let endpoint = &mut self.list[at];
        endpoint.requests_total += 1;
        let answer = endpoint.transport.call(id, body, &self.limits);
        let result = match answer {
            Ok(bytes) => {
                self.costs.received_bytes += bytes.len() as u64;
                json::result(id, &bytes)
            }
            Err(error) => Err(error),
        };
        if let Err(error) = &result
            && !error.may_be_too_much()
        {
            self.blame(at, error);
        }
        result
    }
}

#[cfg(test)]
mod tests;
