//! Attack 10: a peer that receives an honest message is the first to send it to the victim, on another shard.

use std::net::Ipv4Addr;
use std::time::Duration;

use futures::FutureExt as _;
use undertone_gossip::Topic;

use super::{Attack, Price, nothing};
use crate::peer::Peer;
use crate::test_network::pubsub_topic;
use crate::{HostileError, StageOptions, Tasks, TestNetwork, rpc};

const ADDRESS: Ipv4Addr = Ipv4Addr::new(127, 0, 13, 1);
/// Delay between the victim and its honest neighbour, which makes that path longer than the attacker's.
const DELAY: Duration = Duration::from_millis(30);

/// Attack b10: messages on a wrong shard.
pub const ATTACK: Attack = Attack {
    name: "b10-other-shard",
    about: "every message reaches the victim on a wrong shard 30 ms before it comes on its own",
    price: Price::Nothing,
    options,
    start: |stage| start(stage).boxed(),
    then: nothing,
};

async fn start(stage: &mut TestNetwork) -> Result<Tasks, HostileError> {
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

/// Returns a network with autosharding. The victim joins one shard more than the others; the reader, which
/// joins only the messages' own shard, must get all messages.
#[must_use]
pub fn options() -> StageOptions {
    StageOptions {
        has_automatic_sharding: true,
        victims_shards: 1,
        delay: DELAY,
        ..StageOptions::default()
    }
}
