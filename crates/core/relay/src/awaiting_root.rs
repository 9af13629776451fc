//! Messages with an unknown root: the membership may have changed without this node knowing yet.
//!
//! A publisher proves against the newest root as soon as it knows it. A relay that learns of the change a
//! moment later must not drop the message. It keeps such messages, bounded in time and number, and judges
//! them again when new roots arrive. The router also forgets a message that is evicted earlier, so that a
//! later copy is judged as if it were the first.

use bytes::Bytes;
use undertone_gossip::{ApiMisuse, MessageId, PeerIx, Router, Time, Topic};

use crate::rejection::Rejection;
use crate::relay::Relay;
use crate::trust::PeerTrust;

pub(crate) mod room;

use room::{AwaitingRoot, PeerKnowledge, WaitingMessage};

/// Relay state that decides about slots in the room.
struct RelayKnowledge<'a> {
    trust: &'a PeerTrust,
    router: &'a Router,
}

impl PeerKnowledge for RelayKnowledge<'_> {
    fn is_proven(&self, peer: PeerIx) -> bool {
        self.trust.is_proven(peer)
    }

    fn senders(&self, id: &MessageId) -> &[PeerIx] {
        self.router.senders(id)
    }
}

impl Relay {
    /// Whether messages wait for unknown roots: the driver should look for newer roots now.
    pub fn wants_roots(&self) -> bool {
        !self.awaiting_root.is_empty()
    }

    /// Keeps a message whose root is unknown; returns `false` when such messages are not kept. Messages
    /// that it displaces are dropped at the end of the input.
    pub(crate) fn keep_awaiting_root(
        &mut self,
        id: MessageId,
        from: PeerIx,
        topic: &Topic,
        data: &Bytes,
    ) -> bool {
        let rln = self.config.rln.as_ref();
        let timeout_ns = rln.map_or(0, |rln| rln.unknown_root_timeout_ns);
        if timeout_ns == 0 {
            return false;
        }
        let what = AwaitingRoot {
            topic: topic.clone(),
            data: data.clone(),
            until: self.now.after(std::time::Duration::from_nanos(timeout_ns)),
        };
        let known = RelayKnowledge {
            trust: &self.trust,
            router: &self.router,
        };
        let reason = Rejection::Proof(undertone_rln::ProofRejection::UnknownRoot {
            window_len: self.roots.len(),
        });
        for WaitingMessage { id, from, .. } in self
            .awaiting_root
            .put(WaitingMessage { id, from, what }, &known)
        {
            self.unjudged.push((id, from, reason));
        }
        true
    }

    /// Judges the waiting messages again after the roots have changed.
    pub(crate) fn retry_awaiting_root(&mut self) -> Result<(), ApiMisuse> {
        let waited = self.awaiting_root.take(|_| true);
        self.judge_again(waited, true)
    }

    /// Judges messages whose waiting time is over for the last time.
    pub(crate) fn expire_awaiting_root(&mut self) -> Result<(), ApiMisuse> {
        let now = self.now;
        let late = self.awaiting_root.take(|message| message.what.until <= now);
        self.judge_again(late, false)
    }

    fn judge_again(
        &mut self,
        waited: Vec<WaitingMessage<AwaitingRoot>>,
        may_wait: bool,
    ) -> Result<(), ApiMisuse> {
        for message in waited {
            let WaitingMessage { id, from, what } = &message;
            let (id, from) = (*id, *from);
            match self.judge(id, from, &what.topic, &what.data) {
                Err(reason) if may_wait && reason.is_unknown_root() => {
                    // There is room, because the message was just removed.
                    self.awaiting_root.put_back(message);
                }
                judged => {
                    if judged.as_ref().is_err_and(Rejection::is_unknown_root) {
                        self.trust.root_stayed_unknown(from);
                    }
                    if let Some(verdict) = self.settle(id, from, judged) {
                        self.verdict(id, verdict)?;
                    }
                }
            }
        }
        Ok(())
    }

    /// Returns the earliest time at which a waiting message's time is over.
    pub(crate) fn awaiting_root_until(&self) -> Option<Time> {
        self.awaiting_root
            .iter()
            .map(|message| message.what.until)
            .min()
    }
}

impl Rejection {
    pub(crate) fn is_unknown_root(&self) -> bool {
        matches!(
            self,
            Self::Proof(undertone_rln::ProofRejection::UnknownRoot { .. })
        )
    }
}
