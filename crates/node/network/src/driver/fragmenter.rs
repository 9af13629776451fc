//! Large messages published in fragments.

use std::collections::BTreeMap;

use undertone_gossip::RequestId;
use undertone_gossip::fragments::FRAGMENTS_MAX;
use undertone_message::WakuMessage;
use undertone_relay::{self as relay, PublishError, split_message};

/// Splits a message whose payload is longer than `fragment_bytes`; returns `None` for a message that stays whole.
pub fn fragments_of(
    fragment_bytes: Option<usize>,
    message: &WakuMessage,
) -> Option<Vec<WakuMessage>> {
    let count = message.payload.len().div_ceil(fragment_bytes?.max(1));
    if !(2..=FRAGMENTS_MAX).contains(&count) {
        return None;
    }
    split_message(message, count).ok().flatten()
}

/// An own message whose fragments are being published.
#[derive(Debug)]
struct SplitMessage {
    missing: usize,
    /// Smallest number of peers that a fragment was sent to.
    peers: usize,
    failure: Option<PublishError>,
}

/// Splitting of large messages; inactive unless the node is configured to split.
#[derive(Debug, Default)]
pub(crate) struct Fragmenter {
    fragment_bytes: Option<usize>,
    /// Messages by the request of their first fragment.
    messages: BTreeMap<RequestId, SplitMessage>,
    /// Request of the first fragment, by the request of each fragment.
    first: BTreeMap<RequestId, RequestId>,
}

impl Fragmenter {
    /// Creates a fragmenter that splits payloads longer than `fragment_bytes`; with `None` it splits nothing.
    pub(crate) fn new(fragment_bytes: Option<usize>) -> Self {
        Self {
            fragment_bytes,
            ..Self::default()
        }
    }

    /// Splits a message into fragments if its payload is too long.
    pub(crate) fn split(&self, message: &WakuMessage) -> Option<Vec<WakuMessage>> {
        fragments_of(self.fragment_bytes, message)
    }

    /// Records that `count` fragments are published under request numbers from `first` on.
    pub(crate) fn begin(&mut self, first: RequestId, count: usize) {
        let message = SplitMessage {
            missing: count,
            peers: usize::MAX,
            failure: None,
        };
        self.messages.insert(first, message);
        let requests = (first.0..).take(count).map(RequestId);
        self.first.extend(requests.map(|request| (request, first)));
    }

    /// Returns the outcome of the message that `request` is a fragment of, once all its fragments are settled.
    /// If `request` is not a fragment, returns `outcome` itself.
    pub(crate) fn settled(
        &mut self,
        request: RequestId,
        outcome: Result<relay::Published, PublishError>,
    ) -> Option<(RequestId, Result<relay::Published, PublishError>)> {
        let Some(first) = self.first.remove(&request) else {
            return Some((request, outcome));
        };
        let message = self.messages.get_mut(&first)?;
        message.missing -= 1;
        match &outcome {
            Ok(published) => message.peers = message.peers.min(published.peers),
            Err(error) => {
                message.failure = message.failure.take().or_else(|| Some(error.clone()));
            }
        }
        if message.missing > 0 {
            return None;
        }
        let message = self.messages.remove(&first)?;
        let answer = match message.failure {
            Some(failure) => Err(failure),
            None => outcome.map(|last| relay::Published {
                peers: message.peers,
                ..last
            }),
        };
        Some((first, answer))
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
        assert!(Fragmenter::new(None).split(&message(1_000_000)).is_none());
        let fragmenter = Fragmenter::new(Some(1_000));
        assert!(fragmenter.split(&message(1_000)).is_none());
        assert_eq!(fragmenter.split(&message(1_001)).unwrap().len(), 2);
        assert_eq!(fragmenter.split(&message(64_000)).unwrap().len(), 64);
        assert!(
            fragmenter.split(&message(64_001)).is_none(),
            "more fragments than there may be"
        );
    }

    /// Request number, and the number of peers or the error text.
    fn told(
        settled: Option<(RequestId, Result<relay::Published, PublishError>)>,
    ) -> Option<(u64, Result<usize, String>)> {
        let (request, outcome) = settled?;
        let peers = outcome.map(|published| published.peers);
        Some((request.0, peers.map_err(|error| error.to_string())))
    }

    #[test]
    fn a_message_is_answered_for_when_its_last_part_is_settled() {
        let mut fragmenter = Fragmenter::new(Some(1_000));
        fragmenter.begin(RequestId(5), 3);
        assert_eq!(told(fragmenter.settled(RequestId(6), published(4))), None);
        assert_eq!(
            told(fragmenter.settled(RequestId(99), published(1))),
            Some((99, Ok(1))),
            "not a fragment"
        );
        assert_eq!(told(fragmenter.settled(RequestId(5), published(2))), None);
        let (request, answer) = fragmenter.settled(RequestId(7), published(3)).unwrap();
        assert_eq!((request.0, answer.as_ref().unwrap().peers), (5, 2));
        assert_eq!(answer.unwrap().id, published(3).unwrap().id, "the last");
        assert!(fragmenter.messages.is_empty() && fragmenter.first.is_empty());
    }

    #[test]
    fn one_part_that_fails_fails_the_message() {
        let mut fragmenter = Fragmenter::new(Some(1_000));
        fragmenter.begin(RequestId(0), 2);
        let failure = || PublishError::Busy { waiting: 64 };
        assert_eq!(told(fragmenter.settled(RequestId(0), Err(failure()))), None);
        let answer = Some((0, Err(failure().to_string())));
        assert_eq!(told(fragmenter.settled(RequestId(1), published(3))), answer);
    }
}
