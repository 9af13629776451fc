//! Handling of frames from peers, and of messages from the first copy to the verdict.

use bytes::Bytes;

use crate::error::{ApiMisuse, Capacity, PeerMisbehaved};
use crate::io::{Class, Output, Report, Verdict};
use crate::pending::PendingMessage;
use crate::router::Router;
use crate::seen::{Copy, SeenStatus};
use crate::strategy::View;
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
        for message in rpc.messages {
            self.message(peer, message, frame);
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

    fn message(&mut self, peer: PeerIx, message: WireMessage, frame: &Frame) {
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
        if self.seen.contains(&id) {
            return self.further_copy(peer, ix, id);
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
        self.announce_idontwant(ix, id, peer, message.data.len());
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

    fn further_copy(&mut self, peer: PeerIx, topic: TopicIx, id: MessageId) {
        self.stats.duplicates_received += 1;
        // The peer has the message, so it needs no copy.
        self.cancel(peer, &id);
        let window = self.scores.delivery_window(topic);
        match self.seen.copy(&id, peer, self.now, window) {
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
        if verdict == Verdict::Forget {
            self.seen.remove(&id);
            return;
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
                self.scores.first_delivery(from, topic);
                for peer in senders.iter().filter(|peer| **peer != from) {
                    self.scores.mesh_delivery(*peer, topic);
                }
                if !self.topics.get(topic).joined {
                    return;
                }
                self.forward(topic, id, &data, frame, &senders);
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

    fn forward(
        &mut self,
        ix: TopicIx,
        id: MessageId,
        data: &Bytes,
        frame: Option<Bytes>,
        senders: &[PeerIx],
    ) {
        let topic = self.topics.get(ix);
        // The received frame is forwarded unchanged if the message came alone, and re-encoded otherwise.
        let frame = frame.unwrap_or_else(|| wire::message_frame(&topic.name, data));
        let view = View {
            parameters: self.config.parameters(),
            topic,
            peers: &self.peers,
            scores: &self.scores,
            now: self.now,
            started: self.started,
        };
        let mut receivers = self.strategy.forward(&view);
        receivers.retain(|peer| !senders.contains(peer));
        self.cache.put(id, ix, frame.clone());
        self.spread(ix, id, Class::Forward, (data.len(), &frame), receivers);
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
