//! Sans-I/O server of filter v2.

use std::{
    collections::{BTreeSet, VecDeque},
    sync::Arc,
    time::Duration,
};

use bytes::Bytes;
use undertone_gossip::Time;

use super::{
    codec::{FilterStatus, SubscribeKind, SubscribeRequest, SubscribeResponse, encode_push},
    in_flight::{self, InFlight, PushOutcome},
    io::{ClientSubscription, FilterLimits, FilterStats, FilterUsage, Input, Output},
    refusal::FilterRefusal,
    seen::SeenMessages,
    subscriptions::{self, FilterCriterion, Subscriptions},
};
use crate::{
    PeerNo, RequestNo,
    history::StoredMessage,
    rpc::{UNKNOWN_REQUEST_ID, request_id_in},
    sharding::{Sharding, ShardingError},
};

#[cfg(test)]
mod tests;

/// Interval at which expired entries are removed (nwaku).
const MAINTENANCE: Duration = Duration::from_secs(60);

/// Server of filter v2: call [`handle`](Self::handle), drain [`poll`](Self::poll), then wait until
/// [`next_timeout`](Self::next_timeout) or the next input.
#[derive(Debug)]
pub struct FilterServer {
    limits: FilterLimits,
    sharding: Sharding,
    subscriptions: Subscriptions,
    seen: SeenMessages,
    in_flight: InFlight,
    outputs: VecDeque<Output>,
    maintain_at: Option<Time>,
    stats: FilterStats,
}

impl FilterServer {
    /// Creates a server without subscriptions.
    pub fn new(sharding: Sharding, limits: FilterLimits) -> Self {
        Self {
            limits,
            sharding,
            subscriptions: Subscriptions::new(subscriptions::SubscriptionBounds {
                max_peers: limits.max_peers,
                max_criteria_per_peer: limits.max_criteria_per_peer,
                max_bytes: limits.max_criteria_bytes,
                share: limits.criteria_share,
                ttl: limits.subscription_ttl,
            }),
            seen: SeenMessages::new(limits.seen_ttl, limits.max_seen),
            in_flight: InFlight::new(in_flight::PushBounds {
                max_pushes_per_peer: limits.max_pushes_per_peer,
                max_bytes_per_peer: limits.max_push_bytes_per_peer,
                max_bytes: limits.max_push_bytes,
                max_failing: limits.max_failing,
            }),
            outputs: VecDeque::new(),
            maintain_at: None,
            stats: FilterStats::default(),
        }
    }

    /// Handles an event.
    pub fn handle(&mut self, now: Time, input: Input) {
        if self.maintain_at.is_some_and(|at| now >= at) {
            self.maintain(now);
        }
        match input {
            Input::Request {
                peer,
                request,
                bytes,
            } => self.request(now, peer, request, &bytes),
            Input::TooMany { request } => {
                self.respond(
                    request,
                    UNKNOWN_REQUEST_ID,
                    Err(FilterRefusal::TooManyRequests),
                );
            }
            Input::Message { message } => self.message(now, message),
            Input::Pushed { peer, delivered } => self.pushed(now, peer, delivered),
            Input::PeerGone(peer) => {
                self.in_flight.clear(peer);
                self.subscriptions.mark_away(now, peer);
            }
            Input::Tick => {}
        }
        let holds = self.subscriptions.peers() > 0 || self.seen.len() > 0;
        if self.maintain_at.is_none() && holds {
            self.maintain_at = Some(now.after(MAINTENANCE));
        }
    }

    /// Takes the next output.
    pub fn poll(&mut self) -> Option<Output> {
        self.outputs.pop_front()
    }

    /// Returns when [`Input::Tick`] is due; `None` if never.
    pub fn next_timeout(&self) -> Option<Time> {
        self.maintain_at
    }

    /// Whether the peer has a subscription, so that its number must not be reassigned.
    pub fn is_subscribed(&self, now: Time, peer: PeerNo) -> bool {
        self.subscriptions.contains(now, peer)
    }

    /// Returns the subscriptions of all peers.
    pub fn subscriptions(&self) -> Vec<ClientSubscription> {
        let subscription = |(peer, criteria): (_, &BTreeSet<_>)| ClientSubscription {
            peer,
            criteria: criteria.iter().cloned().collect(),
        };
        self.subscriptions.iter().map(subscription).collect()
    }

    /// Returns the server's counters.
    pub fn stats(&self) -> FilterStats {
        self.stats
    }

    /// Returns the server's current resource usage.
    pub fn usage(&self) -> FilterUsage {
        FilterUsage {
            peers: self.subscriptions.peers(),
            criteria: self.subscriptions.criteria(),
            criteria_bytes: self.subscriptions.bytes(),
            seen: self.seen.len(),
            pushing: self.in_flight.peers(),
            push_bytes: self.in_flight.bytes(),
        }
    }

    fn request(&mut self, now: Time, peer: PeerNo, number: RequestNo, bytes: &[u8]) {
        self.subscriptions.mark_here(peer);
        self.expire_peer(now, peer);
        match SubscribeRequest::decode(bytes, &self.limits.codec) {
            Ok(request) => {
                self.stats.requests[request.kind as usize] += 1;
                let result = self.carry_out(now, peer, &request);
                self.respond(number, &request.request_id, result);
            }
            Err(error) => {
                let id = request_id_in(bytes, &self.limits.codec.texts);
                let id = id.unwrap_or(UNKNOWN_REQUEST_ID).to_owned();
                self.respond(number, &id, Err(error.into()));
            }
        }
    }

    fn carry_out(
        &mut self,
        now: Time,
        peer: PeerNo,
        request: &SubscribeRequest,
    ) -> Result<(), FilterRefusal> {
        match request.kind {
            SubscribeKind::Ping => {
                self.known(now, peer)?;
                self.subscriptions.refresh(now, peer);
            }
            SubscribeKind::Subscribe => {
                let criteria = self.criteria(request)?;
                self.make_place(now, peer);
                let added = self.subscriptions.add(now, peer, criteria);
                added.map_err(|full| FilterRefusal::from_full(full, self.limits.max_peers))?;
            }
            SubscribeKind::Unsubscribe => {
                let criteria = self.criteria(request)?;
                self.known(now, peer)?;
                if self.subscriptions.remove(now, peer, &criteria) == 0 {
                    return Err(FilterRefusal::NotFound);
                }
                self.settle(now, peer);
            }
            SubscribeKind::UnsubscribeAll => {
                self.known(now, peer)?;
                self.subscriptions.remove_peer(peer);
                self.settle(now, peer);
            }
        }
        Ok(())
    }

    fn known(&self, now: Time, peer: PeerNo) -> Result<(), FilterRefusal> {
        let known = self.subscriptions.contains(now, peer);
        if known {
            Ok(())
        } else {
            Err(FilterRefusal::NotFound)
        }
    }

    /// Returns the criteria of a request, with derived pubsub topics if it names none.
    fn criteria(
        &self,
        request: &SubscribeRequest,
    ) -> Result<BTreeSet<FilterCriterion>, FilterRefusal> {
        if request.content_topics.is_empty() {
            return Err(FilterRefusal::TopicsRequired);
        }
        let criterion = |content_topic: &Arc<str>| {
            let pubsub_topic = match &request.pubsub_topic {
                Some(topic) => topic.clone(),
                None => self.sharding.derive(content_topic)?,
            };
            Ok(FilterCriterion {
                pubsub_topic,
                content_topic: content_topic.clone(),
            })
        };
        request
            .content_topics
            .iter()
            .map(criterion)
            .collect::<Result<_, ShardingError>>()
            .map_err(FilterRefusal::from)
    }

    /// Frees a slot for a new peer, if none is free, by removing expired peers or one that is
    /// disconnected.
    fn make_place(&mut self, now: Time, peer: PeerNo) {
        if self.subscriptions.peers() < self.limits.max_peers
            || self.subscriptions.contains(now, peer)
        {
            return;
        }
        self.expire(now);
        if self.subscriptions.peers() >= self.limits.max_peers
            && let Some(evicted) = self.subscriptions.evict_away()
        {
            self.in_flight.clear_if_idle(evicted);
        }
    }

    fn respond(&mut self, request: RequestNo, request_id: &str, result: Result<(), FilterRefusal>) {
        let (status, text) = match result {
            Ok(()) => (FilterStatus::OK, "OK".to_owned()),
            Err(refusal) => {
                self.stats.refused += 1;
                (refusal.status(), refusal.to_string())
            }
        };
        let response = SubscribeResponse {
            request_id: request_id.to_owned(),
            status,
            status_desc: Some(text),
        };
        let bytes = response.encode().into();
        self.outputs.push_back(Output::Respond { request, bytes });
    }

    fn message(&mut self, now: Time, message: StoredMessage) {
        let wanted = FilterCriterion {
            pubsub_topic: message.pubsub_topic,
            content_topic: message.message.content_topic.clone(),
        };
        let mut peers = self.subscriptions.wanting(now, &wanted).peekable();
        if peers.peek().is_none() {
            return;
        }
        if !self.seen.insert(now, message.hash) {
            self.stats.duplicates += 1;
            return;
        }
        let bytes = Bytes::from(encode_push(&message.message, &wanted.pubsub_topic));
        if bytes.len() > self.limits.max_push_bytes {
            self.stats.lost += peers.count() as u64;
            return;
        }
        let peers: Vec<_> = peers.collect();
        for peer in self.in_flight.make_room(bytes.len()) {
            self.drop_peer(peer);
        }
        self.in_flight.begin(bytes.len());
        for peer in peers {
            if !self.subscriptions.contains(now, peer) {
                continue; // dropped just now
            }
            if self.in_flight.push(peer) {
                self.stats.pushes += 1;
                let bytes = bytes.clone();
                self.outputs.push_back(Output::Push { peer, bytes });
            } else {
                self.stats.lost += 1;
            }
        }
        self.in_flight.end();
    }

    fn pushed(&mut self, now: Time, peer: PeerNo, delivered: bool) {
        let outcome = if delivered {
            self.subscriptions.mark_here(peer);
            PushOutcome::Delivered
        } else if self.subscriptions.is_away(peer) {
            PushOutcome::Away
        } else {
            PushOutcome::Failed
        };
        let Some(give_up) = self.in_flight.report(now, peer, outcome) else {
            return;
        };
        if delivered {
            self.stats.delivered += 1;
        } else {
            self.stats.failed += 1;
        }
        if give_up {
            self.in_flight.clear(peer);
            self.drop_peer(peer);
        }
        self.settle(now, peer);
    }

    /// Ends the subscriptions of a peer whose pushes are no longer in flight.
    fn drop_peer(&mut self, peer: PeerNo) {
        self.subscriptions.remove_peer(peer);
        self.stats.dropped += 1;
        self.outputs.push_back(Output::Drop { peer });
    }

    /// Drops the push state of a peer that has no subscription and nothing in flight.
    fn settle(&mut self, now: Time, peer: PeerNo) {
        if !self.subscriptions.contains(now, peer) {
            self.in_flight.clear_if_idle(peer);
        }
    }

    /// Removes the peer's subscription if it has expired, so that a later request does not revive it.
    fn expire_peer(&mut self, now: Time, peer: PeerNo) {
        if !self.subscriptions.contains(now, peer) {
            self.subscriptions.remove_peer(peer);
            self.in_flight.clear_if_idle(peer);
        }
    }

    fn expire(&mut self, now: Time) {
        for peer in self.subscriptions.expire(now) {
            self.in_flight.clear_if_idle(peer);
        }
    }

    fn maintain(&mut self, now: Time) {
        self.expire(now);
        self.seen.expire(now);
        self.maintain_at = None;
    }
}
