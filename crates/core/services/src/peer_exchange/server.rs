//! Sans-I/O server of peer exchange.

use std::collections::VecDeque;

use bytes::Bytes;
use rand_chacha::ChaCha8Rng;
use undertone_gossip::Time;

use super::{
    NUM_PEERS_DEFAULT,
    codec::{
        PeerExchangeCodecLimits, PeerExchangeRequest, PeerExchangeResponse, PeerExchangeStatus,
    },
};
use crate::RequestNo;
use crate::rng::below;

#[cfg(test)]
#[path = "tests/server.rs"]
mod tests;

/// Limits on what a [`PeerExchangeServer`] holds and gives out.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct PeerExchangeLimits {
    /// Limits on frames.
    pub codec: PeerExchangeCodecLimits,
    /// Maximum number of node records of a response (nwaku).
    pub max_enrs: usize,
    /// Maximum number of node records that the server chooses from; more are ignored.
    pub max_known: usize,
}

impl Default for PeerExchangeLimits {
    fn default() -> Self {
        Self {
            codec: PeerExchangeCodecLimits::default(),
            max_enrs: 60,
            max_known: 1000,
        }
    }
}

/// Event that a driver hands to a [`PeerExchangeServer`].
#[derive(Clone, Debug)]
pub enum Input {
    /// A frame arrived.
    Request {
        /// Number that identifies the request in the answer.
        request: RequestNo,
        /// Bytes of the request frame.
        bytes: Bytes,
    },
    /// A peer opened a stream beyond the rate limit; the frame was not read.
    TooMany {
        /// Number that identifies the request in the answer.
        request: RequestNo,
    },
    /// Node records to give out from now on, replacing earlier ones: those of reachable nodes of this
    /// network, raw RLP. Empty ones and those longer than 300 bytes are ignored.
    Known {
        /// Node records, each as raw RLP.
        enrs: Vec<Bytes>,
    },
}

/// Work for the driver of a [`PeerExchangeServer`].
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Output {
    /// Answer to send.
    Respond {
        /// Number of the request.
        request: RequestNo,
        /// Bytes of the response frame.
        bytes: Bytes,
    },
}

/// Counters of a [`PeerExchangeServer`].
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct PeerExchangeStats {
    /// Requests that were answered with records, possibly none.
    pub served: u64,
    /// Requests that were refused.
    pub refused: u64,
    /// Node records given out.
    pub enrs: u64,
}

/// Server of peer exchange: call [`handle`](Self::handle), then drain [`poll`](Self::poll). It needs no
/// timer.
#[derive(Debug)]
pub struct PeerExchangeServer {
    limits: PeerExchangeLimits,
    rng: ChaCha8Rng,
    known: Vec<Bytes>,
    outputs: VecDeque<Output>,
    stats: PeerExchangeStats,
}

impl PeerExchangeServer {
    /// Creates a server without node records; `rng` selects the records of each response.
    pub fn new(rng: ChaCha8Rng, limits: PeerExchangeLimits) -> Self {
        Self {
            limits,
            rng,
            known: Vec::new(),
            outputs: VecDeque::new(),
            stats: PeerExchangeStats::default(),
        }
    }

    /// Handles an event.
    pub fn handle(&mut self, _now: Time, input: Input) {
        match input {
            Input::Request { request, bytes } => {
                let response = match PeerExchangeRequest::decode(&bytes, &self.limits.codec) {
                    Ok(wanted) => self.serve(wanted),
                    Err(error) => {
                        self.refuse(PeerExchangeStatus::BAD_REQUEST, Some(error.to_string()))
                    }
                };
                self.respond(request, &response);
            }
            Input::TooMany { request } => {
                let response = self.refuse(PeerExchangeStatus::TOO_MANY_REQUESTS, None);
                self.respond(request, &response);
            }
            Input::Known { enrs } => {
                let max_bytes = self.limits.codec.max_enr_bytes;
                let valid = |enr: &Bytes| !enr.is_empty() && enr.len() <= max_bytes;
                let valid = enrs.into_iter().filter(valid);
                self.known = valid.take(self.limits.max_known).collect();
            }
        }
    }

    /// Takes the next output.
    pub fn poll(&mut self) -> Option<Output> {
        self.outputs.pop_front()
    }

    /// Returns the server's counters.
    pub fn stats(&self) -> PeerExchangeStats {
        self.stats
    }

    /// Returns the number of node records that the server chooses from.
    pub fn known(&self) -> usize {
        self.known.len()
    }

    fn serve(&mut self, wanted: PeerExchangeRequest) -> PeerExchangeResponse {
        let wanted = wanted.num_peers.map_or(NUM_PEERS_DEFAULT, |number| {
            usize::try_from(number).unwrap_or(usize::MAX)
        });
        let count = wanted.min(self.limits.max_enrs).min(self.known.len());
        self.stats.served += 1;
        self.stats.enrs += count as u64;
        // The order of `known` has no meaning, so each sample may start from the order that the last
        // one left.
        for place in 0..count {
            let other = place + below(&mut self.rng, self.known.len() - place);
            self.known.swap(place, other);
        }
        PeerExchangeResponse {
            enrs: self.known[..count].to_vec(),
            status: PeerExchangeStatus::OK,
            status_desc: None,
            skipped: 0,
        }
    }

    fn refuse(
        &mut self,
        status: PeerExchangeStatus,
        status_desc: Option<String>,
    ) -> PeerExchangeResponse {
        self.stats.refused += 1;
        PeerExchangeResponse {
            enrs: Vec::new(),
            status,
            status_desc,
            skipped: 0,
        }
    }

    fn respond(&mut self, request: RequestNo, response: &PeerExchangeResponse) {
        let bytes = response.encode().into();
        self.outputs.push_back(Output::Respond { request, bytes });
    }
}
