//! Rules that are checked at the end of a run, across threads and ranks.

use undertone_gossip::{Config, Usage};

use crate::node::check::violated;
use crate::node::event::Event;
use crate::ranks::assertions::{self, Assertions, PacketCount};
use crate::ranks::{RankError, Ranks};
use crate::run::result::{meshes, services};
use crate::shard::NodeShard;
use crate::world::World;

/// Checks all rules. A rule about nodes of two ranks is judged by one of them.
pub(super) fn check(
    world: &World,
    shards: &mut [NodeShard],
    ranks: Option<&mut dyn Ranks>,
) -> Result<(), RankError> {
    check_bounds(world, shards);
    services::check(world, shards);
    let mut assertions: Vec<Assertions> = (0..world.part.ranks())
        .map(|_| Assertions::default())
        .collect();
    meshes::check(world, shards, &mut assertions);
    services::check_readings(world, shards, &mut assertions);
    let mut total = packets(shards);
    if let Some(ranks) = ranks {
        for of_rank in &mut assertions {
            of_rank.packets = total;
        }
        let me = ranks.rank();
        for (from, assertions) in assertions::exchange(ranks, &assertions)?
            .into_iter()
            .enumerate()
        {
            if from != me {
                total = total.and(assertions.packets);
                meshes::judge(world, shards, &assertions.meshes);
                services::judge(world, shards, &assertions.readings);
            }
        }
    }
    if world.part.rank() == 0 {
        check_packets(world, shards, total);
    }
    Ok(())
}

/// Counts the packets of this process.
pub(super) fn packets(shards: &[NodeShard]) -> PacketCount {
    let mut count = PacketCount::default();
    for shard in shards {
        let nodes = shard.nodes.iter().map(|node| &node.host);
        let clients = shard.clients.iter().map(|client| &client.host);
        let adversaries = shard.adversaries.iter().map(|adversary| &adversary.host);
        for host in nodes.chain(clients).chain(adversaries) {
            let totals = host.totals();
            count.sent += totals.sent_packets;
            count.accounted +=
                totals.received_packets + totals.lost_packets + totals.orphaned_packets;
            count.accounted += host.arriving_packets();
        }
        let waiting = shard.events.waiting().map(|event| match event {
            Event::Arrival(arrival) => arrival.packets(),
            _ => 0,
        });
        count.accounted += waiting.sum::<u64>();
    }
    count
}

/// Checks that every packet sent was received, dropped, or is in flight.
pub(super) fn check_packets(world: &World, shards: &mut [NodeShard], total: PacketCount) {
    if total.sent != total.accounted {
        let rule = "packets sent are received, dropped or in flight";
        violated(&mut shards[0].scratch, world.end_ns, 0, rule);
    }
}

/// Checks that every collection that a remote can fill is within its bound.
pub(super) fn check_bounds(world: &World, shards: &mut [NodeShard]) {
    for shard in shards {
        for node in &shard.nodes {
            let Some(relay) = &node.relay else { continue };
            if !is_within(&relay.router().usage(), relay.router().config()) {
                let rule = "every collection is within its bound";
                violated(&mut shard.scratch, world.end_ns, node.id, rule);
            }
        }
    }
}

pub(super) fn is_within(usage: &Usage, config: &Config) -> bool {
    let limits = &config.limits;
    let lifetime = usize::try_from(config.idontwant_ttl_heartbeats).unwrap_or(usize::MAX);
    let idontwant = limits.idontwant_ids_per_heartbeat_max;
    usage.topics <= limits.topics_max
        && usage.seen <= limits.seen_max
        && usage.pending <= limits.pending_max
        && usage.pending_bytes <= limits.pending_bytes_max
        // One message is kept even if it is larger than the limit of the cache.
        && usage.cache_bytes <= limits.cache_bytes_max.max(limits.frame_bytes_max)
        && usage.iwant_requests <= limits.promises_max
        && usage.iwant_waiting <= limits.promises_max
        && usage.delayed_messages <= limits.delayed_messages_max
        && usage.stem_messages <= limits.stem_messages_max
        && usage.stem_bytes <= limits.stem_bytes_max
        && usage.backoffs <= limits.backoffs_max
        && usage.departed <= limits.retained_peers_max
        && usage.subscriptions_of_a_peer <= limits.subscriptions_per_peer_max
        && usage.idontwant_of_a_peer <= idontwant.saturating_mul(lifetime)
        && usage.cancellable_of_a_peer <= limits.cancellable_per_peer_max
}
