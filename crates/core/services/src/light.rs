//! Light client: filter subscriptions at service peers, any of which may vanish, sleep or lie.
//!
//! A node without relay receives messages pushed by filter peers, and fills gaps from stores. The
//! [`LightClient`] keeps each subscription on several filter peers at once. After each interruption and every
//! few minutes it compares its messages with what stores list. The application eventually gets each message
//! exactly once, as long as a store that the client knows holds it. An ephemeral message is lost if no filter
//! peer pushes it, since no store keeps it.
//!
//! Sources on peer behaviour: filter v2 (RFC 12), store v3 (RFC 13), the recommendations of the LIP
//! p2p-reliability.

use std::collections::VecDeque;
use std::sync::Arc;

use rand_chacha::ChaCha8Rng;
use undertone_gossip::Time;
use undertone_message::{WakuMessage, message_hash};

use crate::history::HistoryQuery;
use crate::{PeerNo, RequestNo};

mod checks;
mod config;
mod context;
mod filters;
mod io;
mod listing;
mod memory;
pub(crate) mod peers;
mod wanted;
mod watch;

#[cfg(test)]
mod tests;

pub use config::{LightConfig, LightLimits};
pub use io::{
    DeliveryOrigin, Input, LightDelivery, LightFilterRequest, LightSubscribeError, Offence, Output,
    ServicePeer, ServicePeerFailure, Services,
};

use checks::Checks;
use config::nanos;
use context::{CheckContext, FoundMessage};
use filters::{Filters, LinkChange};
use memory::{DeliveryMemory, Remembered};
use peers::{PeerPool, PeerPoolConfig, PeerService, PoolEvent};
use wanted::{TopicPair, WantedTopics};
use watch::Watch;

/// Light mode of a node, as a sans-I/O state machine.
///
/// Call [`handle`](Self::handle) with each event, then [`poll`](Self::poll) until it returns `None`, then
/// wait for the next event or until [`next_timeout`](Self::next_timeout), whichever comes first.
#[derive(Debug)]
pub struct LightClient {
    config: LightConfig,
    unix_ns_at_zero: u64,
    last: Time,
    requests: u64,
    pool: PeerPool,
    wanted: WantedTopics,
    filters: Filters,
    watch: Watch,
    memory: DeliveryMemory,
    checks: Checks,
    out: VecDeque<Output>,
}

impl LightClient {
    /// Makes a client without peers or subscriptions.
    ///
    /// `unix_ns_at_zero` is the wall time at [`Time::ZERO`] in Unix nanoseconds; `rng` varies backoffs.
    pub fn new(config: LightConfig, unix_ns_at_zero: u64, rng: ChaCha8Rng) -> Self {
        let pool = PeerPoolConfig {
            max_peers: config.limits.max_peers,
            max_peer_topics: config.limits.max_peer_topics,
            connect_timeout: config.connect_timeout,
            backoff_first: config.backoff_first,
            backoff_max: config.backoff_max,
        };
        Self {
            unix_ns_at_zero,
            last: Time::ZERO,
            requests: 0,
            pool: PeerPool::new(pool, rng),
            wanted: WantedTopics::default(),
            filters: Filters::default(),
            watch: Watch::default(),
            memory: DeliveryMemory::new(config.limits.max_remembered),
            checks: Checks::new(),
            out: VecDeque::new(),
            config,
        }
    }

    /// Takes an event or command that happened at `now`.
    pub fn handle(&mut self, now: Time, input: Input) {
        if now.since(self.next_timeout().unwrap_or(Time::MAX)) > self.config.suspend_after {
            self.resumed(now);
        }
        self.last = self.last.max(now);
        match input {
            Input::PeerFound(peer) => {
                if let Some(forgotten) = self.pool.found(peer) {
                    self.forget(forgotten);
                }
            }
            Input::PeerLost(peer) => {
                self.disconnected(now, peer);
                self.pool.forget(peer);
                self.forget(peer);
            }
            Input::Connected(peer) => self.pool.connected(peer),
            Input::Disconnected(peer) => self.disconnected(now, peer),
            Input::ConnectFailed(peer) => self.pool.connect_failed(now, peer),
            Input::Subscribe {
                pubsub_topic,
                content_topics,
                since_ns,
            } => self.subscribe(now, pubsub_topic, content_topics, since_ns),
            Input::Unsubscribe {
                pubsub_topic,
                content_topics,
            } => self.wanted.remove(&pubsub_topic, content_topics),
            Input::FilterAnswer { request, answer } => {
                let change =
                    self.filters
                        .answer(now, request, answer, &self.config, &mut self.pool);
                self.changed(now, change);
            }
            Input::HistoryAnswer { request, answer } => {
                let (checks, mut context) = self.checking(now);
                for found in checks.answer(request, answer, &mut context) {
                    self.recovered(now, found);
                }
            }
            Input::Pushed {
                peer,
                pubsub_topic,
                message,
            } => self.pushed(now, peer, pubsub_topic, message),
            Input::ClockSet { unix_ns_at_zero } => self.clock_set(now, unix_ns_at_zero),
            Input::Tick => {}
        }
        self.drive(now);
    }

    /// Returns the next action for the driver.
    pub fn poll(&mut self) -> Option<Output> {
        self.out.pop_front()
    }

    /// Returns the time at which [`Input::Tick`] is due, unless something happens before.
    pub fn next_timeout(&self) -> Option<Time> {
        let next = self
            .filters
            .next_timeout(self.last, &self.config, &self.pool)
            .min(self.watch.next_timeout())
            .min(self.pool.next_timeout());
        let next = match self.wanted.is_empty() {
            true => next,
            false => next.min(self.checks.next_timeout()),
        };
        (next != Time::MAX).then_some(next)
    }

    /// Returns the filter peers that currently hold a subscription.
    pub fn holders(&self, pubsub_topic: &Arc<str>, content_topic: &Arc<str>) -> Vec<PeerNo> {
        let criterion = (pubsub_topic.clone(), content_topic.clone());
        self.filters.holders(&criterion)
    }

    /// Whether a filter peer is in backoff at `now` because of its failures.
    pub fn is_avoided(&self, now: Time, peer: PeerNo) -> bool {
        !self.pool.usable(now, peer, PeerService::Filter, None)
    }

    /// Returns the wall time at `now`, Unix nanoseconds.
    fn wall_ns(&self, now: Time) -> i64 {
        i64::try_from(self.unix_ns_at_zero.saturating_add(now.as_nanos())).unwrap_or(i64::MAX)
    }

    fn checking(&mut self, now: Time) -> (&mut Checks, CheckContext<'_>) {
        let context = CheckContext {
            now,
            now_ns: self.wall_ns(now),
            config: &self.config,
            pool: &mut self.pool,
            wanted: &mut self.wanted,
            memory: &self.memory,
            out: &mut self.out,
        };
        (&mut self.checks, context)
    }

    fn subscribe(
        &mut self,
        now: Time,
        pubsub_topic: Arc<str>,
        content_topics: Vec<Arc<str>>,
        since_ns: Option<i64>,
    ) {
        let lookback = nanos(self.config.subscribe_lookback);
        let since_ns = since_ns.unwrap_or_else(|| self.wall_ns(now).saturating_sub(lookback));
        let limits = &self.config.limits;
        match self
            .wanted
            .add(limits, &pubsub_topic, content_topics, since_ns)
        {
            Ok(()) => self.checks.hurry(now, &self.config),
            Err(reason) => self.out.push_back(Output::SubscribeRefused {
                pubsub_topic,
                reason,
            }),
        }
    }

    fn disconnected(&mut self, now: Time, peer: PeerNo) {
        self.pool.disconnected(peer);
        let change = self.filters.disconnected(peer);
        self.changed(now, change);
        let (checks, mut context) = self.checking(now);
        checks.disconnected(peer, &mut context);
    }

    fn forget(&mut self, peer: PeerNo) {
        self.filters.forget(peer);
        self.wanted.forget_store(peer);
    }

    fn changed(&mut self, now: Time, change: LinkChange) {
        if change == LinkChange::Interruption {
            self.checks.hurry(now, &self.config);
        }
    }

    /// Starts over after this machine slept: requests in flight are void, and messages were missed.
    fn resumed(&mut self, now: Time) {
        self.filters.resumed(now);
        self.watch.clear();
        self.checks.resumed();
        self.checks.hurry(now, &self.config);
    }

    fn clock_set(&mut self, now: Time, unix_ns_at_zero: u64) {
        let ahead = unix_ns_at_zero.saturating_sub(self.unix_ns_at_zero);
        self.unix_ns_at_zero = unix_ns_at_zero;
        self.wanted.clock_set(self.wall_ns(now));
        if u128::from(ahead) > self.config.suspend_after.as_nanos() {
            self.resumed(now);
        }
    }

    fn pushed(&mut self, now: Time, peer: PeerNo, pubsub_topic: Arc<str>, message: WakuMessage) {
        let criterion: TopicPair = (pubsub_topic, message.content_topic.clone());
        if !self.wanted.contains(&criterion) {
            let offence =
                self.filters
                    .unwanted_push(now, peer, &criterion, &self.config, &mut self.pool);
            if let Some(offence) = offence {
                self.out.push_back(offence);
                self.checks.hurry(now, &self.config);
            }
            return;
        }
        if !self.filters.knows(peer) {
            return; // A peer that was never used is not believed.
        }
        let pubsub_topic = criterion.0.clone();
        let hash = message_hash(&pubsub_topic, &message);
        let keep_from_ns = self.keep_from_ns(now);
        match self
            .memory
            .pushed(hash, message.timestamp_ns(), keep_from_ns)
        {
            Remembered::New => {
                let expected = self.filters.expected(&criterion, now);
                let grace = self.config.push_grace;
                self.watch
                    .first_seen(now, grace, hash, Some(peer), expected);
                self.out.push_back(Output::Deliver(LightDelivery {
                    hash,
                    pubsub_topic,
                    message,
                    origin: DeliveryOrigin::Filter(peer),
                }));
            }
            Remembered::Known => self.watch.seen_again(&hash, peer),
            Remembered::TooOld => {}
            Remembered::Full => self.checks.hurry(now, &self.config),
        }
    }

    fn recovered(&mut self, now: Time, found: FoundMessage) {
        let criterion = (
            found.pubsub_topic.clone(),
            found.message.content_topic.clone(),
        );
        let timestamp = found.message.timestamp_ns();
        match self.wanted.get(&criterion) {
            Some(interest) if timestamp >= interest.since_ns => {}
            _ => return,
        }
        let keep_from_ns = self.keep_from_ns(now);
        match self.memory.recovered(found.hash, timestamp, keep_from_ns) {
            Remembered::New => {}
            Remembered::Known | Remembered::TooOld => return,
            Remembered::Full => {
                self.checks.left_behind();
                return;
            }
        }
        let sent_at = u64::try_from(timestamp)
            .unwrap_or(0)
            .saturating_sub(self.unix_ns_at_zero);
        let grace = self.config.push_grace;
        let since = u64::try_from(grace.as_nanos()).unwrap_or(u64::MAX);
        let since = Time::from_nanos(sent_at.saturating_sub(since)).min(now);
        let expected = self.filters.expected(&criterion, since);
        self.watch
            .first_seen(now, grace, found.hash, None, expected);
        self.out.push_back(Output::Deliver(LightDelivery {
            hash: found.hash,
            pubsub_topic: found.pubsub_topic,
            message: found.message,
            origin: DeliveryOrigin::Store(found.store),
        }));
    }

    /// Returns the timestamp, Unix nanoseconds, from which no message is forgotten.
    fn keep_from_ns(&self, now: Time) -> i64 {
        self.wall_ns(now)
            .saturating_sub(nanos(self.config.limits.min_memory))
    }

    /// Runs what is due.
    fn drive(&mut self, now: Time) {
        self.pool.expire(now);
        let change = self.filters.expire(now, &self.config, &mut self.pool);
        self.changed(now, change);
        let (checks, mut context) = self.checking(now);
        checks.expire(&mut context);
        self.judge(now);

        let Self {
            filters,
            wanted,
            config,
            pool,
            requests,
            out,
            ..
        } = self;
        filters.drive(now, wanted, config, pool, |peer, body| {
            let request = next(requests);
            out.push_back(Output::Filter {
                peer,
                request,
                body,
            });
            request
        });
        for (pubsub_topic, filter_peers) in filters.health_changes(wanted) {
            out.push_back(Output::Health {
                pubsub_topic,
                filter_peers,
            });
        }
        self.drive_checks(now);
        while let Some(event) = self.pool.events.pop_front() {
            self.out.push_back(match event {
                PoolEvent::Connect(peer) => Output::Connect(peer),
                PoolEvent::Forgotten(peer) => Output::Forgotten(peer),
            });
        }
    }

    fn judge(&mut self, now: Time) {
        while let Some(verdict) = self.watch.verdict(now, self.config.limits.max_watched) {
            if verdict.is_one_sided() {
                self.checks.hurry(now, &self.config);
            }
            for (peer, has_pushed) in verdict.peers {
                let offence =
                    self.filters
                        .judged(now, peer, has_pushed, &self.config, &mut self.pool);
                self.out.extend(offence);
            }
        }
    }

    fn drive_checks(&mut self, now: Time) {
        let mut queries: Vec<(PeerNo, RequestNo, HistoryQuery)> = Vec::new();
        let mut requests = self.requests;
        let (checks, mut context) = self.checking(now);
        checks.drive(&mut context, |peer, query| {
            let request = next(&mut requests);
            queries.push((peer, request, query));
            request
        });
        self.requests = requests;
        for (peer, request, query) in queries {
            self.out.push_back(Output::History {
                peer,
                request,
                query,
            });
        }
    }
}

/// Returns a fresh request number.
fn next(requests: &mut u64) -> RequestNo {
    *requests = requests.wrapping_add(1);
    RequestNo(*requests)
}
