//! Collects what adversaries did and heard.

use crate::adversary::{WatchTotals, groups, signals};
use crate::outcome::AttackOutcome;
use crate::shard::NodeShard;
use crate::world::World;

/// Collects the figures of all adversaries; `None` if there are none.
pub(super) fn collect(world: &World, shards: &mut [NodeShard]) -> Option<Box<AttackOutcome>> {
    if world.adversaries().is_empty() {
        return None;
    }
    let mut attack = AttackOutcome {
        identities: world.adversaries().len() as u32,
        ..AttackOutcome::default()
    };
    let mut begins_ns = u64::MAX;
    for (_, _, policy, count) in groups(&world.scenario) {
        attack.addresses += policy.addresses.min(count);
        begins_ns = begins_ns.min(policy.arrives_ns.max(policy.misbehaves_from_ns));
    }
    attack.begins_ns = begins_ns;
    attack.memberships = signals::collect(world, shards);
    let mut watched = WatchTotals::default();
    for shard in shards {
        watched.add(&shard.scratch.watch);
        for adversary in &mut shard.adversaries {
            let totals = adversary.host.totals();
            attack.sent_bytes += totals.sent_bytes;
            attack.heard.append(&mut adversary.heard);
        }
    }
    attack
        .heard
        .sort_unstable_by_key(|heard| (heard.message, heard.observer));
    attack.watched = watched.into_seconds();
    Some(Box::new(attack))
}
