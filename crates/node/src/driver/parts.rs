//! Large messages published in parts, and reassembly of received parts.

use std::collections::BTreeMap;

use undertone_gossip::Time;
use undertone_gossip::fragments::{AssemblerLimits, FRAGMENTS_MAX};
use undertone_message::WakuMessage;
use undertone_relay::{self as relay, PublishError, Reassembled, Reassembly, split_message};

/// An own message whose parts are being published.
#[derive(Debug)]
struct Whole {
    missing: usize,
    /// Smallest number of peers that a part was sent to.
    peers: usize,
    failure: Option<PublishError>,
}

/// Splitting and reassembly of large messages; inactive unless the node is configured to split.
#[derive(Debug)]
pub(crate) struct Parts {
    part_bytes: Option<usize>,
    reassembly: Reassembly,
    /// Messages by the request id of their first part.
    wholes: BTreeMap<u64, Whole>,
    /// Request id of the first part, by the request id of each part.
    first: BTreeMap<u64, u64>,
}

impl Parts {
    /// Payloads longer than `part_bytes` are split. With `None` nothing is split, and received parts are
    /// delivered to the application as they are.
    pub(crate) fn new(part_bytes: Option<usize>) -> Self {
        Self {
            part_bytes,
            reassembly: Reassembly::new(AssemblerLimits::default()),
            wholes: BTreeMap::new(),
            first: BTreeMap::new(),
        }
    }

    /// Returns the parts of a message that must be split.
    pub(crate) fn cut(&self, message: &WakuMessage) -> Option<Vec<WakuMessage>> {
        let part_bytes = self.part_bytes?;
        let count = message.payload.len().div_ceil(part_bytes.max(1));
        if !(2..=FRAGMENTS_MAX).contains(&count) {
            return None;
        }
        split_message(message, count).ok().flatten()
    }

    /// Records that `count` parts are published under request ids from `first` on.
    pub(crate) fn begin(&mut self, first: u64, count: usize) {
        let whole = Whole {
            missing: count,
            peers: usize::MAX,
            failure: None,
        };
        self.wholes.insert(first, whole);
        self.first
            .extend((first..).take(count).map(|token| (token, first)));
    }

    /// Returns the outcome of the whole message that `token` is a part of, once all its parts are settled. If
    /// `token` is not a part, returns `outcome` itself.
    pub(crate) fn settled(
        &mut self,
        token: u64,
        outcome: Result<relay::Published, PublishError>,
    ) -> Option<(u64, Result<relay::Published, PublishError>)> {
        let Some(first) = self.first.remove(&token) else {
            return Some((token, outcome));
        };
        let whole = self.wholes.get_mut(&first)?;
        whole.missing -= 1;
        match &outcome {
            Ok(published) => whole.peers = whole.peers.min(published.peers),
            Err(error) => whole.failure = whole.failure.take().or_else(|| Some(error.clone())),
        }
        if whole.missing > 0 {
            return None;
        }
        let whole = self.wholes.remove(&first)?;
        let answer = match whole.failure {
            Some(failure) => Err(failure),
            None => outcome.map(|last| relay::Published {
                peers: whole.peers,
                ..last
            }),
        };
        Some((first, answer))
    }

    /// Returns the message to deliver: an unfragmented one, or the whole when `message` is
    /// its last missing part.
    pub(crate) fn whole(&mut self, now: Time, message: WakuMessage) -> Option<WakuMessage> {
        if self.part_bytes.is_none() {
            return Some(message);
        }
        match self.reassembly.take(now, message) {
            Reassembled::Message(message) => Some(message),
            Reassembled::Part { .. } => None,
            Reassembled::Malformed(error) => {
                tracing::debug!(%error, "discarding a malformed fragment");
                None
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use undertone_gossip::MessageId;

    use super::*;

    fn message(len: usize) -> WakuMessage {
        WakuMessage::new(vec![7; len], "/a/1/b/proto")
    }

    /// Outcome with an id of its own for each number of peers.
    fn published(peers: usize) -> Result<relay::Published, PublishError> {
        let id = MessageId::of(&[peers as u8]);
        Ok(relay::Published { id, peers })
    }

    #[test]
    fn only_large_messages_are_cut_and_only_when_asked_for() {
        assert!(Parts::new(None).cut(&message(1_000_000)).is_none());
        let parts = Parts::new(Some(1_000));
        assert!(parts.cut(&message(1_000)).is_none());
        assert_eq!(parts.cut(&message(1_001)).unwrap().len(), 2);
        assert_eq!(parts.cut(&message(64_000)).unwrap().len(), 64);
        assert!(
            parts.cut(&message(64_001)).is_none(),
            "more parts than there may be"
        );
    }

    /// Request id, and the number of peers or the error text.
    fn told(
        settled: Option<(u64, Result<relay::Published, PublishError>)>,
    ) -> Option<(u64, Result<usize, String>)> {
        let (token, outcome) = settled?;
        let peers = outcome.map(|published| published.peers);
        Some((token, peers.map_err(|error| error.to_string())))
    }

    #[test]
    fn a_message_is_answered_for_when_its_last_part_is_settled() {
        let mut parts = Parts::new(Some(1_000));
        parts.begin(5, 3);
        assert_eq!(told(parts.settled(6, published(4))), None);
        assert_eq!(
            told(parts.settled(99, published(1))),
            Some((99, Ok(1))),
            "no part"
        );
        assert_eq!(told(parts.settled(5, published(2))), None);
        let (token, answer) = parts.settled(7, published(3)).unwrap();
        assert_eq!((token, answer.as_ref().unwrap().peers), (5, 2));
        assert_eq!(answer.unwrap().id, published(3).unwrap().id, "the last");
        assert!(parts.wholes.is_empty() && parts.first.is_empty());
    }

    #[test]
    fn one_part_that_fails_fails_the_message() {
        let mut parts = Parts::new(Some(1_000));
        parts.begin(0, 2);
        let failure = || PublishError::Busy { waiting: 64 };
        assert_eq!(told(parts.settled(0, Err(failure()))), None);
        let answer = Some((0, Err(failure().to_string())));
        assert_eq!(told(parts.settled(1, published(3))), answer);
    }

    #[test]
    fn parts_are_delivered_as_the_whole() {
        let whole = message(2_500);
        let mut parts = Parts::new(Some(1_000));
        let cut = parts.cut(&whole).unwrap();
        let delivered: Vec<_> = cut
            .into_iter()
            .map(|part| parts.whole(Time::ZERO, part))
            .collect();
        assert_eq!(delivered, [None, None, Some(whole)]);
    }
}
