//! Sans-I/O server of rendezvous.

use std::collections::{BTreeMap, VecDeque};
use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use rand_chacha::ChaCha8Rng;
use rand_core::RngCore;
use undertone_gossip::Time;

use super::cluster_prefix;
use super::codec::{
    DiscoverResponse, FoundRegistration, RegisterResponse, RendezvousCodecLimits,
    RendezvousRequest, RendezvousStatus,
};
use super::io::{Input, Output, RendezvousStats};
use super::registrations::{Registration, RegistrationLimits, RegistrationRefusal, Registrations};
use crate::rng::below;
use crate::{PeerNo, RequestNo};

mod cookie;

#[cfg(test)]
mod tests;

use cookie::Cookie;

/// Limits on what a [`RendezvousServer`] holds and returns.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct RendezvousLimits {
    /// Limits on frames.
    pub codec: RendezvousCodecLimits,
    /// Bounds on the registrations kept.
    pub registrations: RegistrationLimits,
    /// Maximum length of a namespace, in bytes (libp2p).
    pub max_namespace_bytes: usize,
    /// Maximum length of a signed record, in bytes: room for sixteen addresses of a hundred bytes.
    pub max_record_bytes: usize,
    /// Minimum lifetime of a registration, and its default, in seconds (nwaku).
    pub min_ttl_s: u64,
    /// Maximum lifetime of a registration, in seconds (libp2p).
    pub max_ttl_s: u64,
    /// Maximum number of registrations of a response; a client continues with the cookie.
    pub max_found: usize,
    /// Maximum length of the registrations of a response, in bytes.
    pub max_found_bytes: usize,
    /// Maximum number of records being checked at a time.
    pub max_checks: usize,
}

impl Default for RendezvousLimits {
    fn default() -> Self {
        Self {
            codec: RendezvousCodecLimits::default(),
            registrations: RegistrationLimits::default(),
            max_namespace_bytes: 255,
            max_record_bytes: 2048,
            min_ttl_s: 60,
            max_ttl_s: 72 * 3600,
            max_found: 100,
            max_found_bytes: 56 * 1024,
            max_checks: 64,
        }
    }
}

/// Registration whose record is being checked.
#[derive(Debug)]
struct Unchecked {
    peer: PeerNo,
    namespace: Arc<str>,
    record: Bytes,
    ttl_s: u64,
}

/// Server of rendezvous for one cluster: call [`handle`](Self::handle), then drain [`poll`](Self::poll), and call again at
/// [`next_timeout`](Self::next_timeout).
#[derive(Debug)]
pub struct RendezvousServer {
    limits: RendezvousLimits,
    /// Prefix of the namespaces that the server keeps.
    prefix: String,
    rng: ChaCha8Rng,
    /// Random number of this run, which marks its cookies.
    run: u64,
    registrations: Registrations,
    unchecked: BTreeMap<RequestNo, Unchecked>,
    outputs: VecDeque<Output>,
    stats: RendezvousStats,
}

impl RendezvousServer {
    /// Creates a server without registrations; `rng` shuffles those in a response.
    pub fn new(cluster: u16, mut rng: ChaCha8Rng, limits: RendezvousLimits) -> Self {
        Self {
            limits,
            prefix: cluster_prefix(cluster),
            run: rng.next_u64(),
            rng,
            registrations: Registrations::new(limits.registrations),
            unchecked: BTreeMap::new(),
            outputs: VecDeque::new(),
            stats: RendezvousStats::default(),
        }
    }

    /// Handles an event.
    pub fn handle(&mut self, now: Time, input: Input) {
        self.registrations.expire(now);
        match input {
            Input::Request {
                peer,
                request,
                bytes,
            } => self.request(now, peer, request, &bytes),
            Input::TooMany { request, bytes } => {
                let status = RendezvousStatus::UNAVAILABLE;
                match RendezvousRequest::is_discover(&bytes) {
                    true => self.refuse_discover(request, status),
                    false => self.refuse_register(request, status),
                }
            }
            Input::RecordChecked { request, is_valid } => {
                if let Some(checked) = self.unchecked.remove(&request) {
                    match is_valid {
                        true => self.keep(now, request, checked),
                        false => self
                            .refuse_register(request, RendezvousStatus::INVALID_SIGNED_PEER_RECORD),
                    }
                }
            }
            Input::PeerGone(peer) => {
                self.unchecked.retain(|_, unchecked| unchecked.peer != peer);
                self.registrations.left(peer);
            }
            Input::Tick => {}
        }
    }

    /// Takes the next output.
    pub fn poll(&mut self) -> Option<Output> {
        self.outputs.pop_front()
    }

    /// Returns when [`Input::Tick`] is due; `None` without registrations.
    pub fn next_timeout(&self) -> Option<Time> {
        self.registrations.first_end()
    }

    /// Returns the server's counters.
    pub fn stats(&self) -> RendezvousStats {
        self.stats
    }

    /// Returns the number of registrations kept.
    pub fn registrations(&self) -> usize {
        self.registrations.len()
    }

    /// Returns the number of namespaces that have registrations.
    pub fn namespaces(&self) -> usize {
        self.registrations.namespaces()
    }

    /// Whether a peer has a registration, so that its number must not be reassigned.
    pub fn is_registered(&self, peer: PeerNo) -> bool {
        self.registrations.has_peer(peer)
    }

    fn request(&mut self, now: Time, peer: PeerNo, request: RequestNo, bytes: &Bytes) {
        match RendezvousRequest::decode(bytes, &self.limits.codec) {
            Ok(RendezvousRequest::Register {
                namespace,
                record,
                ttl_s,
            }) => {
                self.stats.register_requests += 1;
                match self.judged(peer, namespace, bytes.slice_ref(record), ttl_s) {
                    Ok(registration) => self.register(now, request, registration),
                    Err(status) => self.refuse_register(request, status),
                }
            }
            Ok(RendezvousRequest::Unregister { namespace }) => {
                if let Ok(namespace) = std::str::from_utf8(namespace) {
                    self.registrations.remove(peer, namespace);
                }
                self.outputs.push_back(Output::Close { request });
            }
            Ok(RendezvousRequest::Discover {
                namespace,
                limit,
                cookie,
            }) => {
                self.stats.discover_requests += 1;
                match self.discover(now, namespace, limit, cookie) {
                    Ok(response) => self.respond(request, response.encode()),
                    Err(status) => self.refuse_discover(request, status),
                }
            }
            // Without a type it is unknown which answer the peer can read.
            Err(_) => {
                self.stats.refused += 1;
                self.outputs.push_back(Output::Close { request });
            }
        }
    }

    /// Checks everything about a registration except the signature.
    fn judged(
        &self,
        peer: PeerNo,
        namespace: &[u8],
        record: Bytes,
        ttl_s: Option<u64>,
    ) -> Result<Unchecked, RendezvousStatus> {
        let namespace = self.named(namespace)?;
        if !namespace.starts_with(&self.prefix) {
            return Err(RendezvousStatus::INVALID_NAMESPACE);
        }
        let ttl_s = ttl_s.unwrap_or(self.limits.min_ttl_s);
        if !(self.limits.min_ttl_s..=self.limits.max_ttl_s).contains(&ttl_s) {
            return Err(RendezvousStatus::INVALID_TTL);
        }
        if record.is_empty() || record.len() > self.limits.max_record_bytes {
            return Err(RendezvousStatus::INVALID_SIGNED_PEER_RECORD);
        }
        Ok(Unchecked {
            peer,
            namespace: namespace.into(),
            // A copy, so that a small record does not keep a large frame alive.
            record: Bytes::copy_from_slice(&record),
            ttl_s,
        })
    }

    fn named<'a>(&self, namespace: &'a [u8]) -> Result<&'a str, RendezvousStatus> {
        let bad = RendezvousStatus::INVALID_NAMESPACE;
        match namespace.len() <= self.limits.max_namespace_bytes {
            true => std::str::from_utf8(namespace).map_err(|_| bad),
            false => Err(bad),
        }
    }

    fn register(&mut self, now: Time, request: RequestNo, registration: Unchecked) {
        let (peer, record) = (registration.peer, registration.record.clone());
        if self.registrations.has_record(peer, &record) {
            // It was checked when it was first registered.
            self.keep(now, request, registration);
        } else if self.unchecked.len() < self.limits.max_checks {
            self.unchecked.insert(request, registration);
            self.outputs.push_back(Output::CheckRecord {
                request,
                peer,
                record,
            });
        } else {
            self.refuse_register(request, RendezvousStatus::UNAVAILABLE);
        }
    }

    fn keep(&mut self, now: Time, request: RequestNo, checked: Unchecked) {
        let ttl_s = checked.ttl_s;
        let kept = self.registrations.insert(Registration {
            peer: checked.peer,
            namespace: checked.namespace,
            record: checked.record,
            made: now,
            expires: now.after(Duration::from_secs(ttl_s)),
        });
        match kept {
            Ok(()) => {
                self.stats.registered += 1;
                let response = RegisterResponse {
                    status: RendezvousStatus::OK,
                    text: None,
                    ttl_s: Some(ttl_s),
                };
                self.respond(request, response.encode());
            }
            Err(RegistrationRefusal::TooManyOfPeer) => {
                self.refuse_register(request, RendezvousStatus::NOT_AUTHORIZED);
            }
            Err(RegistrationRefusal::NoRoom) => {
                self.refuse_register(request, RendezvousStatus::UNAVAILABLE);
            }
        }
    }

    fn discover(
        &mut self,
        now: Time,
        namespace: Option<&[u8]>,
        limit: Option<u64>,
        cookie: Option<&[u8]>,
    ) -> Result<DiscoverResponse, RendezvousStatus> {
        // An empty namespace counts as absent: it is the default of the specification's field.
        let namespace = namespace.filter(|namespace| !namespace.is_empty());
        let namespace = namespace.map(|one| self.named(one)).transpose()?;
        if cookie.is_some_and(|cookie| cookie.len() > self.limits.codec.max_cookie_bytes) {
            return Err(RendezvousStatus::INVALID_COOKIE);
        }
        let cookie = cookie.and_then(|cookie| Cookie::read(cookie, self.run, namespace));
        let mut next = cookie.map_or(0, |cookie| cookie.next);
        let limit = limit.map_or(usize::MAX, |limit| {
            usize::try_from(limit).unwrap_or(usize::MAX)
        });
        let limit = limit.min(self.limits.max_found);
        let (mut found, mut bytes) = (Vec::new(), 0);
        for (number, one) in self.registrations.from(namespace, next).take(limit) {
            let one = FoundRegistration {
                namespace: Bytes::copy_from_slice(one.namespace.as_bytes()),
                record: one.record.clone(),
                ttl_s: Some(one.expires.since(now).as_secs()),
            };
            bytes += one.field_len();
            if bytes > self.limits.max_found_bytes {
                break;
            }
            next = number + 1;
            found.push(one);
        }
        self.stats.served += 1;
        self.stats.given += found.len() as u64;
        // The order would reveal who registered when.
        for place in 1..found.len() {
            let other = below(&mut self.rng, place + 1);
            found.swap(place, other);
        }
        Ok(DiscoverResponse {
            found,
            cookie: Some(Cookie { next }.write(self.run, namespace).into()),
            status: RendezvousStatus::OK,
            text: None,
            skipped: 0,
        })
    }

    fn refuse_register(&mut self, request: RequestNo, status: RendezvousStatus) {
        self.stats.refused += 1;
        let response = RegisterResponse {
            status,
            text: None,
            ttl_s: None,
        };
        self.respond(request, response.encode());
    }

    fn refuse_discover(&mut self, request: RequestNo, status: RendezvousStatus) {
        self.stats.refused += 1;
        let response = DiscoverResponse {
            found: Vec::new(),
            cookie: None,
            status,
            text: None,
            skipped: 0,
        };
        self.respond(request, response.encode());
    }

    fn respond(&mut self, request: RequestNo, bytes: Vec<u8>) {
        let bytes = bytes.into();
        self.outputs.push_back(Output::Respond { request, bytes });
    }
}
