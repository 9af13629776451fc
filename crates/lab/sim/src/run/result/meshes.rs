//! Check that meshes are mutual, except for changes in transit.

use undertone_gossip::{PeerIx, Topic};

use crate::node::Node;
use crate::node::check::violated;
use crate::ranks::assertions::{Assertions, MeshAssertion};
use crate::run::result::names;
use crate::shard::{self, NodeShard};
use crate::world::World;

/// Checks the meshes of all nodes of this process. What only other ranks can check is added to `assertions`.
pub(super) fn check(world: &World, shards: &mut [NodeShard], assertions: &mut [Assertions]) {
    let names = names(world);
    let mut wrong = Vec::new();
    for shard in shards.iter() {
        for node in &shard.nodes {
            let Some(relay) = &node.relay else { continue };
            for (topic, name) in (0..).zip(&names) {
                for peer in relay.router().mesh(name) {
                    let end = world.ends(node.id)[peer.0 as usize];
                    let assertion = MeshAssertion {
                        node: node.id,
                        topic,
                        remote: end.remote,
                        remote_conn: end.remote_conn.0,
                    };
                    // A node ignores a peer below the graylist threshold, even its PRUNE; a peer with a
                    // negative score may have been below the threshold a while ago.
                    if relay.router().score(*peer) < 0.0 || !is_settled(world, node, assertion) {
                        continue;
                    }
                    if !world.part.holds(end.remote) {
                        assertions[world.part.rank_of(end.remote)]
                            .meshes
                            .push(assertion);
                    } else if !holds(world, shards, &names, assertion) {
                        wrong.push(assertion.node);
                    }
                }
            }
        }
    }
    report(world, shards, wrong);
}

/// Judges assertions of other ranks about nodes of this one.
pub(super) fn judge(world: &World, shards: &mut [NodeShard], assertions: &[MeshAssertion]) {
    let names = names(world);
    let wrong = assertions.iter().filter(|assertion| {
        world.part.holds(assertion.remote) && !holds(world, shards, &names, **assertion)
    });
    let wrong = wrong.map(|assertion| assertion.node).collect();
    report(world, shards, wrong);
}

fn report(world: &World, shards: &mut [NodeShard], wrong: Vec<u32>) {
    for node in wrong {
        let rule = "a mesh is mutual within a round trip";
        violated(&mut shards[0].scratch, world.end_ns, node, rule);
    }
}

/// Whether the meshes of a node last changed long enough ago for the other end to know of it.
fn is_settled(world: &World, node: &Node, assertion: MeshAssertion) -> bool {
    let (a, b) = (assertion.node, assertion.remote);
    let round_trip = world.delay_ns(a, b) + world.delay_ns(b, a);
    // A change, its answer, and the time that both may wait for a busy link.
    let settled_ns = world.end_ns.saturating_sub(2 * round_trip + 1_000_000_000);
    node.checks.mesh_changed_ns < settled_ns
}

/// Whether the other end of a mesh connection, a node of this process, agrees or need not.
fn holds(world: &World, shards: &[NodeShard], names: &[Topic], assertion: MeshAssertion) -> bool {
    let Some(other) = shard::node(shards, assertion.remote) else {
        return true;
    };
    let (Some(theirs), Some(name)) = (&other.relay, names.get(assertion.topic as usize)) else {
        return true;
    };
    let back = PeerIx(assertion.remote_conn);
    // A node that floods keeps no mesh, and answers no GRAFT.
    if !theirs.router().keeps_mesh() {
        return true;
    }
    theirs.router().mesh(name).contains(&back)
        || theirs.router().score(back) < 0.0
        || !is_settled(world, other, assertion)
}
