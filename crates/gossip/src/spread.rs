//! Sending of a message to its receivers: at once, delayed, or only its id.

use bytes::Bytes;

use crate::io::Class;
use crate::paced::Train;
use crate::router::Router;
use crate::strategy::View;
use crate::topics::TopicIx;
use crate::types::{MessageId, PeerIx};
use crate::wire;

impl Router {
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
        let view = View {
            parameters: self.config.parameters(),
            topic: self.topics.get(ix),
            peers: &self.peers,
            scores: &self.scores,
            now: self.now,
            started: self.started,
        };
        let sending = self.strategy.spread(&view, len, receivers, &mut self.rng);
        let count = sending.now.len() + sending.later.len() + sending.told.len();
        for peer in sending.now {
            self.send_message(peer, class, id, frame.clone());
        }
        for peer in sending.told {
            self.tell(ix, peer, id);
        }
        if sending.later.is_empty() {
            return count;
        }
        let train = Train {
            id,
            class,
            frame: frame.clone(),
            waiting: sending.later.into(),
            due: sending.later_at,
            group: sending.group,
        };
        if let Err(train) = self.paced.push(train) {
            for peer in train.waiting {
                self.send_message(peer, class, id, frame.clone());
            }
        }
        count
    }

    /// Announces one id by IHAVE at once.
    fn tell(&mut self, ix: TopicIx, peer: PeerIx, id: MessageId) {
        let name = self.topics.get(ix).name.clone();
        self.stats.sent.ihave += 1;
        let ids = [id];
        let bytes = wire::ids_bytes(&ids);
        self.control_with_room(peer, bytes).ihave(&name, &ids);
    }
}
