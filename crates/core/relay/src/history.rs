//! Past messages, judged by their proofs and the membership of their time.
//!
//! A store may have changed, moved or invented what it serves, and only the proofs show it. A relay's checks
//! apply, with two differences: the clock is the message's timestamp, and the root must be one that relays
//! accepted at that time ([`RootTimeline`]) instead of one that they accept now.

use std::collections::{BTreeMap, BTreeSet};

use undertone_message::{MessageHash, PubsubTopic, WakuMessage, message_hash};
use undertone_rln::check::check_message;
use undertone_rln::{
    CheckedProof, Epoch, ExternalNullifiers, NullifierLog, NullifierStatus, ProofStatement,
    RootStanding, RootTimeline, RootTolerance, SnarkInvalid, fr_to_le,
};

use crate::config::{RelayConfig, RlnConfig};
use crate::placement::may_be_on;
use crate::proof_field::proof_of;
use crate::rejection::Rejection;
use crate::signals::{SignalHashes, UncachedHashes};

mod verdict;

pub use verdict::HistoryVerdict;

/// Past message as a store returned it.
#[derive(Clone, Copy, Debug)]
pub struct HistoricMessage<'a> {
    /// Hash that the store states for the message.
    pub hash: MessageHash,
    /// Topic on which the store says the message was published.
    pub pubsub_topic: &'a str,
    /// The message with its proof.
    pub message: &'a WakuMessage,
}

/// Judge of a network's past messages, from the oldest to the newest.
///
/// The verdict on a message depends on earlier ones: two that share a nullifier exceed the rate limit.
/// Nullifiers of an epoch are remembered until a message of a later epoch is judged, so the messages of one
/// epoch bound the memory.
#[derive(Debug)]
pub struct HistoryJudge {
    config: RelayConfig,
    rln: RlnConfig,
    tolerance: RootTolerance,
    externals: ExternalNullifiers,
    nullifiers: NullifierLog,
    /// First message of each nullifier in the log.
    firsts: BTreeMap<(Epoch, [u8; 32]), MessageHash>,
}

impl HistoryJudge {
    /// Creates a judge that has seen no messages; `None` if the network has no rate limit, so that messages have
    /// no proofs.
    pub fn new(config: &RelayConfig, tolerance: RootTolerance) -> Option<Self> {
        let rln = config.rln.clone()?;
        Some(Self {
            config: config.clone(),
            tolerance,
            externals: ExternalNullifiers::new(rln.policy.generation, rln.policy.identifier),
            nullifiers: NullifierLog::new(rln.nullifiers),
            firsts: BTreeMap::new(),
            rln,
        })
    }

    /// Returns the points of the timeline whose unknown times decide about these messages. A driver that can
    /// find the times should record them ([`RootTimeline::set_time`]) before the messages are judged.
    pub fn undated(
        &self,
        messages: &[HistoricMessage<'_>],
        timeline: &RootTimeline,
    ) -> BTreeSet<u64> {
        let open = messages.iter().filter_map(|historic| {
            let at_ns = u64::try_from(historic.message.timestamp_ns()).ok()?;
            let proof = proof_of(historic.message).ok()?;
            let root = undertone_rln::fr_from_le(&proof.merkle_root).ok()?;
            Some(timeline.undated(&root, at_ns, &self.tolerance))
        });
        open.flatten().collect()
    }

    /// Judges messages, none of which may be older than one judged before. Returns their verdicts in order.
    ///
    /// `verify` verifies the proofs that passed all other checks, and returns a result for each
    /// ([`undertone_rln::Verifier::verify_batch`]). `unix_now_ns` is the present time in Unix nanoseconds; a
    /// message's clock never exceeds it.
    pub fn judge(
        &mut self,
        messages: &[HistoricMessage<'_>],
        timeline: &RootTimeline,
        unix_now_ns: u64,
        verify: impl FnOnce(&[&ProofStatement]) -> Vec<Result<(), SnarkInvalid>>,
    ) -> Vec<HistoryVerdict> {
        let checked: Vec<_> = messages
            .iter()
            .map(|historic| self.check(historic, timeline, unix_now_ns))
            .collect();
        let statements: Vec<_> = checked.iter().filter_map(|one| one.as_ref().ok()).collect();
        let statements: Vec<_> = statements.iter().map(|one| &one.proof.statement).collect();
        let mut verified = verify(&statements).into_iter();
        let verdicts = messages.iter().zip(checked).map(|(historic, checked)| {
            let checked = match checked {
                Ok(checked) => checked,
                Err(verdict) => return verdict,
            };
            match verified.next() {
                Some(Ok(())) => self.count(historic.hash, &checked),
                // An unverified proof does not count as valid.
                Some(Err(_)) | None => HistoryVerdict::Rejected(Rejection::Snark),
            }
        });
        verdicts.collect()
    }

    /// Runs every check of a message except those of its zero-knowledge proof and its nullifier.
    fn check(
        &mut self,
        historic: &HistoricMessage<'_>,
        timeline: &RootTimeline,
        unix_now_ns: u64,
    ) -> Result<CheckedHistoric, HistoryVerdict> {
        let message = historic.message;
        if message_hash(historic.pubsub_topic, message) != historic.hash {
            return Err(HistoryVerdict::WrongHash);
        }
        self.check_place(historic)
            .map_err(HistoryVerdict::Rejected)?;
        let proof = proof_of(message).map_err(HistoryVerdict::Rejected)?;
        let timestamp_ns = message.timestamp_ns();
        // The time of arrival is unknown; a relay accepted the message at about the time of its timestamp.
        let at_ns = u64::try_from(timestamp_ns).unwrap_or(0);
        let proof = check_message(
            &self.rln.policy,
            &self.externals,
            at_ns.min(unix_now_ns),
            timestamp_ns,
            UncachedHashes.hash_of(message),
            &proof,
        );
        let proof = proof.map_err(|why| HistoryVerdict::Rejected(Rejection::Proof(why)))?;
        match timeline.standing(&proof.statement.root, at_ns, &self.tolerance) {
            RootStanding::Accepted { replaced_for_ns } => Ok(CheckedHistoric {
                proof,
                replaced_for_ns,
            }),
            RootStanding::Unknown => Err(HistoryVerdict::UnknownRoot),
            RootStanding::Early { since_ns } => Err(HistoryVerdict::EarlyRoot { since_ns }),
            RootStanding::Expired { until_ns } => Err(HistoryVerdict::ExpiredRoot { until_ns }),
        }
    }

    /// Checks that the network could have carried the message on the stated topic.
    fn check_place(&self, historic: &HistoricMessage<'_>) -> Result<(), Rejection> {
        let (len, max) = (
            historic.message.encoded_len(),
            self.config.max_message_bytes,
        );
        if len > max {
            return Err(Rejection::TooLarge { len, max });
        }
        let topic = PubsubTopic::parse_any(historic.pubsub_topic).ok();
        let topic = topic.filter(|topic| self.config.is_in_network(topic));
        let topic = topic.ok_or(Rejection::WrongShard)?;
        let content_topic = &historic.message.content_topic;
        match self.config.num_shards {
            Some(num_shards) if !may_be_on(&topic, content_topic, num_shards) => {
                Err(Rejection::OtherShard)
            }
            _ => Ok(()),
        }
    }

    /// Counts a message with a valid proof against its member's rate limit.
    fn count(&mut self, hash: MessageHash, checked: &CheckedHistoric) -> HistoryVerdict {
        let proof = &checked.proof;
        let (epoch, nullifier) = (proof.epoch, proof.nullifier);
        self.forget_before(epoch);
        let place = (epoch, fr_to_le(&nullifier));
        match self.nullifiers.insert(epoch, nullifier, proof.x, proof.y) {
            NullifierStatus::New => {
                self.firsts.insert(place, hash);
                HistoryVerdict::Valid {
                    epoch,
                    replaced_for_ns: checked.replaced_for_ns,
                }
            }
            NullifierStatus::Duplicate => HistoryVerdict::Repeated {
                first: self.first(place, hash),
            },
            NullifierStatus::Spam { secret } => HistoryVerdict::DoubleSignal {
                first: self.first(place, hash),
                secret,
            },
        }
    }

    /// Returns the first message with a nullifier in the log; `hash` if there is none, which does not happen.
    fn first(&self, place: (Epoch, [u8; 32]), hash: MessageHash) -> MessageHash {
        self.firsts.get(&place).copied().unwrap_or(hash)
    }

    /// Forgets the nullifiers of all epochs before `epoch`.
    fn forget_before(&mut self, epoch: Epoch) {
        self.nullifiers.prune(epoch..=Epoch(u64::MAX));
        self.firsts = self.firsts.split_off(&(epoch, [0; 32]));
    }
}

/// Message that passed all checks except those of its zero-knowledge proof and its nullifier.
struct CheckedHistoric {
    proof: CheckedProof,
    replaced_for_ns: Option<u64>,
}
