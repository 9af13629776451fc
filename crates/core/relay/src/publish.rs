//! Publishing of this node's messages: timestamp, proof (made here, or supplied and checked), gossip.

use std::time::Duration;

use bytes::Bytes;
use undertone_gossip::{self as gossip, ApiMisuse, MessageId, RequestId, Topic};
use undertone_message::message::MAX_META_BYTES;
use undertone_message::{PubsubTopic, WakuMessage};
use undertone_rln::{CheckedProof, Epoch, Fr, NullifierStatus, RateLimitProof, fr_from_le};

use crate::checks::{Proving, Purpose};
use crate::io::{Output, ProofFailure, PublishError, Published};
use crate::placement::{may_be_on, shard_of_content};
use crate::rejection::Rejection;
use crate::relay::Relay;

/// Maximum number of published messages that wait for their proof to be made or verified.
const PROVING_MAX: usize = 64;

/// Number of bytes that a proof adds to a message: its fields, their tags, and the tag of the proof field.
pub(crate) const PROOF_FIELD_BYTES: usize = 128 + 6 * 32 + 3 + 6 * 2 + 2 + 2;

/// Whether a message of this node may use a nullifier, given its status in the log. No peer is involved, so
/// repetitions do not matter.
pub(crate) fn unused(seen: &NullifierStatus) -> Result<(), Rejection> {
    match seen {
        NullifierStatus::New => Ok(()),
        NullifierStatus::Duplicate => Err(Rejection::Duplicate),
        NullifierStatus::Spam { .. } => Err(Rejection::Spam { repeated: false }),
    }
}

impl Relay {
    pub(crate) fn publish(
        &mut self,
        topic: PubsubTopic,
        mut message: WakuMessage,
        request: RequestId,
    ) -> Result<(), ApiMisuse> {
        if message.timestamp_ns() == 0 {
            message.timestamp = Some(i64::try_from(self.unix_now_ns()).unwrap_or(i64::MAX));
        }
        if self.needs_proof(&message) {
            // An empty proof field is removed, so that it does not count in addition to the new proof.
            message.rate_limit_proof = None;
        }
        if let Err(error) = self.publishable(&topic, &message) {
            self.refuse(request, error);
            return Ok(());
        }
        if self.config.rln.is_none() {
            self.proving.insert(request, Proving::first(topic, message));
            return self.send_own(request, None);
        }
        if self.needs_proof(&message) {
            self.proving.insert(request, Proving::first(topic, message));
            self.ask_for_proof(request, false);
        } else {
            let checked = self.check_proof(&message);
            match checked.and_then(|proof| unused(&self.look_up(&proof)).map(|()| proof)) {
                Ok(proof) => {
                    let proving = Box::new(Proving::first(topic, message));
                    self.verify(proof, Purpose::Own { request, proving });
                }
                Err(reason) => self.refuse(request, PublishError::InvalidProof(reason)),
            }
        }
        Ok(())
    }

    /// Requests a proof for a message that waits for one.
    fn ask_for_proof(&mut self, request: RequestId, is_taken: bool) {
        let (Some(rln), Some(proving)) = (&self.config.rln, self.proving.get(&request)) else {
            return;
        };
        let x = self.signals.hash_of(&proving.message);
        // Epoch of the timestamp, because receivers compare the epoch with it.
        let time_ns = u64::try_from(proving.message.timestamp_ns()).unwrap_or(0);
        let epoch = Epoch::at(time_ns, rln.policy.epoch_size_s);
        self.output(Output::Prove {
            request,
            epoch,
            x,
            is_taken,
        });
    }

    pub(crate) fn needs_proof(&self, message: &WakuMessage) -> bool {
        let proof = message.rate_limit_proof.as_ref();
        self.config.rln.is_some() && proof.is_none_or(Bytes::is_empty)
    }

    pub(crate) fn publishable(
        &self,
        topic: &PubsubTopic,
        message: &WakuMessage,
    ) -> Result<(), PublishError> {
        self.well_formed(topic, message)?;
        // Checked before the proof is made, which would otherwise be wasted.
        let wait = self.bandwidth_wait(topic);
        if !wait.is_zero() {
            let topic = topic.clone();
            return Err(PublishError::Bandwidth { topic, wait });
        }
        let waiting = self.proving.len() + self.checks.own();
        if waiting >= PROVING_MAX {
            return Err(PublishError::Busy { waiting });
        }
        let brings_proof = self.config.rln.is_some() && !self.needs_proof(message);
        if brings_proof && self.checks.is_full() {
            let waiting = self.checks.len();
            return Err(PublishError::Busy { waiting });
        }
        Ok(())
    }

    /// Returns the time until the bandwidth of a topic has room for a message of this node; zero if it has
    /// room now.
    pub fn bandwidth_wait(&self, topic: &PubsubTopic) -> Duration {
        let name = Topic::new(&topic.to_string());
        self.router.bandwidth_wait(self.now, &name)
    }

    /// Checks what can be wrong with a message regardless of time.
    pub(crate) fn well_formed(
        &self,
        topic: &PubsubTopic,
        message: &WakuMessage,
    ) -> Result<(), PublishError> {
        self.joined(topic)?;
        if message.content_topic.is_empty() {
            return Err(PublishError::EmptyContentTopic);
        }
        self.belongs(topic, message)?;
        let (len, max) = (message.meta_bytes().len(), MAX_META_BYTES);
        if len > max {
            return Err(PublishError::MetaTooLong { len, max });
        }
        self.timely(message)?;
        let proof = if self.needs_proof(message) {
            PROOF_FIELD_BYTES
        } else {
            0
        };
        let (len, max) = (message.encoded_len() + proof, self.config.max_message_bytes);
        if len > max {
            return Err(PublishError::TooLarge { len, max });
        }
        Ok(())
    }

    /// Checks that receivers accept the message on this topic.
    fn belongs(&self, topic: &PubsubTopic, message: &WakuMessage) -> Result<(), PublishError> {
        let Some(num_shards) = self.config.num_shards else {
            return Ok(());
        };
        let content_topic = &message.content_topic;
        let shard = shard_of_content(content_topic, num_shards);
        match shard.filter(|_| !may_be_on(topic, content_topic, num_shards)) {
            Some(shard) => Err(PublishError::OtherShard {
                topic: topic.clone(),
                content_topic: content_topic.clone(),
                shard,
            }),
            None => Ok(()),
        }
    }

    /// Checks that a message whose proof is made here has a timestamp that receivers accept. Otherwise a
    /// message id would be wasted, in an epoch that is not the present one. For a message that comes with
    /// its proof, the timestamp is checked with the proof.
    fn timely(&self, message: &WakuMessage) -> Result<(), PublishError> {
        let (Some(rln), true) = (&self.config.rln, self.needs_proof(message)) else {
            return Ok(());
        };
        let (timestamp_ns, unix_now_ns) = (message.timestamp_ns(), self.unix_now_ns());
        let max_clock_gap_ns = rln.policy.max_clock_gap_ns;
        match u64::try_from(timestamp_ns) {
            Ok(time_ns) if time_ns.abs_diff(unix_now_ns) <= max_clock_gap_ns => Ok(()),
            _ => Err(PublishError::Timestamp {
                timestamp_ns,
                unix_now_ns,
                max_clock_gap_ns,
            }),
        }
    }

    pub(crate) fn joined(&self, topic: &PubsubTopic) -> Result<Topic, PublishError> {
        let name = Topic::new(&topic.to_string());
        let unjoined = self.config.publish_unjoined && self.is_in_network(topic);
        if unjoined || self.topics.contains_key(&name) {
            Ok(name)
        } else {
            Err(PublishError::NotSubscribed {
                topic: topic.clone(),
            })
        }
    }

    /// Handles the driver's answer to [`Output::Prove`]; an unexpected one is ignored.
    pub(crate) fn proved(
        &mut self,
        request: RequestId,
        result: Result<RateLimitProof, ProofFailure>,
    ) -> Result<(), ApiMisuse> {
        if !self.proving.contains_key(&request) {
            return Ok(());
        }
        match result {
            Ok(proof) => {
                if self.claim(&proof) {
                    return self.send_own(request, Some(&proof));
                }
                // A second message under this nullifier would reveal this node's secret.
                self.ask_for_proof(request, true);
                Ok(())
            }
            Err(failure) => {
                self.fail(request, PublishError::Proof(failure));
                Ok(())
            }
        }
    }

    /// Logs the nullifier of a proof made for this node, as every receiver will. Our message in another
    /// encoding is then a duplicate, and another message under its nullifier is not forwarded to
    /// neighbours, who would blame us for it. Returns `false` if the nullifier was used by someone else,
    /// which requires our identity.
    fn claim(&mut self, proof: &RateLimitProof) -> bool {
        let numbers = [&proof.nullifier, &proof.share_x, &proof.share_y].map(fr_from_le);
        let (Ok(epoch), [Ok(nullifier), Ok(x), Ok(y)]) = (Epoch::from_bytes(&proof.epoch), numbers)
        else {
            return true;
        };
        let reuses = self
            .config
            .rln
            .as_ref()
            .is_some_and(|rln| rln.sends_reused_ids);
        if self.checks.holds(epoch, nullifier) && !reuses {
            return false;
        }
        match self.nullifiers.insert(epoch, nullifier, x, y) {
            NullifierStatus::New => true,
            NullifierStatus::Duplicate | NullifierStatus::Spam { .. } => reuses,
        }
    }

    /// Whether a message under this nullifier was received or published, or is being verified. If the
    /// nullifier is one of this node that it has not used, such a message was made with this node's secret.
    pub fn knows_nullifier(&self, epoch: Epoch, nullifier: Fr) -> bool {
        self.nullifiers.contains(epoch, nullifier) || self.checks.holds(epoch, nullifier)
    }

    /// Handles the verification result of a proof that came with a message of this node. Every neighbour
    /// will verify it too, and blame us for a message that they have to refuse.
    pub(crate) fn own_verified(
        &mut self,
        request: RequestId,
        proving: Proving,
        proof: &CheckedProof,
        valid: bool,
    ) -> Result<(), ApiMisuse> {
        // The nullifier of a message that is not sent stays unused.
        if let Err(error) = self.joined(&proving.topic) {
            self.refuse(request, error);
            return Ok(());
        }
        match self.log(proof, valid).and_then(|seen| unused(&seen)) {
            Ok(()) => {
                self.proving.insert(request, proving);
                self.send_own(request, None)
            }
            Err(reason) => {
                self.refuse(request, PublishError::InvalidProof(reason));
                Ok(())
            }
        }
    }

    fn fail(&mut self, request: RequestId, error: PublishError) {
        self.proving.remove(&request);
        self.refuse(request, error);
    }

    pub(crate) fn refuse(&mut self, request: RequestId, error: PublishError) {
        let outcome = Err(error);
        self.output(Output::Published { request, outcome });
    }

    /// Passes a message to the router, with the proof made for it.
    pub(crate) fn send_own(
        &mut self,
        request: RequestId,
        proof: Option<&RateLimitProof>,
    ) -> Result<(), ApiMisuse> {
        let Some(proving) = self.proving.get_mut(&request) else {
            return Ok(());
        };
        if let Some(proof) = proof {
            proving.message.rate_limit_proof = Some(proof.encode().into());
        }
        let (topic, data) = (proving.topic.clone(), proving.message.encode());
        let is_repeated = proving.is_repeated;
        // Checked again: the topic may have been left while the proof was made.
        match self.joined(&topic) {
            Ok(topic) => {
                let data = Bytes::from(data);
                self.gossip(match is_repeated {
                    false => gossip::Input::Publish {
                        topic,
                        data,
                        request,
                    },
                    true => gossip::Input::Republish {
                        topic,
                        data,
                        request,
                    },
                })
            }
            Err(error) => {
                self.fail(request, error);
                Ok(())
            }
        }
    }

    /// Handles the router's answer: informs the publisher, and delivers the message to
    /// this node's application.
    pub(crate) fn published(
        &mut self,
        request: RequestId,
        outcome: Result<(MessageId, usize), gossip::PublishError>,
    ) {
        let Some(proving) = self.proving.remove(&request) else {
            return;
        };
        let Proving {
            topic,
            message,
            is_repeated,
        } = proving;
        let outcome = match outcome {
            Ok((id, peers)) => {
                let received = self.now;
                let is_joined = || self.topics.contains_key(&Topic::new(&topic.to_string()));
                // A message on a topic that is not joined is not delivered to this node.
                let is_new = !is_repeated;
                if is_new && (!self.config.publish_unjoined || is_joined()) {
                    self.output(Output::Deliver {
                        id,
                        topic,
                        message,
                        received,
                        from: None,
                    });
                }
                Ok(Published { id, peers })
            }
            Err(gossip::PublishError::TooLarge { len, max }) => {
                Err(PublishError::TooLarge { len, max })
            }
            Err(_) => Err(PublishError::Duplicate),
        };
        self.output(Output::Published { request, outcome });
    }
}
