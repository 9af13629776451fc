//! The state machine. This file only dispatches; each concern has its own module.

use std::collections::{BTreeSet, VecDeque};
use std::sync::Arc;

use undertone_compact::FewMap;
use undertone_gossip::{
    self as gossip, ApiMisuse, ConfigError, MessageId, MessageIds, PeerIx, RequestId, Router, Time,
    Topic,
};
use undertone_message::{PubsubTopic, WakuMessage};
use undertone_rln::{Epoch, ExternalNullifiers, NullifierLog, RootWindow};

use crate::awaiting_root::room::{AwaitingRoot, ROOM, Room};
use crate::checks::{ProofChecks, Proving};
use crate::config::{RelayConfig, SharedRelayConfig};
use crate::io::{Input, Output, RelayReport, SubscribeError};
use crate::nullifier_senders::{NullifierSenderLimits, NullifierSenders};
use crate::placement::ByContentTopic;
use crate::rejection::Rejection;
use crate::signals::{SignalHashes, UncachedHashes};
use crate::trust::PeerTrust;

/// A Waku Relay node as a state machine without clock, sockets or threads.
#[derive(Debug)]
pub struct Relay {
    pub(crate) config: Arc<RelayConfig>,
    pub(crate) router: Router,
    pub(crate) signals: Box<dyn SignalHashes>,
    pub(crate) now: Time,
    pub(crate) unix_ns_at_zero: u64,
    pub(crate) topics: FewMap<Topic, PubsubTopic>,
    pub(crate) roots: RootWindow,
    /// External nullifiers by epoch; `None` on a network without a rate limit.
    pub(crate) externals: Option<ExternalNullifiers>,
    pub(crate) nullifiers: NullifierLog,
    pub(crate) nullifier_senders: NullifierSenders,
    /// Peers that sent spam with an invalid proof: no more evidence is checked for them, because they could
    /// otherwise cause pairings at no cost.
    pub(crate) sent_invalid_proof: BTreeSet<PeerIx>,
    pub(crate) trust: PeerTrust,
    pub(crate) checks: ProofChecks,
    /// Peers from which no frames should be read for now.
    pub(crate) paused: BTreeSet<PeerIx>,
    /// Peers that were cut off during the current input.
    pub(crate) cut: Vec<PeerIx>,
    /// Messages to drop without a verdict at the end of the current input, with their senders.
    pub(crate) unjudged: Vec<(MessageId, PeerIx, Rejection)>,
    /// Messages accepted by validation, until the router returns them for delivery.
    pub(crate) accepted: FewMap<MessageId, Accepted>,
    pub(crate) proving: FewMap<RequestId, Proving>,
    pub(crate) received: FewMap<MessageId, Time>,
    /// Messages that wait for their membership root to become known.
    pub(crate) awaiting_root: Room<AwaitingRoot>,
    pruned_at: Epoch,
    outputs: VecDeque<Output>,
}

/// Accepted message between its verdict and its delivery.
#[derive(Debug)]
pub(crate) struct Accepted {
    pub(crate) message: WakuMessage,
    pub(crate) received: Time,
}

impl Relay {
    /// Creates a relay that starts at `now`; wall time is unknown until [`Input::ClockSet`].
    ///
    /// # Errors
    /// Returns [`ConfigError`] with the rule that the gossip configuration breaks.
    pub fn new(
        config: impl Into<SharedRelayConfig>,
        seed: [u8; 32],
        now: Time,
    ) -> Result<Self, ConfigError> {
        let SharedRelayConfig {
            relay: config,
            gossip,
        } = config.into();
        let mut router = Router::new(gossip, seed, now)?;
        if let Some(num_shards) = config.num_shards {
            router = router.with_placement(Box::new(ByContentTopic { num_shards }));
        }
        let rln = config.rln.as_ref();
        Ok(Self {
            router,
            signals: Box::new(UncachedHashes),
            now,
            unix_ns_at_zero: 0,
            topics: FewMap::new(),
            roots: RootWindow::new(0),
            externals: rln
                .map(|rln| ExternalNullifiers::new(rln.policy.generation, rln.policy.identifier)),
            nullifiers: NullifierLog::new(
                rln.map_or(undertone_rln::NullifierLimits::new(0), |rln| rln.nullifiers),
            ),
            nullifier_senders: NullifierSenders::new(rln.map_or(
                NullifierSenderLimits {
                    max_nullifiers: 0,
                    max_peers_per_nullifier: 0,
                },
                |rln| rln.nullifier_senders,
            )),
            sent_invalid_proof: BTreeSet::new(),
            trust: PeerTrust::default(),
            paused: BTreeSet::new(),
            cut: Vec::new(),
            unjudged: Vec::new(),
            checks: ProofChecks::new(rln.map_or(0, |rln| rln.checks_max)),
            accepted: FewMap::new(),
            proving: FewMap::new(),
            received: FewMap::new(),
            awaiting_root: Room::new(ROOM),
            pruned_at: Epoch(0),
            outputs: VecDeque::new(),
            config,
        })
    }

    /// Replaces the function that computes message ids.
    #[must_use]
    pub fn with_message_ids(mut self, ids: Box<dyn MessageIds>) -> Self {
        self.router = self.router.with_message_ids(ids);
        self
    }

    /// Replaces the function that computes signal hashes.
    #[must_use]
    pub fn with_signal_hashes(mut self, signals: Box<dyn SignalHashes>) -> Self {
        self.signals = signals;
        self
    }

    /// Shares the external nullifiers computed by other relays, as in a simulation. They must have the generation and
    /// identifier of the relay's policy; on a network without a rate limit they are not used.
    #[must_use]
    pub fn with_external_nullifiers(mut self, externals: &ExternalNullifiers) -> Self {
        self.externals = self.externals.map(|_| externals.clone());
        self
    }

    /// Reserves memory for exactly this many peers, numbered from 0. Without it, memory grows as peers connect.
    pub fn reserve_peers(&mut self, count: usize) {
        self.router.reserve_peers(count);
    }

    /// Handles one input; [`Self::poll`] then returns its outputs.
    ///
    /// # Errors
    /// Returns [`ApiMisuse`] when the driver breaks the contract.
    pub fn handle(&mut self, now: Time, input: Input) -> Result<(), ApiMisuse> {
        if !self.outputs.is_empty() {
            return Err(ApiMisuse::OutputsNotDrained);
        }
        if now < self.now {
            return Err(ApiMisuse::TimeWentBackwards);
        }
        self.now = now;
        self.prune_nullifiers();
        match input {
            Input::Connected(peer) => self.gossip(gossip::Input::Connected(peer))?,
            Input::Disconnected(peer) => self.gossip(gossip::Input::Disconnected(peer))?,
            Input::Renewed(peer) => self.gossip(gossip::Input::Renewed(peer))?,
            Input::TransferStarted(peer) => self.gossip(gossip::Input::TransferStarted(peer))?,
            Input::TransferEnded(peer) => self.gossip(gossip::Input::TransferEnded(peer))?,
            Input::Frame { peer, frame } => self.gossip(gossip::Input::Frame { peer, frame })?,
            Input::Sent {
                peer,
                handle,
                progress,
            } => {
                self.gossip(gossip::Input::Sent {
                    peer,
                    handle,
                    progress,
                })?;
            }
            Input::Subscribe(topic) => self.subscribe(topic)?,
            Input::Unsubscribe(topic) => self.unsubscribe(&topic)?,
            Input::Publish {
                topic,
                message,
                request,
            } => self.publish(topic, message, request)?,
            Input::Republish {
                topic,
                message,
                request,
            } => self.republish(topic, message, request)?,
            Input::Proved { request, result } => self.proved(request, result)?,
            Input::ProofVerified { ticket, valid } => self.proof_verified(ticket, valid)?,
            Input::Roots(roots) => {
                self.roots = roots;
                self.retry_awaiting_root()?;
            }
            Input::ClockSet { unix_ns_at_zero } => self.unix_ns_at_zero = unix_ns_at_zero,
            Input::Tick => self.gossip(gossip::Input::Tick)?,
        }
        self.expire_awaiting_root()?;
        self.cut_off()?;
        self.update_pauses();
        Ok(())
    }

    /// Returns the next output, or `None` until the next input.
    pub fn poll(&mut self) -> Option<Output> {
        let next = self.outputs.pop_front();
        if next.is_none() {
            self.outputs = VecDeque::new();
        }
        next
    }

    /// Returns the latest time at which the driver must pass [`Input::Tick`].
    pub fn next_timeout(&self) -> Time {
        let gossip = self.router.next_timeout();
        self.awaiting_root_until()
            .map_or(gossip, |until| until.min(gossip))
    }

    /// Whether so many proofs wait for verification that the driver should stop reading frames from all peers until
    /// some are done: the last resort, when [`Output::Reading`] was not enough.
    pub fn is_saturated(&self) -> bool {
        self.checks.is_saturated()
    }

    /// Number of proofs being verified.
    pub fn checks_waiting(&self) -> usize {
        self.checks.len()
    }

    /// The gossip router, for inspection.
    pub fn router(&self) -> &Router {
        &self.router
    }

    /// Membership roots that are accepted.
    pub fn roots(&self) -> &RootWindow {
        &self.roots
    }

    /// Passes an input to the router and converts its outputs to outputs of the relay. The router's validation requests
    /// are answered here, so a driver never sees them.
    pub(crate) fn gossip(&mut self, input: gossip::Input) -> Result<(), ApiMisuse> {
        self.router.handle(self.now, input)?;
        let mut validate = Vec::new();
        while let Some(output) = self.router.poll() {
            match output {
                gossip::Output::Validate {
                    id,
                    from,
                    topic,
                    data,
                } => {
                    validate.push((id, from, topic, data));
                }
                other => self.pass_on(other),
            }
        }
        for (id, from, topic, data) in validate {
            self.received.insert(id, self.now);
            if let Some(verdict) = self.validate(id, from, &topic, &data) {
                self.verdict(id, verdict)?;
            }
        }
        Ok(())
    }

    pub(crate) fn verdict(
        &mut self,
        id: MessageId,
        verdict: gossip::Verdict,
    ) -> Result<(), ApiMisuse> {
        self.received.remove(&id);
        self.router
            .handle(self.now, gossip::Input::Validated { id, verdict })?;
        while let Some(output) = self.router.poll() {
            self.pass_on(output);
        }
        // Not delivered if the topic was left while the proof was verified.
        self.accepted.remove(&id);
        Ok(())
    }

    fn pass_on(&mut self, output: gossip::Output) {
        let output = match output {
            gossip::Output::Send {
                peer,
                handle,
                class,
                frame,
            } => Output::Send {
                peer,
                handle,
                class,
                frame,
            },
            gossip::Output::Cancel { peer, handle } => Output::Cancel { peer, handle },
            gossip::Output::Connect {
                from,
                topic,
                identity,
                record,
            } => {
                let Some(topic) = self.topics.get(&topic).cloned() else {
                    return;
                };
                Output::Connect {
                    from,
                    topic,
                    identity,
                    record,
                }
            }
            gossip::Output::Disconnect(peer) => {
                self.cut.push(peer);
                Output::Disconnect(peer)
            }
            gossip::Output::Forgotten(peer) => {
                self.forget_peer(peer);
                Output::Forgotten(peer)
            }
            gossip::Output::Report(gossip::Report::Misplaced { peer: from, id }) => {
                let reason = Rejection::OtherShard;
                Output::Report(RelayReport::Rejected { id, from, reason })
            }
            gossip::Output::Report(report) => Output::Report(RelayReport::Gossip(report)),
            gossip::Output::Deliver {
                id, from, topic, ..
            } => {
                return self.deliver(id, from, &topic);
            }
            gossip::Output::Published { request, outcome } => {
                return self.published(request, outcome);
            }
            gossip::Output::Copied { id, from } => return self.copied(&id, from),
            // Only a frame causes validation, and `gossip` has removed these outputs.
            gossip::Output::Validate { .. } => return,
        };
        self.outputs.push_back(output);
    }

    fn deliver(&mut self, id: MessageId, from: PeerIx, topic: &Topic) {
        let accepted = self.accepted.remove(&id);
        let (Some(accepted), Some(topic)) = (accepted, self.topics.get(topic).cloned()) else {
            return;
        };
        let Accepted { message, received } = accepted;
        self.outputs.push_back(Output::Deliver {
            id,
            topic,
            message,
            received,
            from: Some(from),
        });
    }

    pub(crate) fn output(&mut self, output: Output) {
        self.outputs.push_back(output);
    }

    fn subscribe(&mut self, topic: PubsubTopic) -> Result<(), ApiMisuse> {
        let name = Topic::new(&topic.to_string());
        let outcome = if self.is_in_network(&topic) {
            match self.gossip(gossip::Input::Subscribe(name.clone())) {
                Ok(()) => {
                    self.topics.insert(name, topic.clone());
                    Ok(())
                }
                Err(ApiMisuse::TopicLimit(_)) => Err(SubscribeError::Limit {
                    topic: topic.clone(),
                }),
                Err(misuse) => return Err(misuse),
            }
        } else {
            let cluster_id = self.config.cluster_id;
            Err(SubscribeError::NotInNetwork {
                topic: topic.clone(),
                cluster_id,
            })
        };
        self.output(Output::Subscribed { topic, outcome });
        Ok(())
    }

    fn unsubscribe(&mut self, topic: &PubsubTopic) -> Result<(), ApiMisuse> {
        let name = Topic::new(&topic.to_string());
        self.topics.remove(&name);
        self.gossip(gossip::Input::Unsubscribe(name))
    }

    /// Whether a topic belongs to the network and may be joined.
    pub fn is_in_network(&self, topic: &PubsubTopic) -> bool {
        self.config.is_in_network(topic)
    }

    /// Seconds until the epoch after `epoch` begins, rounded up; 0 without a rate limit.
    pub fn seconds_until_after(&self, epoch: Epoch) -> u64 {
        let Some(rln) = &self.config.rln else {
            return 0;
        };
        let begins_s = epoch
            .0
            .saturating_add(1)
            .saturating_mul(rln.policy.epoch_size_s.max(1));
        let begins_ns = begins_s.saturating_mul(1_000_000_000);
        begins_ns
            .saturating_sub(self.unix_now_ns())
            .div_ceil(1_000_000_000)
    }

    /// Current wall time, Unix nanoseconds.
    pub(crate) fn unix_now_ns(&self) -> u64 {
        self.unix_ns_at_zero.saturating_add(self.now.as_nanos())
    }

    /// Forgets the nullifiers of epochs whose messages are no longer acceptable, and their senders. The previous epoch
    /// is kept for twice as long as the clock gap admits its messages: the clock may be set back by a gap, which makes
    /// them acceptable again. It is also kept while one of its proofs is being verified, as that proof is compared with
    /// the log again at the end.
    fn prune_nullifiers(&mut self) {
        let Some(rln) = &self.config.rln else { return };
        let (policy, now) = (&rln.policy, self.unix_now_ns());
        let oldest = now.saturating_sub(policy.max_clock_gap_ns.saturating_mul(2));
        let newest = now.saturating_add(policy.max_clock_gap_ns);
        let oldest = Epoch::at(oldest, policy.epoch_size_s);
        if oldest != self.pruned_at {
            let checked = self.checks.oldest_epoch().unwrap_or(oldest);
            let oldest = oldest.min(checked);
            self.pruned_at = oldest;
            let keep = oldest..=Epoch::at(newest, policy.epoch_size_s);
            self.nullifiers.prune(keep.clone());
            self.nullifier_senders.prune(keep);
        }
    }
}
