//! Filter peers: which of them hold the subscriptions, and whether they push what they should.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use undertone_gossip::Time;

use super::config::{LightConfig, LightLimits};
use super::io::{LightFilterRequest, Offence, Output, ServicePeerFailure};
use super::peers::{PeerPool, PeerService};
use super::wanted::{TopicPair, WantedTopics};
use crate::{PeerNo, RequestNo};

/// Filter peer that was sent a subscription.
#[derive(Debug, Default)]
struct Link {
    /// Subscriptions that the peer confirmed, and when.
    accepted: BTreeMap<TopicPair, Time>,
    /// Subscriptions ever requested; pushes outside these are lies.
    asked: BTreeSet<TopicPair>,
    pending: Option<PendingFilterRequest>,
    ping_at: Time,
    ping_failures: u32,
    /// Number of consecutive messages that the peer should have pushed and did not.
    missed: u32,
    lies: u32,
}

#[derive(Debug)]
struct PendingFilterRequest {
    request: RequestNo,
    body: LightFilterRequest,
    deadline: Time,
}

/// Effect of an answer or a failure on the rest of the client.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum LinkChange {
    None,
    /// Messages may have been missed until now.
    Interruption,
}

/// Links to filter peers.
#[derive(Debug, Default)]
pub(crate) struct Filters {
    links: BTreeMap<PeerNo, Link>,
    /// Peers that should hold the subscriptions of each pubsub topic.
    assigned: BTreeMap<Arc<str>, Vec<PeerNo>>,
    health: BTreeMap<Arc<str>, usize>,
}

impl Filters {
    /// Handles a lost connection. The requested subscriptions stay recorded: once reconnected, the
    /// peer may push their messages before the client asks again.
    pub(crate) fn disconnected(&mut self, peer: PeerNo) -> LinkChange {
        let Some(link) = self.links.get_mut(&peer) else {
            return LinkChange::None;
        };
        link.pending = None;
        link.missed = 0;
        link.ping_failures = 0;
        let had_any = !link.accepted.is_empty();
        link.accepted.clear();
        if had_any {
            LinkChange::Interruption
        } else {
            LinkChange::None
        }
    }

    pub(crate) fn forget(&mut self, peer: PeerNo) {
        self.links.remove(&peer);
        for peers in self.assigned.values_mut() {
            peers.retain(|assigned| *assigned != peer);
        }
    }

    /// Starts over after this machine slept, since links may be gone without notice. Requests in
    /// flight are dropped without blame, and every peer is pinged.
    pub(crate) fn resumed(&mut self, now: Time) {
        for link in self.links.values_mut() {
            link.pending = None;
            link.ping_at = now;
            link.missed = 0;
            link.accepted.values_mut().for_each(|since| *since = now);
        }
    }

    pub(crate) fn answer(
        &mut self,
        now: Time,
        request: RequestNo,
        answer: Result<(), ServicePeerFailure>,
        config: &LightConfig,
        pool: &mut PeerPool,
    ) -> LinkChange {
        let is_ours = |link: &Link| link.pending.as_ref().is_some_and(|p| p.request == request);
        let Some((peer, link)) = self.links.iter_mut().find(|(_, link)| is_ours(link)) else {
            return LinkChange::None; // A late answer, already counted as missing.
        };
        let Some(pending) = link.pending.take() else {
            return LinkChange::None;
        };
        link.settle(now, *peer, pending.body, answer, config, pool)
    }

    /// Counts requests past their deadline as unanswered.
    pub(crate) fn expire(
        &mut self,
        now: Time,
        config: &LightConfig,
        pool: &mut PeerPool,
    ) -> LinkChange {
        let mut change = LinkChange::None;
        for (peer, link) in &mut self.links {
            if let Some(pending) = link.pending.take_if(|pending| pending.deadline <= now) {
                let missing = Err(ServicePeerFailure::NoAnswer);
                if link.settle(now, *peer, pending.body, missing, config, pool)
                    == LinkChange::Interruption
                {
                    change = LinkChange::Interruption;
                }
            }
        }
        change
    }

    /// Chooses peers, connects to them, and sends each the next request that is due.
    pub(crate) fn drive(
        &mut self,
        now: Time,
        wanted: &WantedTopics,
        config: &LightConfig,
        pool: &mut PeerPool,
        mut send: impl FnMut(PeerNo, LightFilterRequest) -> RequestNo,
    ) {
        self.assign(now, wanted, config, pool);
        let assigned: BTreeSet<PeerNo> = self.assigned.values().flatten().copied().collect();
        for peer in &assigned {
            if pool.is_up(*peer) {
                self.links.entry(*peer).or_default();
            } else {
                pool.connect(now, *peer);
            }
        }
        for (peer, link) in &mut self.links {
            if link.pending.is_some() || !is_ready(now, *peer, pool) {
                continue;
            }
            let targets: Vec<&TopicPair> = wanted
                .criteria()
                .filter(|(topic, _)| self.assigned.get(topic).is_some_and(|a| a.contains(peer)))
                .collect();
            let Some(body) = link.due(now, &targets, &config.limits) else {
                continue;
            };
            link.pending = Some(PendingFilterRequest {
                request: send(*peer, body.clone()),
                body,
                deadline: now.after(config.filter_timeout),
            });
        }
    }

    fn assign(&mut self, now: Time, wanted: &WantedTopics, config: &LightConfig, pool: &PeerPool) {
        let topics = wanted.pubsub_topics();
        self.assigned.retain(|topic, _| topics.contains(topic));
        for topic in topics {
            let others: Vec<PeerNo> = self.assigned.values().flatten().copied().collect();
            let peers = self.assigned.entry(topic.clone()).or_default();
            peers.retain(|peer| pool.usable(now, *peer, PeerService::Filter, Some(&topic)));
            while peers.len() < config.filter_peers {
                let shared = others.iter().copied().find(|peer| {
                    !peers.contains(peer)
                        && pool.usable(now, *peer, PeerService::Filter, Some(&topic))
                });
                let next = shared.or_else(|| {
                    pool.pick(now, PeerService::Filter, Some(&topic), |p| {
                        peers.contains(&p)
                    })
                });
                let Some(next) = next else { break };
                peers.push(next);
            }
        }
    }

    /// Whether a peer was ever sent a subscription.
    pub(crate) fn knows(&self, peer: PeerNo) -> bool {
        self.links
            .get(&peer)
            .is_some_and(|link| !link.asked.is_empty())
    }

    /// Records an unwanted push. It is stale if the peer was once subscribed for it, else a lie;
    /// several lies put the peer into backoff.
    pub(crate) fn unwanted_push(
        &mut self,
        now: Time,
        peer: PeerNo,
        criterion: &TopicPair,
        config: &LightConfig,
        pool: &mut PeerPool,
    ) -> Option<Output> {
        let link = self.links.get_mut(&peer)?;
        if link.asked.contains(criterion) {
            return None;
        }
        link.lies = link.lies.saturating_add(1);
        if link.lies < config.lies {
            return None;
        }
        link.lies = 0;
        link.accepted.clear();
        pool.distrust(now, peer, PeerService::Filter);
        let offence = Offence::UnaskedPush;
        Some(Output::Misbehaved { peer, offence })
    }

    /// Returns the peers that confirmed a subscription.
    pub(crate) fn holders(&self, criterion: &TopicPair) -> Vec<PeerNo> {
        let holds = |link: &Link| link.accepted.contains_key(criterion);
        let peers = self.links.iter().filter(|(_, link)| holds(link));
        peers.map(|(peer, _)| *peer).collect()
    }

    /// Returns the peers that should have pushed a message of this kind published at `since`.
    pub(crate) fn expected(&self, criterion: &TopicPair, since: Time) -> Vec<PeerNo> {
        let holds = |link: &Link| link.accepted.get(criterion).is_some_and(|at| *at <= since);
        let peers = self.links.iter().filter(|(_, link)| holds(link));
        peers.map(|(peer, _)| *peer).collect()
    }

    /// Records whether a peer pushed a message that it should have; returns the offence if the peer no
    /// longer pushes.
    pub(crate) fn judged(
        &mut self,
        now: Time,
        peer: PeerNo,
        has_pushed: bool,
        config: &LightConfig,
        pool: &mut PeerPool,
    ) -> Option<Output> {
        let link = self.links.get_mut(&peer)?;
        if has_pushed {
            link.missed = 0;
            return None;
        }
        link.missed = link.missed.saturating_add(1);
        if link.missed < config.asleep_after || link.accepted.is_empty() {
            return None;
        }
        link.missed = 0;
        link.accepted.clear();
        pool.failed(now, peer, PeerService::Filter, None);
        let offence = Offence::Asleep;
        Some(Output::Misbehaved { peer, offence })
    }

    /// Returns the pubsub topics for which the number of peers with all subscriptions changed, with
    /// that number.
    pub(crate) fn health_changes(&mut self, wanted: &WantedTopics) -> Vec<(Arc<str>, usize)> {
        let mut health: BTreeMap<Arc<str>, usize> = BTreeMap::new();
        for topic in wanted.pubsub_topics() {
            let holds_all = |link: &&Link| {
                let mut of_topic = wanted.criteria().filter(|(t, _)| *t == topic);
                of_topic.all(|criterion| link.accepted.contains_key(criterion))
            };
            health.insert(topic.clone(), self.links.values().filter(holds_all).count());
        }
        let changed =
            |(topic, count): &(&Arc<str>, &usize)| self.health.get(*topic).unwrap_or(&0) != *count;
        let changes = health.iter().filter(changed);
        let changes = changes
            .map(|(topic, count)| (topic.clone(), *count))
            .collect();
        self.health = health;
        changes
    }

    /// Returns the time of the next relevant request, deadline or end of a backoff.
    pub(crate) fn next_timeout(&self, now: Time, config: &LightConfig, pool: &PeerPool) -> Time {
        let of_link = |(peer, link): (&PeerNo, &Link)| match &link.pending {
            Some(pending) => pending.deadline,
            None if link.accepted.is_empty() => Time::MAX,
            None if is_ready(now, *peer, pool) => link.ping_at,
            // The pool keeps the deadline of the pending connection.
            None => Time::MAX,
        };
        let mut next = self.links.iter().map(of_link).min().unwrap_or(Time::MAX);
        for (topic, peers) in &self.assigned {
            if peers.len() < config.filter_peers {
                let excluded = |peer| peers.contains(&peer);
                next = next.min(pool.next_usable(now, PeerService::Filter, Some(topic), excluded));
            }
        }
        next
    }
}

/// Whether a request can be sent to a peer now.
fn is_ready(now: Time, peer: PeerNo, pool: &PeerPool) -> bool {
    pool.is_up(peer) && pool.usable(now, peer, PeerService::Filter, None)
}

impl Link {
    /// Returns the request that is due: removals first, then additions, then a ping.
    fn due(
        &mut self,
        now: Time,
        targets: &[&TopicPair],
        limits: &LightLimits,
    ) -> Option<LightFilterRequest> {
        let size = limits.topics_per_request;
        if targets.is_empty() {
            return (!self.accepted.is_empty()).then_some(LightFilterRequest::UnsubscribeAll);
        }
        let is_target = |criterion: &&TopicPair| targets.binary_search(criterion).is_ok();
        let extra = self.accepted.keys().filter(|c| !is_target(c));
        if let Some((pubsub_topic, content_topics)) = first_topic(extra, size) {
            return Some(LightFilterRequest::Unsubscribe {
                pubsub_topic,
                content_topics,
            });
        }
        let missing = targets
            .iter()
            .copied()
            .filter(|c| !self.accepted.contains_key(*c));
        if let Some((pubsub_topic, content_topics)) = first_topic(missing, size) {
            let asked = content_topics
                .iter()
                .map(|c| (pubsub_topic.clone(), c.clone()));
            self.asked.extend(asked);
            if self.asked.len() > limits.max_subscriptions.saturating_mul(4) {
                self.asked
                    .retain(|asked| targets.binary_search(&asked).is_ok());
            }
            return Some(LightFilterRequest::Subscribe {
                pubsub_topic,
                content_topics,
            });
        }
        (self.ping_at <= now).then_some(LightFilterRequest::Ping)
    }

    fn settle(
        &mut self,
        now: Time,
        peer: PeerNo,
        body: LightFilterRequest,
        answer: Result<(), ServicePeerFailure>,
        config: &LightConfig,
        pool: &mut PeerPool,
    ) -> LinkChange {
        let failure = match answer {
            Ok(()) => {
                pool.answered(now, peer, PeerService::Filter);
                self.ping_failures = 0;
                self.ping_at = now.after(config.ping_every);
                return self.succeeded(now, body);
            }
            Err(failure) => failure,
        };
        if let LightFilterRequest::Unsubscribe { .. } | LightFilterRequest::UnsubscribeAll = body {
            // The peer drops the subscription by itself some minutes after the last ping.
            self.removed(body);
            return LinkChange::None;
        }
        let had_any = !self.accepted.is_empty();
        match failure {
            ServicePeerFailure::NoSubscription if body == LightFilterRequest::Ping => {
                pool.answered(now, peer, PeerService::Filter);
                self.ping_failures = 0;
                self.accepted.clear();
            }
            ServicePeerFailure::NoAnswer if body == LightFilterRequest::Ping => {
                self.ping_failures = self.ping_failures.saturating_add(1);
                self.ping_at = now.after(config.ping_retry);
                if self.ping_failures < config.ping_failures {
                    return LinkChange::None;
                }
                self.ping_failures = 0;
                self.accepted.clear();
                pool.failed(now, peer, PeerService::Filter, None);
            }
            ServicePeerFailure::Busy { retry_after } => {
                self.ping_at = now.after(config.ping_every);
                pool.failed(now, peer, PeerService::Filter, retry_after);
                return LinkChange::None; // Subscriptions that the peer holds remain.
            }
            ServicePeerFailure::NoAnswer | ServicePeerFailure::NoSubscription => {
                pool.failed(now, peer, PeerService::Filter, None);
            }
            ServicePeerFailure::Refused => {
                self.accepted.clear();
                pool.distrust(now, peer, PeerService::Filter);
            }
        }
        if had_any {
            LinkChange::Interruption
        } else {
            LinkChange::None
        }
    }

    fn succeeded(&mut self, now: Time, body: LightFilterRequest) -> LinkChange {
        match body {
            LightFilterRequest::Ping => LinkChange::None,
            LightFilterRequest::Subscribe {
                pubsub_topic,
                content_topics,
            } => {
                for content in content_topics {
                    self.accepted.insert((pubsub_topic.clone(), content), now);
                }
                LinkChange::Interruption
            }
            LightFilterRequest::Unsubscribe { .. } | LightFilterRequest::UnsubscribeAll => {
                self.removed(body);
                LinkChange::None
            }
        }
    }

    fn removed(&mut self, body: LightFilterRequest) {
        match body {
            LightFilterRequest::Unsubscribe {
                pubsub_topic,
                content_topics,
            } => {
                for content in content_topics {
                    self.accepted.remove(&(pubsub_topic.clone(), content));
                }
            }
            LightFilterRequest::UnsubscribeAll => self.accepted.clear(),
            LightFilterRequest::Ping | LightFilterRequest::Subscribe { .. } => {}
        }
    }
}

/// Returns the content topics that share the pubsub topic of the first criterion, at most `size`.
fn first_topic<'a>(
    criteria: impl Iterator<Item = &'a TopicPair>,
    size: usize,
) -> Option<(Arc<str>, Vec<Arc<str>>)> {
    let mut criteria = criteria.peekable();
    let topic = criteria.peek()?.0.clone();
    let contents = criteria
        .take_while(|(t, _)| *t == topic)
        .take(size.max(1))
        .map(|(_, content)| content.clone());
    let contents = contents.collect();
    Some((topic, contents))
}
