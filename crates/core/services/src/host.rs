//! All services of a node as one state machine: their servers, rate limits, and requests that wait for answers.
//!
//! A driver passes requests and other events that concern services to a [`ServiceHost`], and carries out its outputs.
//! The network and the simulator drive the same host, so both have the same dispatch, limits and order.

mod io;
mod machines;
mod protocol;

#[cfg(test)]
mod tests;

use std::collections::BTreeMap;

use bytes::Bytes;
use undertone_gossip::Time;

pub use io::{Input, Output};
pub use machines::Machines;
pub use protocol::RequestProtocol;

use crate::rate_limit::{LimitedService, RateLimiter, RateLimits};
use crate::{PeerNo, RequestNo, filter, lightpush, peer_exchange, rendezvous, store};
use machines::{Asked, Event};

/// Host of the services: call [`handle`](Self::handle), drain [`poll`](Self::poll), then wait until
/// [`next_timeout`](Self::next_timeout) or the next input. It also accepts inputs between two polls.
///
/// `A` is what the driver needs to write an answer, such as the sending half of a channel.
#[derive(Debug)]
pub struct ServiceHost<A> {
    machines: Machines,
    limits: RateLimits,
    /// Limiters of the services that have received a request.
    limiters: BTreeMap<LimitedService, RateLimiter>,
    waiting: BTreeMap<RequestNo, Waiting<A>>,
    next_request: u64,
    totals: BTreeMap<&'static str, ProtocolTotals>,
}

/// Totals of one protocol since the start.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ProtocolTotals {
    /// Requests within the rate limit.
    pub served: u64,
    /// Requests refused because they exceed the rate limit.
    pub rejected: u64,
    /// Bytes of requests, without their length prefixes.
    pub received_bytes: u64,
    /// Bytes of answers and pushed messages, without their length prefixes.
    pub sent_bytes: u64,
}

/// Request that has not been answered.
#[derive(Debug)]
struct Waiting<A> {
    peer: PeerNo,
    protocol: RequestProtocol,
    to: A,
}

impl<A> ServiceHost<A> {
    /// Creates a host of these machines without any requests.
    pub fn new(machines: Machines, limits: RateLimits) -> Self {
        Self {
            machines,
            limits,
            limiters: BTreeMap::new(),
            waiting: BTreeMap::new(),
            next_request: 0,
            totals: BTreeMap::new(),
        }
    }

    /// Replaces the machines, and returns the old ones. Requests that wait for an answer are dropped; rate limits and
    /// totals stay.
    pub fn replace(&mut self, machines: Machines) -> Machines {
        self.waiting.clear();
        std::mem::replace(&mut self.machines, machines)
    }

    /// Handles an event. An event for a service that is not mounted is dropped.
    pub fn handle(&mut self, now: Time, input: Input<A>) {
        let machines = &mut self.machines;
        match input {
            Input::Request {
                peer,
                to,
                protocol,
                bytes,
            } => self.request(now, (peer, protocol, bytes), to),
            Input::Message(message) => {
                if let Some(filter) = &mut machines.filter {
                    filter.handle(now, filter::Input::Message { message });
                }
            }
            Input::Page { query, result } => {
                if let Some(store) = &mut machines.store {
                    store.handle(now, store::server::Input::Page { query, result });
                }
            }
            Input::Published { publish, outcome } => {
                if let Some(lightpush) = &mut machines.lightpush {
                    lightpush.handle(now, lightpush::Input::Published { publish, outcome });
                }
            }
            Input::Pushed { peer, delivered } => {
                if let Some(filter) = &mut machines.filter {
                    filter.handle(now, filter::Input::Pushed { peer, delivered });
                }
            }
            Input::RecordChecked {
                check: request,
                is_valid,
            } => {
                if let Some(rendezvous) = &mut machines.rendezvous {
                    rendezvous.handle(now, rendezvous::Input::RecordChecked { request, is_valid });
                }
            }
            Input::Known(enrs) => {
                if let Some(exchange) = &mut machines.peer_exchange {
                    exchange.handle(now, peer_exchange::Input::Known { enrs });
                }
            }
            Input::PeerGone(peer) => {
                self.waiting.retain(|_, waiting| waiting.peer != peer);
                self.for_all(now, &Event::PeerGone(peer));
            }
            Input::Tick => self.for_all(now, &Event::Tick),
        }
    }

    /// Takes the next output. Outputs of one service come before those of the next.
    pub fn poll(&mut self) -> Option<Output<A>> {
        loop {
            let mut services = Machines::ORDER.into_iter();
            let output = services.find_map(|service| self.machines.get_mut(service)?.give())?;
            return Some(match output {
                Output::Respond { to, bytes } => {
                    let Some(waiting) = self.waiting.remove(&to) else {
                        continue; // The peer is gone.
                    };
                    self.count_sent(waiting.protocol.id(), &bytes);
                    let to = waiting.to;
                    Output::Respond { to, bytes }
                }
                Output::Close { to } => match self.waiting.remove(&to) {
                    Some(Waiting { to, .. }) => Output::Close { to },
                    None => continue,
                },
                Output::Push { peer, bytes } => {
                    self.count_sent(filter::PUSH_PROTOCOL_ID, &bytes);
                    Output::Push { peer, bytes }
                }
                Output::Drop { peer } => Output::Drop { peer },
                Output::Query { query, content } => Output::Query { query, content },
                Output::CheckRecord {
                    check,
                    peer,
                    record,
                } => Output::CheckRecord {
                    check,
                    peer,
                    record,
                },
                Output::Publish {
                    publish,
                    pubsub_topic,
                    message,
                } => Output::Publish {
                    publish,
                    pubsub_topic,
                    message,
                },
            });
        }
    }

    /// Returns when [`Input::Tick`] is due: the earliest timer of any machine, `None` if none has one.
    pub fn next_timeout(&self) -> Option<Time> {
        let services = Machines::ORDER.into_iter();
        let timers = services.filter_map(|service| self.machines.get(service)?.timer());
        timers.min()
    }

    /// Returns the mounted machines, for inspection.
    pub fn machines(&self) -> &Machines {
        &self.machines
    }

    /// Returns the totals since the start by protocol id, for the protocols used so far.
    pub fn totals(&self) -> &BTreeMap<&'static str, ProtocolTotals> {
        &self.totals
    }

    /// Whether a peer has a filter subscription.
    pub fn is_subscribed(&self, now: Time, peer: PeerNo) -> bool {
        let filter = self.machines.filter.as_ref();
        filter.is_some_and(|filter| filter.is_subscribed(now, peer))
    }

    /// Whether a peer's number must not be reassigned: the peer waits for an answer, has a subscription or a
    /// registration, or has sent requests that its rate limit still counts.
    pub fn is_bound(&self, now: Time, peer: PeerNo) -> bool {
        let rendezvous = self.machines.rendezvous.as_ref();
        self.is_subscribed(now, peer)
            || rendezvous.is_some_and(|rendezvous| rendezvous.is_registered(peer))
            || self
                .limiters
                .values()
                .any(|limiter| limiter.remembers(peer))
            || self.waiting.values().any(|waiting| waiting.peer == peer)
    }

    fn request(
        &mut self,
        now: Time,
        (peer, protocol, bytes): (PeerNo, RequestProtocol, Bytes),
        to: A,
    ) {
        let service = protocol.service();
        let Some(machine) = self.machines.get_mut(service) else {
            return;
        };
        let limiter = self.limiters.entry(service);
        let limiter = limiter.or_insert_with(|| RateLimiter::of_service(service, &self.limits));
        let is_allowed = limiter.allow(now, peer);
        let totals = self.totals.entry(protocol.id()).or_default();
        match is_allowed {
            true => totals.served += 1,
            false => totals.rejected += 1,
        }
        totals.received_bytes += bytes.len() as u64;
        let request = RequestNo(self.next_request);
        self.next_request += 1;
        self.waiting.insert(request, Waiting { peer, protocol, to });
        let asked = Asked {
            peer,
            request,
            protocol,
            bytes,
        };
        let event = match is_allowed {
            true => Event::Request(asked),
            false => Event::TooMany(asked),
        };
        machine.take(now, event);
    }

    fn for_all(&mut self, now: Time, event: &Event) {
        for service in Machines::ORDER {
            if let Some(machine) = self.machines.get_mut(service) {
                machine.take(now, event.clone());
            }
        }
    }

    fn count_sent(&mut self, protocol: &'static str, bytes: &Bytes) {
        self.totals.entry(protocol).or_default().sent_bytes += bytes.len() as u64;
    }
}
