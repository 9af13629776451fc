//! Checks of messages from other stores: all that this node can make.

use std::sync::Arc;

use undertone_message::MessageLimits;
use undertone_services::history::StoredMessage;

use super::proofs::{PastProofs, ProofVerdict};
use super::terms::SessionTerms;

/// Reason why a message from another store is not stored.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(in crate::services) enum KeepRefusal {
    /// The message is ephemeral, which no store keeps.
    Ephemeral,
    /// The timestamp is outside the requested range.
    OtherTime,
    /// This node does not store the topic.
    OtherTopic,
    /// The message has no proof, although the network has rate limiting.
    NoProof,
    /// The proof is for a root that this node does not know.
    UnknownRoot,
    /// The proof is not valid.
    InvalidProof,
}

impl KeepRefusal {
    /// Returns the name for metrics and logs.
    pub(in crate::services) fn name(self) -> &'static str {
        match self {
            Self::Ephemeral => "ephemeral",
            Self::OtherTime => "other_time",
            Self::OtherTopic => "other_topic",
            Self::NoProof => "no_proof",
            Self::UnknownRoot => "unknown_root",
            Self::InvalidProof => "invalid_proof",
        }
    }
}

/// Messages from another store after the last check.
#[derive(Clone, Debug, Default)]
pub(in crate::services) struct CheckedHistory {
    /// Messages to keep.
    pub(in crate::services) kept: Vec<StoredMessage>,
    /// Reasons why the others are not stored.
    pub(in crate::services) refused: Vec<KeepRefusal>,
}

/// Checks of messages from other stores; clones share the membership's roots.
#[derive(Clone)]
pub(in crate::services) struct HistoryCheck {
    /// Limits on one message.
    pub(in crate::services) limits: MessageLimits,
    proofs: Option<Arc<PastProofs>>,
}

impl HistoryCheck {
    pub(in crate::services) fn new(limits: MessageLimits, proofs: Option<PastProofs>) -> Self {
        Self {
            limits,
            proofs: proofs.map(Arc::new),
        }
    }

    /// Remembers the roots that proofs may currently refer to. To be called from time to time.
    pub(in crate::services) fn remember_roots(&self) {
        if let Some(proofs) = &self.proofs {
            proofs.remember_roots();
        }
    }

    /// Checks everything about a message except its proof. Its hash has been computed already, and the decoder of its
    /// frame has checked its size.
    pub(in crate::services) fn cheap(
        message: &StoredMessage,
        terms: &SessionTerms,
    ) -> Result<(), KeepRefusal> {
        let (topic, message) = (&message.pubsub_topic, &message.message);
        if message.is_ephemeral() {
            return Err(KeepRefusal::Ephemeral);
        }
        if !(terms.earliest_ns..=terms.latest_ns).contains(&message.timestamp_ns()) {
            return Err(KeepRefusal::OtherTime);
        }
        if !terms.scope.contains(topic, &message.content_topic) {
            return Err(KeepRefusal::OtherTopic);
        }
        Ok(())
    }

    /// Checks the proofs of messages. Two cases that this node cannot judge are accepted from trusted stores only: a
    /// missing proof, because nwaku's archives have none, and a root that this node has not seen.
    pub(in crate::services) async fn proven(
        &self,
        messages: Vec<StoredMessage>,
        is_trusted: bool,
    ) -> CheckedHistory {
        let Some(proofs) = &self.proofs else {
            return CheckedHistory {
                kept: messages,
                refused: Vec::new(),
            };
        };
        let proofs = Arc::clone(proofs);
        let judging = tokio::task::spawn_blocking(move || {
            let verdicts = proofs.judge(&messages);
            let mut checked = CheckedHistory::default();
            for (message, verdict) in messages.into_iter().zip(verdicts) {
                let refusal = match verdict {
                    ProofVerdict::Valid => None,
                    ProofVerdict::Missing => Some(KeepRefusal::NoProof).filter(|_| !is_trusted),
                    ProofVerdict::UnknownRoot => {
                        Some(KeepRefusal::UnknownRoot).filter(|_| !is_trusted)
                    }
                    ProofVerdict::Invalid => Some(KeepRefusal::InvalidProof),
                };
                match refusal {
                    None => checked.kept.push(message),
                    Some(refusal) => checked.refused.push(refusal),
                }
            }
            checked
        });
        // Messages that were not judged are not stored.
        judging.await.unwrap_or_default()
    }
}
