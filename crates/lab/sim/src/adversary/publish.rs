//! Messages that an identity publishes with its membership.

use bytes::Bytes;
use undertone_gossip::{MessageIds as _, wire};
use undertone_link::ConnIx;
use undertone_message::WakuMessage;
use undertone_rln::{Epoch, Fr, fr_from_le, signal_hash};

use crate::adversary::Heard;
use crate::adversary::node::{Action, AdversaryNode};
use crate::adversary::signals::{SignalId, signal_payload};
use crate::member::{SimMember, root};
use crate::node::event::Step;
use crate::node::input::CONTENT_TOPIC;
use crate::world::{GENERATION, UNIX_NS_AT_ZERO};

/// Membership of an identity.
#[derive(Debug)]
pub(crate) struct Publisher {
    pub(crate) member: SimMember,
    /// Nullifiers of its messages, in the order of their numbers.
    pub(crate) nullifiers: Vec<(Epoch, Fr)>,
    /// Number of messages published.
    pub(crate) messages: u64,
}

/// One of the messages that are published under one message id.
#[derive(Clone, Copy, Debug)]
pub(super) struct Signal {
    id: SignalId,
    epoch: Epoch,
    message_id: u32,
}

impl AdversaryNode {
    /// Uses up a message id of the identity, if it has any left, and plans the messages under it.
    pub(super) fn publish(&mut self, step: &mut Step<'_>) {
        let policy = self.policy(step);
        let (Some(every_ns), Some(rln)) = (policy.publish_every_ns, &step.world.scenario.rln)
        else {
            return;
        };
        self.plan(step.now_ns.saturating_add(every_ns), Action::Publish);
        if !policy.misbehaves(step.now_ns) {
            return;
        }
        let (seed, own) = (step.world.seed, self.id);
        let publisher = self.publisher.get_or_insert_with(|| {
            Box::new(Publisher {
                member: SimMember::new(seed, own, rln.message_limit),
                nullifiers: Vec::new(),
                messages: 0,
            })
        });
        let epoch = Epoch::at(unix_ns(step, policy.clock_ahead_ns), rln.epoch_s);
        let Some(message_id) = publisher.member.next_id(epoch, false) else {
            return;
        };
        let number = publisher.nullifiers.len() as u32;
        for index in 0..policy.signals {
            let after_ns = policy.signal_gap_ns.saturating_mul(u64::from(index));
            let signal = Signal {
                id: SignalId {
                    identity: own,
                    number,
                    index,
                },
                epoch,
                message_id,
            };
            if index == 0 {
                self.send_signal(step, signal);
            } else {
                let at_ns = step.now_ns.saturating_add(after_ns);
                self.plan(at_ns, Action::Signal(signal));
            }
        }
    }

    /// Publishes one message to its part of the peers.
    pub(super) fn send_signal(&mut self, step: &mut Step<'_>, signal: Signal) {
        let (policy, world) = (self.policy(step), step.world);
        let (Some(publisher), Some(rln)) = (&mut self.publisher, &world.scenario.rln) else {
            return;
        };
        let ends_s = (signal.epoch.0 + 1).saturating_mul(rln.epoch_s.max(1));
        let last_ns = ends_s.saturating_mul(1_000_000_000) - 1;
        let timestamp_ns = unix_ns(step, policy.clock_ahead_ns).min(last_ns) as i64;
        let mut message = WakuMessage::new(signal_payload(signal.id), CONTENT_TOPIC);
        message.timestamp = Some(timestamp_ns);
        let x = signal_hash(&message.payload, &message.content_topic, timestamp_ns);
        let root = root(world.newest_root(step.now_ns));
        let slot = (signal.epoch, signal.message_id);
        let proof = publisher.member.sign(GENERATION, slot, x, root);
        message.rate_limit_proof = Some(proof.encode().into());
        if signal.id.index == 0 {
            let nullifier = fr_from_le(&proof.nullifier).expect("it was encoded from an element");
            publisher.nullifiers.push((signal.epoch, nullifier));
        }
        publisher.messages += 1;
        let data = Bytes::from(message.encode());
        let topic = signal.id.number as usize % self.topics.len();
        let heard = Heard {
            id: step.scratch.ids.id_of(&data),
            topic: topic as u16,
            frame: wire::message_frame(&self.topics[topic], &data),
            is_withheld: policy.signals > 1,
        };
        self.learn(step.now_ns, heard.clone());
        let parts = (0..policy.signals).cycle().zip(self.meshes.keys());
        let own = parts.filter(|(part, _)| *part == signal.id.index);
        let own: Vec<ConnIx> = own.map(|(_, conn)| *conn).collect();
        for conn in own {
            self.write(step, conn, heard.frame.clone());
        }
    }
}

/// Time on a clock that is ahead by so much, Unix nanoseconds.
fn unix_ns(step: &Step<'_>, ahead_ns: i64) -> u64 {
    (UNIX_NS_AT_ZERO + step.now_ns).saturating_add_signed(ahead_ns)
}
