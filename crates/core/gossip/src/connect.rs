//! Connecting and disconnecting peers, and their subscriptions.

use crate::error::{ApiMisuse, Capacity};
use crate::io::{NewPeer, Output, Report};
use crate::peers::PeerState;
use crate::router::Router;
use crate::time::Time;
use crate::topics::TopicIx;
use crate::types::{PeerIx, Topic};
use crate::wire::Subscription;

impl Router {
    pub(crate) fn connected(&mut self, new: NewPeer) -> Result<(), ApiMisuse> {
        let peer = new.peer;
        if self.peers.get(peer).is_some() {
            return Err(ApiMisuse::AlreadyConnected(peer));
        }
        self.departed.remove(&peer);
        self.scores.connected(peer, new.ip);
        self.peers.insert(peer, PeerState::new(new, self.now));
        // The score of an earlier connection is still remembered: a graylisted peer is disconnected at once.
        self.disconnect_if_graylisted(peer);
        let joined = self.topics.joined();
        for ix in joined {
            let name = self.topics.get(ix).name.clone();
            self.control(peer).subscription(true, &name);
        }
        Ok(())
    }

    pub(crate) fn disconnected(&mut self, peer: PeerIx) -> Result<(), ApiMisuse> {
        let state = self
            .peers
            .remove(peer)
            .ok_or(ApiMisuse::UnknownPeer(peer))?;
        for ix in state.topics.as_slice().iter().copied() {
            let topic = self.topics.get_mut(ix);
            topic.subscribers.remove(peer);
            topic.fanout.remove(peer);
            if topic.mesh.remove(peer) {
                let topic = topic.name.clone();
                self.report(Report::Pruned { peer, topic });
            }
            self.release_topic(ix);
        }
        self.send_schedule.forget(peer);
        self.fetcher.forget(peer);
        self.transfer_ended(peer);
        self.scores.disconnected(peer, self.now);
        // Verdicts on the peer's messages may still be charged to the index.
        let charged = self.config.seen_ttl;
        self.departed.insert(peer, self.now.after(charged));
        while self.departed.len() > self.config.limits.retained_peers_max {
            self.forget_longest_departed();
        }
        Ok(())
    }

    fn forget_longest_departed(&mut self) {
        let oldest = self.departed.iter().min_by_key(|(peer, at)| (**at, **peer));
        if let Some(peer) = oldest.map(|(peer, _)| *peer) {
            self.scores.forget(peer);
            self.backoffs.forget(peer);
            self.departed.remove(&peer);
            self.output(Output::Forgotten(peer));
        }
    }

    /// Reports the indices of disconnected peers of which no state is left.
    pub(crate) fn forget_departed(&mut self) {
        let held = self.backoffs.peers();
        let (now, scores) = (self.now, &self.scores);
        let free = |peer: &PeerIx, charged_until: &Time| {
            now >= *charged_until && !scores.remembers(*peer) && !held.contains(peer)
        };
        let departed = self.departed.iter();
        let free: Vec<_> = departed
            .filter(|(peer, until)| free(peer, until))
            .map(|(peer, _)| *peer)
            .collect();
        for peer in free {
            self.departed.remove(&peer);
            self.output(Output::Forgotten(peer));
        }
    }

    /// Returns the index of a topic, creating the topic if needed; `None` when there is no room.
    pub(crate) fn intern(&mut self, name: &Topic) -> Option<TopicIx> {
        self.intern_as(name, Topic::clone)
    }

    fn intern_as(&mut self, name: &Topic, keep: fn(&Topic) -> Topic) -> Option<TopicIx> {
        let (ix, new) = self.topics.intern(name, &self.config.limits, keep)?;
        if new {
            self.scores.name_topic(ix, name);
        }
        Some(ix)
    }

    fn release_topic(&mut self, ix: TopicIx) {
        if self.topics.release(ix) {
            self.scores.forget_topic(ix);
        }
    }

    pub(crate) fn subscription(&mut self, peer: PeerIx, change: &Subscription) {
        if change.subscribe {
            self.peer_joins(peer, &change.topic);
        } else {
            self.peer_leaves(peer, &change.topic);
        }
    }

    /// Records that the peer is subscribed to the topic, within the limits.
    pub(crate) fn peer_joins(&mut self, peer: PeerIx, name: &Topic) {
        let max = self.config.limits.subscriptions_per_peer_max;
        // A new name is copied, because it is part of the frame that brought it.
        let Some(ix) = self.intern_as(name, Topic::detached) else {
            return self.report(Report::Capacity {
                peer,
                capacity: Capacity::Topics,
            });
        };
        let Some(state) = self.peers.get_mut(peer) else {
            return;
        };
        if state.topics.contains(ix) {
            return;
        }
        if state.topics.len() >= max {
            self.release_topic(ix);
            return self.report(Report::Capacity {
                peer,
                capacity: Capacity::Subscriptions,
            });
        }
        state.topics.insert(ix);
        let topic = self.topics.get_mut(ix);
        topic.subscribers.insert(peer);
        let topic = topic.name.clone();
        self.report(Report::Subscribed {
            peer,
            topic,
            subscribed: true,
        });
        self.graft_newcomer(ix, peer);
    }

    fn peer_leaves(&mut self, peer: PeerIx, name: &Topic) {
        let Some(ix) = self.topics.find(name) else {
            return;
        };
        let Some(state) = self.peers.get_mut(peer) else {
            return;
        };
        if !state.topics.remove(ix) {
            return;
        }
        self.remove_from_mesh(ix, peer);
        let topic = self.topics.get_mut(ix);
        topic.fanout.remove(peer);
        topic.subscribers.remove(peer);
        let topic = topic.name.clone();
        self.report(Report::Subscribed {
            peer,
            topic,
            subscribed: false,
        });
        self.release_topic(ix);
    }
}
