//! Fragmentation of large messages into messages with their own proofs.

use bytes::Bytes;
use undertone_gossip::Time;
use undertone_gossip::fragments::{Assembler, AssemblerLimits, Fragment, FragmentError, split};
use undertone_message::WakuMessage;

/// Value of `meta` in a fragment. A node that does not know it sees a message with an opaque payload.
pub const FRAGMENT_META: &[u8] = b"undertone/fragment/1";

/// Splits a message into at most `count` fragments.
///
/// Returns `None` for a message with its own `meta`: it has no room for the mark of a fragment.
///
/// # Errors
/// Returns [`FragmentError::Count`] for a count that the payload cannot be split into.
pub fn split_message(
    message: &WakuMessage,
    count: usize,
) -> Result<Option<Vec<WakuMessage>>, FragmentError> {
    if !message.meta_bytes().is_empty() {
        return Ok(None);
    }
    let parts = split(&message.payload, count)?;
    let fragments = parts.into_iter().map(|payload| WakuMessage {
        payload,
        meta: Some(Bytes::from_static(FRAGMENT_META)),
        rate_limit_proof: None,
        ..message.clone()
    });
    Ok(Some(fragments.collect()))
}

/// Result of passing a delivered message to a [`Reassembly`].
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Reassembled {
    /// A complete message, as received or reassembled; a reassembled one has no proof.
    Message(WakuMessage),
    /// A fragment of a message that is still incomplete, or a further copy of a fragment.
    Part {
        /// Index of the fragment, from 0.
        index: usize,
    },
    /// A message that is marked as a fragment but is not a valid one.
    Malformed(FragmentError),
}

/// Reassembles fragments behind the relay, in whatever order they are delivered.
#[derive(Debug)]
pub struct Reassembly(Assembler);

impl Reassembly {
    /// Creates a reassembly without fragments.
    pub fn new(limits: AssemblerLimits) -> Self {
        Self(Assembler::new(limits))
    }

    /// Accepts a delivered message from the peer `source`, and returns a message if one is complete. When space runs
    /// out, incomplete messages are dropped by source, as described at [`Assembler::take`].
    pub fn take(&mut self, now: Time, source: &[u8], message: WakuMessage) -> Reassembled {
        if message.meta_bytes() != FRAGMENT_META {
            return Reassembled::Message(message);
        }
        let fragment = match Fragment::read(&message.payload) {
            Ok(fragment) => fragment,
            Err(error) => return Reassembled::Malformed(error),
        };
        let index = fragment.index;
        match self
            .0
            .take(now, source, message.content_topic.as_bytes(), fragment)
        {
            None => Reassembled::Part { index },
            Some(payload) => Reassembled::Message(WakuMessage {
                payload,
                meta: None,
                rate_limit_proof: None,
                ..message
            }),
        }
    }

    /// Returns the number of bytes of fragments that wait for others.
    pub fn bytes(&self) -> usize {
        self.0.bytes()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn message(len: usize) -> WakuMessage {
        let payload: Vec<u8> = (0..len).map(|i| i as u8).collect();
        let mut message = WakuMessage::new(payload, "/a/1/b/proto");
        message.timestamp = Some(5);
        message
    }

    #[test]
    fn a_message_comes_out_of_its_fragments_as_it_went_in() {
        let whole = message(1_000);
        let fragments = split_message(&whole, 4).unwrap().unwrap();
        assert!(
            fragments
                .iter()
                .all(|f| f.meta_bytes() == FRAGMENT_META && f.timestamp == Some(5))
        );
        let mut reassembly = Reassembly::new(AssemblerLimits::default());
        for index in [2, 0, 3] {
            let taken = reassembly.take(Time::ZERO, b"", fragments[index].clone());
            assert_eq!(taken, Reassembled::Part { index });
        }
        let last = reassembly.take(Time::ZERO, b"", fragments[1].clone());
        assert_eq!(last, Reassembled::Message(whole));
        assert_eq!(reassembly.bytes(), 0);
    }

    #[test]
    fn other_messages_pass_and_broken_fragments_do_not() {
        let mut reassembly = Reassembly::new(AssemblerLimits::default());
        let mut plain = message(10);
        plain.meta = Some(Bytes::from_static(b"mine"));
        let taken = reassembly.take(Time::ZERO, b"", plain.clone());
        assert_eq!(taken, Reassembled::Message(plain.clone()));
        assert_eq!(split_message(&plain, 2), Ok(None), "no room for the mark");
        plain.meta = Some(Bytes::from_static(FRAGMENT_META));
        let taken = reassembly.take(Time::ZERO, b"", plain);
        assert_eq!(taken, Reassembled::Malformed(FragmentError::Magic));
        assert_eq!(
            split_message(&message(10), 1),
            Err(FragmentError::Count { count: 1 })
        );
    }

    #[test]
    fn fragments_of_two_content_topics_are_not_joined() {
        let fragments = split_message(&message(100), 2).unwrap().unwrap();
        let mut reassembly = Reassembly::new(AssemblerLimits::default());
        reassembly.take(Time::ZERO, b"", fragments[0].clone());
        let mut other = fragments[1].clone();
        other.content_topic = "/a/1/c/proto".into();
        let taken = reassembly.take(Time::ZERO, b"", other);
        assert_eq!(taken, Reassembled::Part { index: 1 });
    }
}
