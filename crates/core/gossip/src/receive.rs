//! Handling of frames from peers, and of messages from the first copy to the verdict.

use bytes::Bytes;

use crate::error::{ApiMisuse, Capacity, PeerMisbehaved};
use crate::io::{Class, Output, Report, Verdict};
use crate::pending::PendingMessage;
use crate::router::Router;
use crate::seen::{Copy, SeenStatus};
use crate::stem::Arrival;
use crate::topics::TopicIx;
use crate::types::{MessageId, PeerIx};
use crate::wire::{self, Frame, WireMessage};

impl Router {
    pub(crate) fn frame(&mut self, peer: PeerIx, frame: &Frame) -> Result<(), ApiMisuse> {
        if self.peers.get(peer).is_none() {
            return Err(ApiMisuse::UnknownPeer(peer));
        }
        let body = wire::unframe(frame.bytes()).ok_or(ApiMisuse::NotOneFrame(peer))?;
        self.stats.frames_received += 1;
        if self.is_graylisted(peer) {
            return Ok(());
        }
        let rpc = match wire::decode(&body, &self.config.limits) {
            Ok(rpc) => rpc,
            Err(error) => {
                self.misbehaved(peer, None, PeerMisbehaved::Malformed(error));
                return Ok(());
            }
        };
        if rpc.is_empty() {
            self.empty_frame(peer);
            return Ok(());
        }
        for change in &rpc.subscriptions {
            self.subscription(peer, change);
        }
        // Before messages, so that an IDONTWANT takes effect if it arrives in one frame with the message it
        // names.
        self.on_idontwant(peer, &rpc.idontwant);
        let features = self.peers.get(peer).map(|state| state.features);
        let by_stem = rpc.stem && features.is_some_and(|features| features.stem);
        for message in rpc.messages {
            self.message(peer, message, frame, by_stem);
        }
        if self.strategy.keeps_mesh() {
            self.on_grafts(peer, &rpc.graft);
            for prune in &rpc.prune {
                self.on_prune(peer, prune);
            }
            for ihave in &rpc.ihave {
                self.on_ihave(peer, ihave);
            }
            self.on_iwant(peer, &rpc.iwant);
        }
        Ok(())
    }

    /// Counts an empty frame. Some implementations send one as a greeting; many of them are an attempt to
    /// waste time.
    fn empty_frame(&mut self, peer: PeerIx) {
        let max = self.config.limits.empty_frames_per_heartbeat_max.max(1);
        let Some(busy) = self.peers.get_busy(peer) else {
            return;
        };
        busy.used.empty_frames += 1;
        let count = busy.used.empty_frames;
        if count > max && (count - 1).is_multiple_of(max) {
            self.misbehaved(peer, None, PeerMisbehaved::EmptyFrames { count });
        }
    }

    fn message(&mut self, peer: PeerIx, message: WireMessage, frame: &Frame, by_stem: bool) {
        let Some(ix) = self
            .topics
            .find(&message.topic)
            .filter(|ix| self.topics.get(*ix).joined)
        else {
            return;
        };
        let has_bandwidth = self.has_bandwidth(ix);
        self.count_received(ix, message.data.len());
        let known = frame.id_of(&message.data);
        let id = known.unwrap_or_else(|| self.ids.id_of(&message.data));
        if message.signed {
            return self.misbehaved(peer, Some(ix), PeerMisbehaved::SignedMessage { id });
        }
        if self.seen.contains(&id) || self.stem.hides(&id) {
            return self.further_copy(peer, ix, id, message.data.len(), by_stem);
        }
        if !self.placement.belongs(&message.topic, &message.data) {
            // Not marked as seen, and a request for the message on another topic stays open.
            return self.report(Report::Misplaced { peer, id });
        }
        self.on_message_received(&id, Some(peer));
        if !has_bandwidth {
            // Not marked as seen: it may come again when there is room.
            self.topics.get_mut(ix).meter.totals.dropped += 1;
            let capacity = Capacity::Bandwidth;
            return self.report(Report::Capacity { peer, capacity });
        }
        if let Err(capacity) = self.pending.room_for(message.data.len()) {
            // Not marked as seen: the message can still be asked for when there is room.
            return self.report(Report::Capacity { peer, capacity });
        }
        self.stats.messages_received += 1;
        let expires = self.now.after(self.config.seen_ttl);
        self.seen.begin(
            id,
            SeenStatus::Unknown {
                senders: vec![peer],
            },
            expires,
        );
        if by_stem && self.stem.has_room(message.data.len(), &self.config.limits) {
            self.stem.arrive(id, peer);
        } else {
            self.announce_idontwant(ix, id, peer, message.data.len());
        }
        let topic = self.topics.get(ix).name.clone();
        let frame = frame.bytes();
        let alone = wire::message_frame_len(&topic, &message.data) == frame.len();
        let (data, frame) = if alone {
            (message.data, Some(frame.clone()))
        } else {
            (detach_small(message.data, frame.len()), None)
        };
        self.pending.put(
            id,
            PendingMessage {
                topic: ix,
                from: peer,
                data: data.clone(),
                frame,
            },
        );
        self.output(Output::Validate {
            id,
            from: peer,
            topic,
            data,
        });
    }

    fn further_copy(
        &mut self,
        peer: PeerIx,
        topic: TopicIx,
        id: MessageId,
        len: usize,
        by_stem: bool,
    ) {
        self.stats.duplicates_received += 1;
        if by_stem {
            self.stem.note_sender(&id, peer);
        } else {
            // The peer has the message, so it needs no copy.
            self.cancel(peer, &id);
            if self.stem.hides(&id) && self.copy_ends_stem(peer, topic, id, len) {
                return;
            }
        }
        let window = self.scores.delivery_window(topic);
        match self.seen.copy(&id, peer, self.now, window) {
            Copy::Credit if by_stem => {}
            Copy::Credit => self.scores.mesh_delivery(peer, topic),
            Copy::Penalty => {
                self.misbehaved(peer, Some(topic), PeerMisbehaved::InvalidMessage { id });
            }
            Copy::Unjudged => self.output(Output::Copied { id, from: peer }),
            Copy::Nothing => {}
        }
    }

    /// Handles the validator's verdict. It is ignored if the message does not wait for one, for instance
    /// after an earlier verdict. If the topic was left in the meantime, the verdict only affects scores.
    pub(crate) fn validated(&mut self, id: MessageId, verdict: Verdict) {
        let Some(waiting) = self.pending.take(&id) else {
            return;
        };
        let PendingMessage {
            topic,
            from,
            data,
            frame,
        } = waiting;
        let arrival = self.stem.judged(&id);
        let in_stem = arrival.as_ref().is_some_and(|arrival| !arrival.is_public);
        if verdict == Verdict::Forget {
            self.seen.remove(&id);
            return;
        }
        if in_stem {
            // Peers that announced the message while it was hidden need not be asked any more.
            self.on_message_received(&id, None);
        }
        let status = match verdict {
            Verdict::Accept => SeenStatus::Valid {
                at: self.now,
                credited: Vec::new(),
            },
            Verdict::Ignore | Verdict::Forget | Verdict::RejectFirstSender => SeenStatus::Ignored,
            Verdict::Reject => SeenStatus::Invalid,
        };
        let senders = self.seen.settle(&id, status);
        match verdict {
            Verdict::Accept => {
                self.count_accepted(topic, data.len());
                self.credit(topic, from, &senders, arrival.as_ref());
                if !self.topics.get(topic).joined {
                    return;
                }
                if !(in_stem && self.pass_on(topic, id, &data, Some(from))) {
                    self.forward(topic, id, &data, frame, &senders);
                }
                let topic = self.topics.get(topic).name.clone();
                self.output(Output::Deliver {
                    id,
                    from,
                    topic,
                    data,
                });
            }
            Verdict::Reject => {
                for peer in senders {
                    let what = PeerMisbehaved::InvalidMessage { id };
                    self.misbehaved(peer, Some(topic), what);
                }
            }
            Verdict::RejectFirstSender => {
                self.misbehaved(from, Some(topic), PeerMisbehaved::InvalidMessage { id });
            }
            Verdict::Ignore | Verdict::Forget => {}
        }
    }

    /// Credits the peers that sent an accepted message. A copy that came by the stem earns nothing.
    fn credit(
        &mut self,
        topic: TopicIx,
        first: PeerIx,
        senders: &[PeerIx],
        arrival: Option<&Arrival>,
    ) {
        let others = senders.iter().copied().filter(|peer| *peer != first);
        let by_stem = arrival.map_or(&[][..], |arrival| &arrival.senders);
        let mut earning = std::iter::once(first)
            .chain(others)
            .filter(|peer| !by_stem.contains(peer));
        if let Some(first) = earning.next() {
            self.scores.first_delivery(first, topic);
        }
        for peer in earning {
            self.scores.mesh_delivery(peer, topic);
        }
    }

    /// Forwards a message to all receivers but these senders; returns the number of peers that get a copy or its id.
    pub(crate) fn forward(
        &mut self,
        ix: TopicIx,
        id: MessageId,
        data: &Bytes,
        frame: Option<Bytes>,
        senders: &[PeerIx],
    ) -> usize {
        let topic = self.topics.get(ix);
        // The received frame is forwarded unchanged if the message came alone, and re-encoded otherwise.
        let frame = frame.unwrap_or_else(|| wire::message_frame(&topic.name, data));
        let mut receivers = self.ask_strategy(ix, |strategy, view, _| strategy.forward(view));
        receivers.retain(|peer| !senders.contains(peer));
        self.cache.put(id, ix, frame.clone());
        self.spread(ix, id, Class::Forward, (data.len(), &frame), receivers)
    }
}

/// Copies a small message out of a large frame, so that it does not keep the frame in memory while it waits.
fn detach_small(data: Bytes, frame_len: usize) -> Bytes {
    if data.len() < frame_len / 2 {
        Bytes::copy_from_slice(&data)
    } else {
        data
    }
}
