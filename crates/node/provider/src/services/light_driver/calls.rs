//! Calls of the program: subscriptions that wait for a filter peer, and their ends.

use std::collections::BTreeSet;
use std::sync::Arc;

use bytes::Bytes;
use libp2p::PeerId;
use tokio::sync::oneshot;
use undertone_services::filter::FilterCriterion;
use undertone_services::light::{Input, LightSubscribeError};

use super::LightDriver;
use super::requests::NO_PEER;
use crate::services::ServiceFailure;

type LightReply = oneshot::Sender<Result<(), ServiceFailure>>;

/// Request to the task that maintains the subscriptions.
#[derive(Debug)]
pub enum LightCall {
    /// Adds subscriptions, and answers once filter peers hold them. If no peer accepts them, they are not added.
    Subscribe(Vec<FilterCriterion>, LightReply),
    /// Adds subscriptions, which stay even without a filter peer. Messages are wanted from the given time on, Unix
    /// nanoseconds, or from a moment ago.
    Keep(Vec<FilterCriterion>, Option<i64>, LightReply),
    /// Ends subscriptions, and answers once no filter peer holds them.
    Unsubscribe(Vec<FilterCriterion>, LightReply),
    /// Ends all subscriptions.
    UnsubscribeAll(LightReply),
    /// Asks a filter peer whether it holds subscriptions of this node.
    Ping(LightReply),
    /// Lists the subscriptions.
    List(oneshot::Sender<Vec<FilterCriterion>>),
    /// Frame that a peer pushed.
    Pushed(PeerId, Bytes),
}

/// State that a call waits for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Aim {
    /// Filter peers hold the subscriptions.
    Held,
    /// No filter peer holds them.
    Gone,
}

/// Call whose answer depends on filter peers.
pub(super) struct WaitingCall {
    aim: Aim,
    criteria: Vec<FilterCriterion>,
    /// Criteria that are removed if the call fails.
    added: Vec<FilterCriterion>,
    reply: LightReply,
}

impl LightDriver {
    pub(super) fn on_call(&mut self, call: LightCall) {
        // A caller that no longer waits is not an error.
        match call {
            LightCall::Subscribe(criteria, reply) => {
                match self.want(&criteria, None) {
                    Ok(added) => self.calls.push(WaitingCall {
                        aim: Aim::Held,
                        criteria,
                        added,
                        reply,
                    }),
                    Err(refused) => {
                        let _ = reply.send(Err(refused));
                    }
                };
            }
            LightCall::Keep(criteria, since_ns, reply) => {
                let wanted = self.want(&criteria, since_ns);
                let _ = reply.send(wanted.map(drop));
            }
            LightCall::Unsubscribe(criteria, reply) => self.end(criteria, reply),
            LightCall::UnsubscribeAll(reply) => {
                self.end(self.criteria.iter().cloned().collect(), reply);
            }
            LightCall::Ping(reply) => {
                let mut holders = self
                    .criteria
                    .iter()
                    .flat_map(|one| self.machine.holders(&one.pubsub_topic, &one.content_topic));
                let holder = holders.find_map(|peer| self.peers.identity(peer));
                let (requests, known) = (
                    self.requests.clone(),
                    self.peers.configured().filter.clone(),
                );
                tokio::spawn(async move {
                    let _ = reply.send(requests.ping(holder, &known).await);
                });
            }
            LightCall::List(reply) => {
                let _ = reply.send(self.criteria.iter().cloned().collect());
            }
            LightCall::Pushed(peer, frame) => self.on_push(peer, &frame),
        }
    }

    /// Adds criteria, all or none. Returns those that must be removed if the caller gives up: they were not wanted
    /// before, or only by callers that still wait.
    fn want(
        &mut self,
        criteria: &[FilterCriterion],
        since_ns: Option<i64>,
    ) -> Result<Vec<FilterCriterion>, ServiceFailure> {
        let is_new = |one: &&FilterCriterion| !self.criteria.contains(one);
        let new: BTreeSet<_> = criteria.iter().filter(is_new).cloned().collect();
        let new = Vec::from_iter(new);
        for alike in new.chunk_by(|a, b| a.pubsub_topic == b.pubsub_topic) {
            self.input(Input::Subscribe {
                pubsub_topic: Arc::clone(&alike[0].pubsub_topic),
                content_topics: content_topics(alike),
                since_ns,
            });
            if let Some(refused) = self.refusal.take() {
                self.unwant(&new);
                return Err(failure(refused));
            }
        }
        self.criteria.extend(new.iter().cloned());
        self.show_status();
        let mut answered_for = new;
        for call in &mut self.calls {
            let shared = call.added.extract_if(.., |one| criteria.contains(one));
            answered_for.extend(shared);
        }
        Ok(answered_for)
    }

    fn unwant(&mut self, criteria: &[FilterCriterion]) {
        for one in criteria {
            self.criteria.remove(one);
        }
        let sorted: BTreeSet<_> = criteria.iter().cloned().collect();
        let sorted = Vec::from_iter(sorted);
        for alike in sorted.chunk_by(|a, b| a.pubsub_topic == b.pubsub_topic) {
            self.input(Input::Unsubscribe {
                pubsub_topic: Arc::clone(&alike[0].pubsub_topic),
                content_topics: content_topics(alike),
            });
        }
        self.show_status();
    }

    fn end(&mut self, criteria: Vec<FilterCriterion>, reply: LightReply) {
        self.unwant(&criteria);
        self.calls.push(WaitingCall {
            aim: Aim::Gone,
            criteria,
            added: Vec::new(),
            reply,
        });
    }

    /// Answers the calls whose outcome is known, and drops those whose callers have gone.
    pub(super) fn settle(&mut self) {
        // Ending one call's subscriptions affects what others wait for, so each call is checked on its own.
        let mut at = 0;
        while at < self.calls.len() {
            let call = &self.calls[at];
            let outcome = match call.reply.is_closed() {
                true => Some(Err(NO_PEER)),
                false => self.outcome(call),
            };
            let Some(outcome) = outcome else {
                at += 1;
                continue;
            };
            let call = self.calls.remove(at);
            if outcome.is_err() {
                self.unwant(&call.added);
            }
            // The caller may have gone.
            let _ = call.reply.send(outcome);
        }
    }

    fn outcome(&self, call: &WaitingCall) -> Option<Result<(), ServiceFailure>> {
        let is_held = |one: &&FilterCriterion| {
            let holders = self.machine.holders(&one.pubsub_topic, &one.content_topic);
            !holders.is_empty()
        };
        let mut criteria = call.criteria.iter();
        match call.aim {
            Aim::Gone => (!criteria.any(|one| is_held(&one))).then_some(Ok(())),
            Aim::Held => {
                let missing: Vec<_> = criteria.filter(|one| !is_held(one)).collect();
                if missing.is_empty() {
                    return Some(Ok(()));
                }
                let hopeless = missing.into_iter().find_map(|one| self.hopeless(one));
                hopeless.map(Err)
            }
        }
    }

    /// Returns the reason if no filter peer is likely to accept a subscription soon.
    fn hopeless(&self, criterion: &FilterCriterion) -> Option<ServiceFailure> {
        if !self.criteria.contains(criterion) {
            return Some(NO_PEER); // Another caller has ended it meanwhile.
        }
        let now = self.clock.now();
        let mut reason = NO_PEER;
        for (peer, _) in self.peers.offers() {
            let topics = peer.pubsub_topics.as_ref();
            let serves = peer.filters_all
                || topics.is_none_or(|topics| topics.contains(&criterion.pubsub_topic));
            if !peer.services.filter || !serves {
                continue;
            }
            if !self.machine.is_avoided(now, peer.peer) {
                return None;
            }
            if let Some(failure) = self.failures.get(&peer.peer) {
                reason = failure.clone();
            }
        }
        Some(reason)
    }
}

fn content_topics(criteria: &[FilterCriterion]) -> Vec<Arc<str>> {
    let topics = criteria.iter().map(|one| Arc::clone(&one.content_topic));
    topics.collect()
}

fn failure(refused: LightSubscribeError) -> ServiceFailure {
    match refused {
        LightSubscribeError::TooMany { max } => ServiceFailure::TooManySubscriptions { max },
        error => ServiceFailure::Topic(error.to_string()),
    }
}
