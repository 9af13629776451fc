//! Times of a chain's blocks.

use std::collections::BTreeMap;
use std::thread;
use std::time::{Duration, Instant};

use super::chain::{Answer, Ask};
use super::config::EvmConfig;
use super::error::EvmError;
use super::rpc::{AnswerFault, Endpoints, RpcError};

const NS_PER_S: u64 = 1_000_000_000;

/// Client that requests the times of blocks from endpoints, each once.
///
/// The endpoints are trusted: neither hashes nor consensus prove that a block has the reported time. Times that
/// decrease from one block to a later one are rejected.
#[derive(Debug)]
pub struct BlockTimes {
    endpoints: Endpoints,
    patience: Duration,
    /// Known times by height, Unix seconds.
    known_s: BTreeMap<u64, u64>,
}

/// Error of requesting the time of a block.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{endpoint}: time of block {number}: {error}")]
pub struct BlockTimeError {
    /// Endpoint that failed last, without any key that its URL may contain.
    pub endpoint: String,
    /// Height of the block.
    pub number: u64,
    /// Failure of the endpoint.
    pub error: RpcError,
}

impl BlockTimes {
    /// Creates a client of the configured endpoints that gives up if none answers for `patience`.
    ///
    /// # Errors
    /// [`EvmError`] when a URL is invalid or missing.
    pub fn new(config: &EvmConfig, patience: Duration) -> Result<Self, EvmError> {
        Ok(Self {
            endpoints: config.endpoints(false)?,
            patience,
            known_s: BTreeMap::new(),
        })
    }

    /// Returns the time of the block at a height, Unix nanoseconds. Blocks for up to the patience while
    /// endpoints fail.
    ///
    /// # Errors
    /// [`BlockTimeError`] with the last failure when no endpoint gives a time within the patience.
    pub fn unix_ns(&mut self, number: u64) -> Result<u64, BlockTimeError> {
        let began = Instant::now();
        let mut failure = None;
        loop {
            let at = match self.endpoints.choose(Instant::now()) {
                Ok(at) => at,
                Err(wait) => {
                    let left = self.patience.saturating_sub(began.elapsed());
                    if let Some(error) = failure.take_if(|_| wait >= left) {
                        return Err(error);
                    }
                    thread::sleep(wait);
                    continue;
                }
            };
            match self.ask(at, number) {
                Ok(unix_s) => return Ok(unix_s.saturating_mul(NS_PER_S)),
                Err(error) => {
                    failure = Some(BlockTimeError {
                        endpoint: self.endpoints.name(at).to_owned(),
                        number,
                        error,
                    });
                }
            }
        }
    }

    fn ask(&mut self, at: usize, number: u64) -> Result<u64, RpcError> {
        if let Some(unix_s) = self.known_s.get(&number) {
            return Ok(*unix_s);
        }
        let ask = Ask::Time { number };
        let answer = match self.endpoints.ask(at, &ask) {
            Ok(answer) => answer,
            Err(error) => {
                // The endpoints record other failures themselves.
                if error.may_be_too_much() {
                    self.endpoints.blame(at, &error);
                }
                return Err(error);
            }
        };
        let earlier = self.known_s.range(..number).next_back();
        let later = self.known_s.range(number..).next();
        match answer {
            Answer::Time(unix_s)
                if earlier.is_none_or(|(_, earlier_s)| *earlier_s <= unix_s)
                    && later.is_none_or(|(_, later_s)| unix_s <= *later_s) =>
            {
                self.endpoints.worked(at);
                self.known_s.insert(number, unix_s);
                Ok(unix_s)
            }
            _ => {
                let fault = AnswerFault::Time;
                let error = RpcError::InvalidAnswer { fault };
                self.endpoints.blame(at, &error);
                Err(error)
            }
        }
    }
}
