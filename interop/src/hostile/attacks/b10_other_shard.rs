//! Number 10: whoever hears an honest message sends it to the victim on another shard, first.

use std::net::Ipv4Addr;
use std::time::Duration;

use futures::FutureExt as _;
use undertone_gossip::Topic;

use super::{Attack, Price, nothing};
use crate::hostile::peer::Peer;
use crate::hostile::stage::pubsub_topic;
use crate::hostile::{HostileError, Stage, StageOptions, Tasks, rpc};

const ADDRESS: Ipv4Addr = Ipv4Addr::new(127, 0, 13, 1);
/// How late the victim hears its honest neighbour: a path that is longer than the attacker's.
const DELAY: Duration = Duration::from_millis(30);

/// The attack.
pub const ATTACK: Attack = Attack {
    name: "b10-other-shard",
    about: "every message reaches the victim on a wrong shard 30 ms before it comes on its own",
    price: Price::Nothing,
    options,
    start: |stage| start(stage).boxed(),
    then: nothing,
};

async fn start(stage: &mut Stage) -> Result<Tasks, HostileError> {
    let topics = stage.topics();
    let other = Topic::new(&pubsub_topic(1));
    let mut mover = Peer::connect(ADDRESS, stage.victim.target()).await?;
    mover.subscribe(std::slice::from_ref(&other)).await;
    let spied = stage.honest.first().expect("somebody publishes");
    let mut spy = Peer::connect(ADDRESS, spied.target()).await?;
    spy.join(&topics).await;
    let id = spy.id();
    stage
        .are_in_meshes(spied, &[id], Duration::from_secs(10))
        .await;
    let mut tasks = Tasks::default();
    tasks.spawn(async move {
        while let Some(rpc) = spy.rpc().await {
            for message in rpc.messages {
                if !mover.send(&rpc::message(&other, &message.data)).await {
                    return;
                }
            }
        }
    });
    Ok(tasks)
}

/// A network with automatic sharding. The victim has joined one shard more than the others, and it is the reader, who has joined only the
/// messages' own shard, that must get them.
#[must_use]
pub fn options() -> StageOptions {
    StageOptions {
        has_automatic_sharding: true,
        victims_shards: 1,
        delay: DELAY,
        ..StageOptions::default()
    }
}
