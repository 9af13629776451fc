//! Messages whose root is not known: perhaps the membership has changed and we have not heard yet.
//!
//! A publisher proves against the newest root as soon as it knows it. A relay that hears of the
//! change a moment later must not drop the message: it is kept until new roots come, for a bounded
//! time and in bounded number, and judged again.

use std::collections::BTreeMap;

use bytes::Bytes;
use undertone_gossip::{ApiMisuse, MessageId, PeerIx, Time, Topic};

use crate::rejection::Rejection;
use crate::relay::Relay;

/// Most messages that wait from one peer.
pub(crate) const MAX_OF_PEER: usize = 16;

/// Most messages that wait.
pub(crate) const MAX_MESSAGES: usize = 128;

/// A message that waits for roots.
#[derive(Debug)]
pub(crate) struct Rootless {
    pub(crate) from: PeerIx,
    pub(crate) topic: Topic,
    pub(crate) data: Bytes,
    until: Time,
}

impl Relay {
    /// Whether messages wait for roots that are not known here: the driver should look for newer
    /// ones now.
    pub fn wants_roots(&self) -> bool {
        !self.rootless.is_empty()
    }

    /// Keeps a message whose root is unknown; `false` when there is no room or no patience for it.
    pub(crate) fn keep_rootless(
        &mut self,
        id: MessageId,
        from: PeerIx,
        topic: &Topic,
        data: &Bytes,
    ) -> bool {
        let patience_ns = self
            .config
            .rln
            .as_ref()
            .map_or(0, |rln| rln.root_patience_ns);
        let of_peer = self
            .rootless
            .values()
            .filter(|message| message.from == from);
        if patience_ns == 0 || self.rootless.len() >= MAX_MESSAGES || of_peer.count() >= MAX_OF_PEER
        {
            return false;
        }
        let message = Rootless {
            from,
            topic: topic.clone(),
            data: data.clone(),
            until: self.now.after(std::time::Duration::from_nanos(patience_ns)),
        };
        self.rootless.insert(id, message);
        true
    }

    /// Judges again what waited for these roots.
    pub(crate) fn retry_rootless(&mut self) -> Result<(), ApiMisuse> {
        for (id, message) in std::mem::take(&mut self.rootless) {
            match self.judge(id, message.from, &message.topic, &message.data) {
                Err(reason) if reason.is_unknown_root() => {
                    self.rootless.insert(id, message);
                }
                judged => {
                    if let Some(verdict) = self.settle(id, message.from, judged) {
                        self.verdict(id, verdict)?;
                    }
                }
            }
        }
        Ok(())
    }

    /// Drops what waited in vain.
    pub(crate) fn expire_rootless(&mut self) -> Result<(), ApiMisuse> {
        let now = self.now;
        let late: Vec<MessageId> = self
            .rootless
            .iter()
            .filter(|(_, message)| message.until <= now)
            .map(|(id, _)| *id)
            .collect();
        for id in late {
            if let Some(message) = self.rootless.remove(&id) {
                let judged = self.judge(id, message.from, &message.topic, &message.data);
                if let Some(verdict) = self.settle(id, message.from, judged) {
                    self.verdict(id, verdict)?;
                }
            }
        }
        Ok(())
    }

    /// When the first of them has waited long enough.
    pub(crate) fn rootless_until(&self) -> Option<Time> {
        self.rootless.values().map(|message| message.until).min()
    }
}

impl Rejection {
    pub(crate) fn is_unknown_root(&self) -> bool {
        matches!(
            self,
            Self::Proof(undertone_rln::Rejection::UnknownRoot { .. })
        )
    }
}

/// Messages that wait, by id.
pub(crate) type RootlessMessages = BTreeMap<MessageId, Rootless>;
