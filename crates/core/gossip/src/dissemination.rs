//! Sending of a message to its receivers: at once, delayed, or as an id only.

use bytes::Bytes;

use crate::io::{Class, Output};
use crate::policy::SendOrder;
use crate::rng::Rng;
use crate::router::Router;
use crate::send_schedule::{DelayedCopies, DueCopy};
use crate::strategy::{Strategy, View};
use crate::topics::TopicIx;
use crate::types::{MessageId, PeerIx};
use crate::wire;

impl Router {
    /// Asks the strategy about a message of a topic.
    pub(crate) fn ask_strategy<T>(
        &mut self,
        ix: TopicIx,
        ask: impl FnOnce(&mut dyn Strategy, &View<'_>, &mut Rng) -> T,
    ) -> T {
        let view = View {
            parameters: self.config.parameters(),
            topic: self.topics.get(ix),
            peers: &self.peers,
            scores: &self.scores,
            now: self.now,
            started: self.started,
        };
        ask(self.strategy.as_mut(), &view, &mut self.rng)
    }

    /// Sends a message of `len` bytes to receivers that, as far as we know, lack it. Returns the number of
    /// peers that get a copy or its id.
    pub(crate) fn spread(
        &mut self,
        ix: TopicIx,
        id: MessageId,
        class: Class,
        (len, frame): (usize, &Bytes),
        mut receivers: Vec<PeerIx>,
    ) -> usize {
        receivers.retain(|peer| !self.is_unwanted(*peer, &id));
        if self.config.policy.send_order == SendOrder::Random {
            self.rng.shuffle(&mut receivers);
        }
        let plan = self.ask_strategy(ix, |strategy, view, rng| {
            strategy.spread(view, len, receivers, rng)
        });
        let copies = plan.now.len() + plan.later.len();
        let count = copies + plan.ihave_only.len();
        self.count_sent(ix, len, copies);
        for peer in plan.now {
            self.send_message(peer, class, id, frame.clone());
        }
        for peer in plan.ihave_only {
            self.tell(ix, peer, id);
        }
        if plan.later.is_empty() {
            return count;
        }
        let copies = DelayedCopies {
            id,
            class,
            frame: frame.clone(),
            waiting: plan.later.into(),
            due: plan.later_at,
            group: plan.group,
        };
        if let Err(copies) = self.send_schedule.push(copies) {
            for peer in copies.waiting {
                self.send_message(peer, class, id, frame.clone());
            }
        }
        count
    }

    /// Announces one id by IHAVE immediately.
    fn tell(&mut self, ix: TopicIx, peer: PeerIx, id: MessageId) {
        let name = self.topics.get(ix).name.clone();
        self.stats.sent.ihave += 1;
        let ids = [id];
        let bytes = wire::ids_bytes(&ids);
        self.control_with_room(peer, bytes).ihave(&name, &ids);
    }

    /// Sends the delayed copies that are due.
    pub(crate) fn send_due(&mut self) {
        let mut due = self.send_schedule.take_due(self.now, self.config.large.gap);
        if self.strategy.keeps_mesh() {
            for copy in due {
                self.send_message(copy.peer, copy.class, copy.id, copy.frame);
            }
            return;
        }
        // An interval of flooding has ended: the copies for one peer are sent together.
        due.sort_by_key(|copy| copy.peer);
        for of_peer in due.chunk_by(|a, b| a.peer == b.peer) {
            let DueCopy { peer, class, .. } = of_peer[0];
            let frames = of_peer.iter().map(|copy| &copy.frame);
            for frame in wire::join(frames, self.config.limits.frame_bytes_max) {
                // A message in a joined frame can no longer be cancelled by itself.
                let handle = self.handle_for_send();
                self.output(Output::Send {
                    peer,
                    handle,
                    class,
                    frame,
                });
            }
            self.stats.messages_sent += of_peer.len() as u64;
        }
    }
}
