//! The stem of Dandelion++: messages that this node has, and hides from all peers but the next of the stem.
//!
//! A hidden message is not in the message cache, so it is neither announced nor given on request. It stays hidden until
//! an ordinary copy arrives or its embargo ends. A further copy in the stem changes nothing: a cycle ends with the
//! first embargo of its nodes, and nobody learns who has a message by sending it once more.

use std::collections::{BTreeMap, BTreeSet};

use bytes::Bytes;

use crate::io::Class;
use crate::limits::Limits;
use crate::router::Router;
use crate::time::Time;
use crate::topics::TopicIx;
use crate::types::{MessageId, PeerIx};
use crate::wire;

/// Message that came by the stem and waits for the verdict.
#[derive(Debug)]
pub(crate) struct Arrival {
    /// Peers that passed it on.
    pub(crate) senders: Vec<PeerIx>,
    /// Whether an ordinary copy has arrived, too.
    pub(crate) is_public: bool,
}

/// Message that this node has passed on to one peer.
#[derive(Debug)]
pub(crate) struct Stemmed {
    topic: TopicIx,
    /// Peer that passed it on to this node; `None` for a message of this node.
    from: Option<PeerIx>,
    data: Bytes,
    /// Time at which this node spreads the message itself.
    embargo: Time,
}

/// Messages in the stem, bounded in number and bytes.
#[derive(Debug, Default)]
pub(crate) struct Stem {
    arrived: BTreeMap<MessageId, Arrival>,
    passed_on: BTreeMap<MessageId, Stemmed>,
    /// Ends of the embargoes of `passed_on`.
    embargoes: BTreeSet<(Time, MessageId)>,
    /// Bytes of `passed_on`; those of `arrived` count as waiting for the validator.
    bytes: usize,
}

impl Stem {
    /// Whether this node has the message and must not show it.
    pub(crate) fn hides(&self, id: &MessageId) -> bool {
        let arrival = self.arrived.get(id);
        arrival.is_some_and(|arrival| !arrival.is_public) || self.passed_on.contains_key(id)
    }

    /// Whether one more message of `len` bytes fits.
    pub(crate) fn has_room(&self, len: usize, limits: &Limits) -> bool {
        self.len() < limits.stem_messages_max && self.bytes + len <= limits.stem_bytes_max
    }

    /// Records a message that waits for the verdict.
    pub(crate) fn arrive(&mut self, id: MessageId, peer: PeerIx) {
        let arrival = Arrival {
            senders: vec![peer],
            is_public: false,
        };
        self.arrived.insert(id, arrival);
    }

    /// Records one more peer that passed on a message that waits for the verdict.
    pub(crate) fn note_sender(&mut self, id: &MessageId, peer: PeerIx) {
        if let Some(arrival) = self.arrived.get_mut(id)
            && !arrival.senders.contains(&peer)
        {
            arrival.senders.push(peer);
        }
    }

    /// Removes a message that has got its verdict.
    pub(crate) fn judged(&mut self, id: &MessageId) -> Option<Arrival> {
        self.arrived.remove(id)
    }

    fn pass_on(&mut self, id: MessageId, stemmed: Stemmed) {
        self.bytes += stemmed.data.len();
        self.embargoes.insert((stemmed.embargo, id));
        let old = self.passed_on.insert(id, stemmed);
        debug_assert!(
            old.is_none(),
            "only a message that is not hidden is passed on"
        );
    }

    /// Stops hiding a message; returns it if it was passed on and has yet to be spread.
    pub(crate) fn make_public(&mut self, id: &MessageId) -> Option<Stemmed> {
        if let Some(arrival) = self.arrived.get_mut(id) {
            arrival.is_public = true;
        }
        let stemmed = self.passed_on.remove(id)?;
        self.bytes -= stemmed.data.len();
        self.embargoes.remove(&(stemmed.embargo, *id));
        Some(stemmed)
    }

    /// Removes and returns a message whose embargo has ended.
    fn take_due(&mut self, now: Time) -> Option<(MessageId, Stemmed)> {
        let (_, id) = *self.embargoes.first().filter(|(end, _)| *end <= now)?;
        Some((id, self.make_public(&id)?))
    }

    /// Time at which the next embargo ends; [`Time::MAX`] without one.
    pub(crate) fn next(&self) -> Time {
        self.embargoes.first().map_or(Time::MAX, |(end, _)| *end)
    }

    /// Number of messages in the stem.
    pub(crate) fn len(&self) -> usize {
        self.arrived.len() + self.passed_on.len()
    }

    pub(crate) fn bytes(&self) -> usize {
        self.bytes
    }
}

impl Router {
    /// Passes a message on to the one peer that the strategy names, if any; returns whether it is in the stem now.
    pub(crate) fn pass_on(
        &mut self,
        topic: TopicIx,
        id: MessageId,
        data: &Bytes,
        from: Option<PeerIx>,
    ) -> bool {
        if !self.stem.has_room(data.len(), &self.config.limits) {
            return false;
        }
        let next = self.ask_strategy(topic, |strategy, view, rng| strategy.stem(view, from, rng));
        // A peer that does not want the message has got it by ordinary copies: it is public.
        let Some(next) = next.filter(|peer| !self.is_unwanted(*peer, &id)) else {
            return false;
        };
        let frame = wire::stem_frame(&self.topics.get(topic).name, data);
        if frame.len() > self.config.limits.frame_bytes_max {
            return false;
        }
        let mean = self.config.dandelion.embargo_mean;
        let stemmed = Stemmed {
            topic,
            from,
            data: data.clone(),
            embargo: self.now.after(self.rng.exponential(mean)),
        };
        self.stem.pass_on(id, stemmed);
        self.count_sent(topic, data.len(), 1);
        // Own messages too: their place in the queue must not tell them from others.
        self.send_message(next, Class::Forward, id, frame);
        true
    }

    /// Handles the first ordinary copy, of `len` bytes, of a message in the stem. Returns whether that was all: the
    /// message is forwarded now, unless it waits for the verdict.
    pub(crate) fn copy_ends_stem(
        &mut self,
        peer: PeerIx,
        topic: TopicIx,
        id: MessageId,
        len: usize,
    ) -> bool {
        self.on_message_received(&id, Some(peer));
        self.announce_idontwant(topic, id, peer, len);
        let Some(stemmed) = self.stem.make_public(&id) else {
            return false;
        };
        self.scores.first_delivery(peer, topic);
        self.note_valid(id, vec![peer]);
        if self.topics.get(stemmed.topic).joined {
            self.forward(stemmed.topic, id, &stemmed.data, None, &[peer]);
        }
        true
    }

    /// Spreads the messages whose embargo has ended.
    pub(crate) fn end_embargoes(&mut self) {
        while let Some((id, stemmed)) = self.stem.take_due(self.now) {
            self.end_stem(id, stemmed);
        }
    }

    /// Spreads a message that was in the stem as a forwarded one, whoever published it; returns the number of peers
    /// that get a copy or its id.
    pub(crate) fn end_stem(&mut self, id: MessageId, stemmed: Stemmed) -> usize {
        let Stemmed {
            topic, from, data, ..
        } = stemmed;
        self.on_message_received(&id, None);
        self.note_valid(id, Vec::new());
        if self.topics.get(topic).joined {
            return self.forward(topic, id, &data, None, from.as_slice());
        }
        // A topic without a mesh: only own messages go to the fanout, others are for members to forward.
        if from.is_some() {
            return 0;
        }
        let frame = wire::message_frame(&self.topics.get(topic).name, &data);
        self.spread_own(topic, id, data.len(), frame)
    }
}
