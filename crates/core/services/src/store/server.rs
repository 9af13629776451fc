//! Store v3 server: turns requests into queries to an archive, and pages into responses.
//!
//! The driver feeds [`Input`]s, takes [`Output`]s until there are none, and sets a timer for
//! [`StoreServer::next_timeout`]. Each request gets exactly one response, unless its peer disconnects first.

use std::collections::{BTreeMap, VecDeque};
use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use undertone_gossip::Time;

use super::response::{StoreResponse, StoreStatus, entry_field_len, response_overhead};
use super::{ServerLimits, StoreRequest};
use crate::history::{HistoryError, HistoryPage, HistoryQuery, PageDirection};
use crate::turns::Turns;
use crate::{PeerNo, RequestNo};

#[cfg(test)]
mod tests;

/// Request id of refusals sent before the request was read (nwaku).
const UNREAD_REQUEST_ID: &str = "N/A";

/// Description of status 200.
const OK: &str = "OK";

/// Input of a [`StoreServer`].
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Input {
    /// A request arrived.
    Request {
        /// Peer that sent it.
        peer: PeerNo,
        /// Number of the request, chosen by the driver and not reused while the response is outstanding.
        request: RequestNo,
        /// The request without its length prefix.
        bytes: Bytes,
    },
    /// A request arrived beyond the rate limit.
    TooMany {
        /// Number of the request.
        request: RequestNo,
    },
    /// The archive has answered a query.
    Page {
        /// Number of the query.
        query: RequestNo,
        /// The page, or why there is none.
        result: Result<HistoryPage, HistoryError>,
    },
    /// A peer disconnected, and the streams of its requests are gone.
    PeerGone(PeerNo),
    /// A timer may be due.
    Tick,
}

/// Output of a [`StoreServer`].
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Output {
    /// The driver writes a response and closes the stream.
    Respond {
        /// Number of the request.
        request: RequestNo,
        /// The response without its length prefix.
        bytes: Bytes,
    },
    /// The driver asks the archive and reports the answer with [`Input::Page`].
    Query {
        /// Number of the query.
        query: RequestNo,
        /// Query for the archive to answer.
        content: HistoryQuery,
    },
}

/// Time after which an abandoned query counts as done, although the archive has not answered it.
const GIVEN_UP: Duration = Duration::from_secs(60);

/// Query that has not been answered.
#[derive(Debug)]
struct PendingQuery {
    peer: PeerNo,
    request: RequestNo,
    request_id: Arc<str>,
    direction: PageDirection,
    expires: Time,
    /// The query itself, until the archive is asked.
    content: Option<HistoryQuery>,
}

/// Server of Store v3.
#[derive(Debug)]
pub struct StoreServer {
    limits: ServerLimits,
    /// Queries by number, which is also the order of their expiry.
    pending: BTreeMap<RequestNo, PendingQuery>,
    /// Number of each peer's pending queries; no entry is 0.
    per_peer: BTreeMap<PeerNo, usize>,
    /// Pending queries not yet sent to the archive.
    turns: Turns,
    /// Queries at the archive that nobody waits for, and when they count as done.
    abandoned: BTreeMap<RequestNo, Time>,
    next_query: u64,
    outputs: VecDeque<Output>,
}

impl StoreServer {
    /// Creates a server without requests.
    pub fn new(limits: ServerLimits) -> Self {
        Self {
            limits,
            pending: BTreeMap::new(),
            per_peer: BTreeMap::new(),
            turns: Turns::default(),
            abandoned: BTreeMap::new(),
            next_query: 0,
            outputs: VecDeque::new(),
        }
    }

    /// Handles an input at time `now`.
    pub fn handle(&mut self, now: Time, input: Input) {
        self.expire(now);
        match input {
            Input::Request {
                peer,
                request,
                bytes,
            } => self.request(now, peer, request, &bytes),
            Input::TooMany { request } => self.refuse_unread(request, StoreStatus::TooManyRequests),
            Input::Page { query, result } => self.page(query, result),
            Input::PeerGone(peer) => self.peer_gone(now, peer),
            Input::Tick => {}
        }
        self.ask_archive();
    }

    /// Returns the next output; `None` if there is none for now.
    pub fn poll(&mut self) -> Option<Output> {
        self.outputs.pop_front()
    }

    /// Returns when [`Input::Tick`] is due; `None` without pending queries.
    pub fn next_timeout(&self) -> Option<Time> {
        let (_, first) = self.pending.first_key_value()?;
        Some(first.expires)
    }

    fn request(&mut self, now: Time, peer: PeerNo, request: RequestNo, bytes: &Bytes) {
        let of_peer = self.per_peer.get(&peer).copied().unwrap_or(0);
        if of_peer >= self.limits.max_queries_per_peer {
            return self.refuse_unread(request, StoreStatus::TooManyRequests);
        }
        if self.pending.len() >= self.limits.max_queries && !self.make_place(of_peer) {
            return self.refuse_unread(request, StoreStatus::ServiceUnavailable);
        }
        match StoreRequest::decode(bytes, &self.limits.request) {
            Ok(asked) => {
                let query = RequestNo(self.next_query);
                self.next_query += 1;
                let pending = PendingQuery {
                    peer,
                    request,
                    request_id: asked.request_id,
                    direction: asked.query.direction,
                    expires: now.after(self.limits.query_timeout),
                    content: Some(asked.query),
                };
                self.pending.insert(query, pending);
                self.per_peer.insert(peer, of_peer + 1);
                self.turns.push(peer, query);
            }
            Err(error) => {
                let id = StoreRequest::request_id_in(bytes, &self.limits.request);
                let text = format!("decoding rpc failed: {error}");
                let response =
                    StoreResponse::refusal(id.unwrap_or_default(), StoreStatus::BadRequest, text);
                self.respond(request, &response);
            }
        }
    }

    /// Frees a slot for a query of a peer that has `of_peer` others: drops the last waiting query of the peer
    /// with the most, if that peer has at least two more.
    fn make_place(&mut self, of_peer: usize) -> bool {
        let Some((query, waiting)) = self.turns.last_of_greediest() else {
            return false;
        };
        if waiting < of_peer + 2 {
            return false;
        }
        let Some(pending) = self.take(query) else {
            return false;
        };
        let response = refusal(pending.request_id, HistoryError::Unavailable);
        self.respond(pending.request, &response);
        true
    }

    /// Sends the archive as many queries as it may have, of each peer in turn.
    fn ask_archive(&mut self) {
        while self.pending.len() - self.turns.len() + self.abandoned.len() < self.limits.max_asked
            && let Some(query) = self.turns.pop()
        {
            let pending = self.pending.get_mut(&query);
            if let Some(content) = pending.and_then(|pending| pending.content.take()) {
                self.outputs.push_back(Output::Query { query, content });
            }
        }
    }

    fn peer_gone(&mut self, now: Time, peer: PeerNo) {
        if !self.per_peer.contains_key(&peer) {
            return;
        }
        let of_peer = self.pending.iter().filter(|(_, one)| one.peer == peer);
        let queries: Vec<_> = of_peer.map(|(&query, _)| query).collect();
        for query in queries {
            self.abandon(now, query);
        }
    }

    /// Drops a query. If the archive was asked, it is still working on it.
    fn abandon(&mut self, now: Time, query: RequestNo) -> Option<PendingQuery> {
        let pending = self.take(query)?;
        if pending.content.is_none() {
            self.abandoned.insert(query, now.after(GIVEN_UP));
        }
        Some(pending)
    }

    fn page(&mut self, query: RequestNo, result: Result<HistoryPage, HistoryError>) {
        self.abandoned.remove(&query);
        // A query is unknown once it has expired or its peer has disconnected.
        let Some(pending) = self.take(query) else {
            return;
        };
        let response = match result {
            Ok(page) => {
                let overhead = response_overhead(&pending.request_id, OK);
                let budget = self.limits.max_response_bytes.saturating_sub(overhead);
                StoreResponse {
                    request_id: pending.request_id,
                    status: StoreStatus::Ok,
                    description: OK.into(),
                    page: cut_page(page, pending.direction, budget),
                }
            }
            Err(error) => refusal(pending.request_id, error),
        };
        self.respond(pending.request, &response);
    }

    /// Answers the queries that have timed out.
    fn expire(&mut self, now: Time) {
        self.abandoned.retain(|_, until| *until > now);
        while let Some((&query, pending)) = self.pending.first_key_value()
            && pending.expires <= now
            && let Some(pending) = self.abandon(now, query)
        {
            let response = refusal(pending.request_id, HistoryError::Unavailable);
            self.respond(pending.request, &response);
        }
    }

    fn take(&mut self, query: RequestNo) -> Option<PendingQuery> {
        let pending = self.pending.remove(&query)?;
        if pending.content.is_some() {
            self.turns.remove(pending.peer, query);
        }
        if let Some(count) = self.per_peer.get_mut(&pending.peer) {
            *count -= 1;
            if *count == 0 {
                self.per_peer.remove(&pending.peer);
            }
        }
        Some(pending)
    }

    fn refuse_unread(&mut self, request: RequestNo, status: StoreStatus) {
        let text = match status {
            StoreStatus::TooManyRequests => "TOO_MANY_REQUESTS",
            _ => "SERVICE_UNAVAILABLE",
        };
        let response = StoreResponse::refusal(UNREAD_REQUEST_ID, status, text);
        self.respond(request, &response);
    }

    fn respond(&mut self, request: RequestNo, response: &StoreResponse) {
        self.outputs.push_back(Output::Respond {
            request,
            bytes: response.encode().into(),
        });
    }
}

/// Returns the response to a query that the archive failed to answer; the texts are nwaku's.
fn refusal(request_id: Arc<str>, error: HistoryError) -> StoreResponse {
    let (status, text) = match error {
        HistoryError::UnknownCursor => (
            StoreStatus::BadResponse,
            "BAD_RESPONSE: archive error: DRIVER_ERROR: cursor not found",
        ),
        HistoryError::Unavailable => (StoreStatus::ServiceUnavailable, "SERVICE_UNAVAILABLE"),
    };
    StoreResponse::refusal(request_id, status, text)
}

/// Keeps as many entries as fit `budget_bytes`, at least one, from the side where the walk enters the page. If
/// any was cut, the last one kept becomes the cursor.
fn cut_page(mut page: HistoryPage, direction: PageDirection, budget_bytes: usize) -> HistoryPage {
    let count = page.entries.len();
    let fits = |lens: &mut dyn Iterator<Item = usize>| {
        let mut total_bytes = 0;
        let fit = lens.take_while(|len| {
            total_bytes += len;
            total_bytes <= budget_bytes
        });
        fit.count().max(1)
    };
    let kept = match direction {
        PageDirection::Forward => fits(&mut page.entries.iter().map(entry_field_len)),
        PageDirection::Backward => fits(&mut page.entries.iter().rev().map(entry_field_len)),
    };
    if kept >= count {
        return page;
    }
    match direction {
        PageDirection::Forward => {
            page.entries.truncate(kept);
            page.next = page.entries.last().map(|entry| entry.hash);
        }
        PageDirection::Backward => {
            page.entries.drain(..count - kept);
            page.next = page.entries.first().map(|entry| entry.hash);
        }
    }
    page
}
