//! What honest nodes make of the messages that adversaries publish.

use std::collections::BTreeSet;

use undertone_relay::RelayReport;
use undertone_rln::fr_to_le;

use crate::adversary::AdversaryNode;
use crate::node::input::{UNCOUNTED, payload};
use crate::outcome::MembershipOutcome;
use crate::shard::NodeShard;
use crate::world::World;

/// Length of the payload of an adversary's message, bytes; the same as that of a spammer.
const PAYLOAD_BYTES: u32 = 64;

/// A message of an adversary; those with equal `identity` and `number` have one nullifier.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct SignalId {
    pub(super) identity: u32,
    /// Number of the message id that it uses, over all epochs.
    pub(super) number: u32,
    /// Number of the message among those with its nullifier.
    pub(super) index: u32,
}

/// Payload of an adversary's message. It does not count, as that of a spammer does not.
pub(super) fn signal_payload(id: SignalId) -> Vec<u8> {
    let mut payload = payload(UNCOUNTED, PAYLOAD_BYTES);
    let words = [id.identity, id.number, id.index];
    for (place, word) in payload[8..].chunks_exact_mut(4).zip(words) {
        place.copy_from_slice(&word.to_le_bytes());
    }
    payload
}

/// Returns the adversary's message that a payload belongs to, if it is one.
pub(super) fn signal_in(world: &World, payload: &[u8]) -> Option<SignalId> {
    let word = |at: usize| {
        let bytes = payload.get(at..at + 4)?;
        Some(u32::from_le_bytes(bytes.try_into().ok()?))
    };
    let id = SignalId {
        identity: word(8)?,
        number: word(12)?,
        index: word(16)?,
    };
    let is_one =
        payload.starts_with(&UNCOUNTED.to_le_bytes()) && world.adversaries().contains(&id.identity);
    is_one.then_some(id)
}

/// Messages of adversaries at the nodes of a thread.
#[derive(Debug, Default)]
pub(crate) struct SignalTotals {
    /// Messages that nodes delivered, each with its node.
    delivered: Vec<(SignalId, u32)>,
    /// Secrets that nodes computed from two messages.
    exposed: BTreeSet<[u8; 32]>,
}

impl SignalTotals {
    /// Records that a node delivered a message that does not count.
    pub(crate) fn delivers(&mut self, world: &World, node: u32, payload: &[u8]) {
        let signal = signal_in(world, payload);
        self.delivered.extend(signal.map(|signal| (signal, node)));
    }

    /// Records that a node found a member out.
    pub(crate) fn reported(&mut self, report: &RelayReport) {
        if let RelayReport::SpammerExposed { secret, .. } = report {
            self.exposed.insert(fr_to_le(secret.secret()));
        }
    }
}

/// Collects what the identities published and who delivered it; `None` if they published nothing.
pub(crate) fn collect(world: &World, shards: &[NodeShard]) -> Option<MembershipOutcome> {
    let adversaries = shards.iter().flat_map(|shard| &shard.adversaries);
    let publishers: Vec<_> = adversaries
        .filter_map(|adversary: &AdversaryNode| adversary.publisher.as_deref())
        .collect();
    if publishers.is_empty() {
        return None;
    }
    let totals = || {
        shards
            .iter()
            .map(|shard| &shard.scratch.signals_of_adversaries)
    };
    let is_exposed = |secret: [u8; 32]| totals().any(|all| all.exposed.contains(&secret));
    let mut outcome = MembershipOutcome {
        memberships: publishers.len() as u32,
        ..MembershipOutcome::default()
    };
    for publisher in &publishers {
        outcome.exposed += u32::from(is_exposed(fr_to_le(publisher.member.secret())));
        outcome.published += publisher.messages;
        outcome.nullifiers += publisher.nullifiers.len() as u64;
    }
    let relays = shards.iter().flat_map(|shard| &shard.nodes);
    let held = relays.filter_map(|node| node.relay.as_ref()).map(|relay| {
        let all = publishers.iter().flat_map(|one| &one.nullifiers);
        all.filter(|(epoch, nullifier)| relay.knows_nullifier(*epoch, *nullifier))
            .count() as u64
    });
    outcome.nullifiers_held = held.max().unwrap_or(0);
    let mut delivered: Vec<_> = totals()
        .flat_map(|all| all.delivered.iter().copied())
        .collect();
    delivered.sort_unstable();
    outcome.deliveries = delivered.len() as u64;
    let one_nullifier = |a: &(SignalId, u32), b: &(SignalId, u32)| {
        (a.0.identity, a.0.number) == (b.0.identity, b.0.number)
    };
    for of_nullifier in delivered.chunk_by(one_nullifier) {
        let mut reached: Vec<usize> = of_nullifier
            .chunk_by(|a, b| a.0 == b.0)
            .map(<[_]>::len)
            .collect();
        outcome.delivered += reached.len() as u64;
        let partly = reached
            .iter()
            .filter(|nodes| **nodes < world.scenario.nodes as usize);
        outcome.delivered_partly += partly.count() as u64;
        // The message that reached most is the one that the limit allows.
        reached.sort_unstable();
        reached.pop();
        outcome.beyond_limit += reached.len() as u64;
        outcome.beyond_limit_deliveries += reached.iter().sum::<usize>() as u64;
        let mut nodes: Vec<u32> = of_nullifier.iter().map(|(_, node)| *node).collect();
        nodes.sort_unstable();
        nodes.dedup();
        outcome.repeated_deliveries += (of_nullifier.len() - nodes.len()) as u64;
    }
    Some(outcome)
}
