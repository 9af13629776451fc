//! IDONTWANT (v1.2): early notice that a large message has been received.

use crate::router::Router;
use crate::topics::TopicIx;
use crate::types::{MessageId, PeerIx};

impl Router {
    /// Tells the mesh that the message has arrived, before it is validated: the saved copies do not
    /// depend on the verdict.
    pub(crate) fn announce_idontwant(
        &mut self,
        ix: TopicIx,
        id: MessageId,
        from: PeerIx,
        len: usize,
    ) {
        if len <= self.config.idontwant_threshold_bytes {
            return;
        }
        let mesh = self.topics.get(ix).mesh.as_slice().iter().copied();
        let told: Vec<_> = mesh
            .filter(|peer| *peer != from)
            .filter(|peer| self.peers.get(*peer).is_some_and(|s| s.features.idontwant))
            .collect();
        for peer in told {
            self.stats.sent.idontwant += 1;
            self.control(peer).idontwant(&[id]);
        }
    }

    /// Records the ids that the peer does not want, within its budget, and cancels their queued copies:
    /// forwarded ones and answers to IWANT alike.
    pub(crate) fn on_idontwant(&mut self, peer: PeerIx, ids: &[MessageId]) {
        self.stats.received.idontwant += ids.len() as u64;
        let until = self.heartbeats + self.config.idontwant_ttl_heartbeats;
        let max = self.config.limits.idontwant_ids_per_heartbeat_max;
        for id in ids {
            let Some(busy) = self.peers.get_busy(peer) else {
                return;
            };
            if busy.used.idontwant_ids >= max {
                return;
            }
            busy.used.idontwant_ids += 1;
            busy.dont_send.insert(*id, until);
            self.cancel(peer, id);
        }
    }

    pub(crate) fn is_unwanted(&self, peer: PeerIx, id: &MessageId) -> bool {
        self.peers
            .get(peer)
            .and_then(|state| state.activity())
            .is_some_and(|busy| busy.dont_send.contains_key(id))
    }
}
