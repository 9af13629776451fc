//! What an adversary sends, and what it makes of what it receives.

use bytes::Bytes;
use undertone_gossip::wire::{self, Encoder, Rpc};
use undertone_gossip::{Limits, MessageId, MessageIds as _, Topic};
use undertone_link::ConnIx;
use undertone_message::WakuMessage;

use crate::adversary::node::{Action, AdversaryNode, HEARTBEAT_NS};
use crate::adversary::signals::signal_in;
use crate::adversary::{AdversaryEvent, Heard};
use crate::node::event::{Event, Step};
use crate::node::input::number_in;
use crate::outcome::HeardMessage;

/// Time for which a message is announced and can be requested, nanoseconds.
const RECENT_NS: u64 = 3 * HEARTBEAT_NS;

/// Backoff in the PRUNE with which a GRAFT is refused, seconds.
const BACKOFF_S: u64 = 60;

impl AdversaryNode {
    /// Begins a connection: subscribes to all topics, and asks to join the peer's meshes.
    pub(super) fn greet(&mut self, step: &mut Step<'_>, conn: ConnIx) {
        let policy = self.policy(step);
        let mut rpc = Encoder::default();
        for topic in &self.topics {
            rpc.subscription(true, topic);
        }
        for topic in 0..self.topics.len() {
            if self.happens(policy.graft) {
                rpc.graft(&self.topics[topic]);
                self.join(conn, topic);
            }
        }
        self.finish(step, conn, rpc);
    }

    pub(super) fn graft(&mut self, step: &mut Step<'_>, conn: ConnIx, topic: usize) {
        let mut rpc = Encoder::default();
        rpc.graft(&self.topics[topic]);
        self.join(conn, topic);
        self.finish(step, conn, rpc);
    }

    fn join(&mut self, conn: ConnIx, topic: usize) {
        if let Some(meshes) = self.meshes.get_mut(&conn) {
            meshes.insert(topic);
        }
    }

    fn finish(&mut self, step: &mut Step<'_>, conn: ConnIx, mut rpc: Encoder) {
        if let Some(frame) = rpc.finish() {
            self.write(step, conn, frame);
        }
    }

    pub(super) fn received(&mut self, step: &mut Step<'_>, conn: ConnIx, frame: &Bytes) {
        let mut limits = Limits::default();
        limits.frame_bytes_max = usize::MAX;
        let rpc = wire::unframe(frame).and_then(|body| wire::decode(&body, &limits).ok());
        let Some(rpc) = rpc.filter(|_| self.meshes.contains_key(&conn)) else {
            return;
        };
        self.control(step, conn, &rpc);
        for message in rpc.messages {
            let Some(topic) = self.topic(&message.topic) else {
                continue;
            };
            let id = step.scratch.ids.id_of(&message.data);
            if self.known.contains_key(&id) {
                continue;
            }
            let heard = Heard {
                id,
                topic: topic as u16,
                frame: wire::message_frame(&message.topic, &message.data),
                is_withheld: false,
            };
            self.first_copy(step, conn, heard, &message.data);
        }
    }

    fn topic(&self, name: &Topic) -> Option<usize> {
        self.topics.iter().position(|topic| topic == name)
    }

    fn control(&mut self, step: &mut Step<'_>, conn: ConnIx, rpc: &Rpc) {
        let policy = self.policy(step);
        let mut answer = Encoder::default();
        for name in &rpc.graft {
            match self.topic(name) {
                Some(topic) if self.happens(policy.accepts_graft) => self.join(conn, topic),
                _ => answer.prune(name, Some(BACKOFF_S), &[]),
            }
        }
        for prune in &rpc.prune {
            let Some(topic) = self.topic(&prune.topic) else {
                continue;
            };
            if let Some(meshes) = self.meshes.get_mut(&conn) {
                meshes.remove(&topic);
            }
            if let Some(after_ns) = policy.regraft_after_ns {
                let at_ns = step.now_ns + after_ns + self.rng.below(after_ns / 4 + 1);
                self.plan(at_ns, Action::Graft(conn, topic));
            }
        }
        let misbehaves = policy.misbehaves(step.now_ns);
        // It wants to hear everything, whatever it does with it.
        let announced = rpc.ihave.iter().flat_map(|ihave| ihave.ids.iter().copied());
        let wanted = announced.filter(|id| !self.known.contains_key(id));
        let wanted: Vec<MessageId> = wanted.collect();
        if !wanted.is_empty() {
            answer.iwant(&wanted);
        }
        self.finish(step, conn, answer);
        for id in &rpc.iwant {
            let answers = !misbehaves || self.happens(policy.answer);
            let known = self.known.get(id).filter(|heard| !heard.is_withheld);
            if let Some(heard) = known.filter(|_| answers) {
                let frame = heard.frame.clone();
                self.write(step, conn, frame);
            }
        }
    }

    fn first_copy(&mut self, step: &mut Step<'_>, conn: ConnIx, mut heard: Heard, data: &Bytes) {
        let policy = self.policy(step);
        let message = WakuMessage::decode(data).ok();
        let payload = message.map_or_else(Bytes::new, |message| message.payload);
        let number = number_in(&payload);
        let published = step.world.messages.get(number as usize);
        if let Some(published) = published {
            self.heard.push(HeardMessage {
                message: published.index,
                observer: self.id,
                from: step.world.ends(self.id)[conn.0 as usize].remote,
                at_ns: step.now_ns,
            });
        }
        let misbehaves = policy.misbehaves(step.now_ns);
        let is_censored = published.is_some_and(|m| policy.censored.contains(&m.publisher));
        // Identities leave each other's messages to the honest nodes, which would blame them for those of one nullifier.
        let is_of_group = signal_in(step.world, &payload).is_some();
        heard.is_withheld = misbehaves && (is_censored || is_of_group);
        if policy.announce > 0.0 {
            self.share(step, &heard);
        }
        self.learn(step.now_ns, heard.clone());
        if !misbehaves {
            return self.forward(step, &heard, conn);
        }
        if heard.is_withheld || !self.happens(policy.forward) {
            return;
        }
        match policy.forward_delay_ns {
            0 => self.forward(step, &heard, conn),
            after_ns => self.plan(
                step.now_ns + after_ns,
                Action::Forward(Box::new(heard), conn),
            ),
        }
    }

    /// Tells the other identities of the group of a message.
    fn share(&mut self, step: &mut Step<'_>, heard: &Heard) {
        let (world, own) = (step.world, self.id);
        for other in world.accomplices(own).filter(|other| *other != own) {
            let at_ns = step.now_ns + step.world.delay_ns(self.id, other);
            let shared = AdversaryEvent::Shared(Box::new(heard.clone()));
            self.schedule(step, at_ns, other, Event::Adversary(shared));
        }
    }

    /// Remembers a message.
    pub(super) fn learn(&mut self, now_ns: u64, heard: Heard) {
        let id = heard.id;
        if self.known.insert(id, heard).is_none() {
            self.recent.push((now_ns, id));
        }
    }

    pub(super) fn forward(&mut self, step: &mut Step<'_>, heard: &Heard, from: ConnIx) {
        let topic = usize::from(heard.topic);
        let mesh = self
            .meshes
            .iter()
            .filter(|(_, topics)| topics.contains(&topic));
        let mesh: Vec<ConnIx> = mesh
            .map(|(conn, _)| *conn)
            .filter(|conn| *conn != from)
            .collect();
        for conn in mesh {
            self.write(step, conn, heard.frame.clone());
        }
    }

    /// Announces and requests what the policy says, on each connection.
    pub(super) fn heartbeat(&mut self, step: &mut Step<'_>) {
        let policy = self.policy(step);
        self.recent
            .retain(|(at_ns, _)| at_ns + RECENT_NS > step.now_ns);
        if !policy.misbehaves(step.now_ns) {
            return;
        }
        let conns: Vec<ConnIx> = self.meshes.keys().copied().collect();
        for conn in conns {
            let mut rpc = Encoder::default();
            let mut ids: Vec<Vec<MessageId>> = vec![Vec::new(); self.topics.len()];
            for at in 0..self.recent.len() {
                let id = self.recent[at].1;
                let is_withheld = self.known[&id].is_withheld;
                if !is_withheld && self.happens(policy.announce) {
                    ids[usize::from(self.known[&id].topic)].push(id);
                }
            }
            for number in 0..policy.announce_false as usize {
                let topic = number % ids.len();
                ids[topic].push(self.invented());
            }
            for (topic, ids) in self
                .topics
                .iter()
                .zip(&ids)
                .filter(|(_, ids)| !ids.is_empty())
            {
                rpc.ihave(topic, ids);
            }
            let recent = self.recent.iter().rev().cycle();
            let wanted = recent.take(policy.request as usize).map(|(_, id)| *id);
            let wanted: Vec<MessageId> = wanted.collect();
            if !wanted.is_empty() {
                rpc.iwant(&wanted);
            }
            self.finish(step, conn, rpc);
        }
    }

    /// Id of a message that does not exist.
    fn invented(&mut self) -> MessageId {
        let mut id = [0; MessageId::LEN];
        for part in id.chunks_mut(8) {
            let random = self.rng.below(u64::MAX).to_le_bytes();
            part.copy_from_slice(&random[..part.len()]);
        }
        MessageId(id)
    }
}
