//! Attack 6: squatters fill the victim's mesh and never forward; liars announce every id at once and never
//! deliver. The honest neighbours arrive last, by dialling the victim.

use std::net::Ipv4Addr;
use std::time::Duration;

use futures::FutureExt as _;
use tokio::sync::broadcast;
use undertone_gossip::{MessageId, Topic};

use super::{Attack, Price};
use crate::peer::Peer;
use crate::test_network::Meeting;
use crate::{HostileError, StageOptions, Tasks, TestNetwork, rpc};

/// Number of peers that graft and never forward; they share `SQUATTERS_ADDRESSES` addresses.
const SQUATTERS: u8 = 14;
const SQUATTERS_ADDRESSES: u8 = 4;
/// Number of peers that announce and never deliver; they share `LIARS_ADDRESSES` addresses.
const LIARS: u8 = 12;
const LIARS_ADDRESSES: u8 = 4;
/// Number of squatters that must be in the mesh before the honest neighbours arrive.
const SEATED: usize = 6;
/// Time limit for the squatters to enter the mesh.
const SEATING: Duration = Duration::from_secs(10);
/// Time for the honest neighbours to enter the mesh before messages are counted.
const ARRIVING: Duration = Duration::from_secs(3);
/// Capacity of the queue of announcements for a slow liar.
const ANNOUNCEMENTS_MAX: usize = 1_024;

const fn attack(name: &'static str, options: fn() -> StageOptions) -> Attack {
    Attack {
        name,
        about: "14 squatters and 12 liars on 8 addresses before the honest neighbours, which dial, arrive",
        price: Price::Addresses((SQUATTERS_ADDRESSES + LIARS_ADDRESSES) as u32),
        options,
        start: |stage| start(stage).boxed(),
        then: |stage| meet(stage).boxed(),
    }
}

/// Attack b6 on a victim with one honest neighbour.
pub const ONE_NEIGHBOUR: Attack = attack("b6-squatters-1", || options(1));
/// Attack b6 on a victim with two honest neighbours.
pub const TWO_NEIGHBOURS: Attack = attack("b6-squatters-2", || options(2));
/// Attack b6 on a victim with three honest neighbours.
pub const THREE_NEIGHBOURS: Attack = attack("b6-squatters-3", || options(3));

/// Returns a network whose victim has no neighbours yet; the publisher is a further honest node.
#[must_use]
pub fn options(neighbours: usize) -> StageOptions {
    StageOptions {
        honest: neighbours + 1,
        is_apart: true,
        meeting: Meeting::Later,
        has_reader: false,
        ..StageOptions::default()
    }
}

/// Has the honest neighbours dial the victim.
async fn meet(stage: &mut TestNetwork) -> Result<Tasks, HostileError> {
    stage.meet().await?;
    tokio::time::sleep(ARRIVING).await;
    Ok(Tasks::default())
}

async fn start(stage: &mut TestNetwork) -> Result<Tasks, HostileError> {
    let mut tasks = Tasks::default();
    let (target, topics) = (stage.victim.target(), stage.topics());
    for n in 0..SQUATTERS {
        let from = Ipv4Addr::new(127, 0, 7, 1 + n % SQUATTERS_ADDRESSES);
        // The victim may refuse the peer, which is a good result.
        let Ok(mut peer) = Peer::connect(from, target).await else {
            continue;
        };
        peer.join(&topics).await;
        // The squatter reads, so that it does not count as a slow peer.
        tasks.spawn(async move { while peer.rpc().await.is_some() {} });
    }
    let seated = |peers: &std::collections::BTreeMap<_, crate::node::PeerView>| {
        peers.values().filter(|view| view.meshes > 0).count() >= SEATED
    };
    // Fewer enter the mesh if the victim limits mesh places per address, which is a good result.
    stage.victim.wait_peers(SEATING, seated).await;
    let (announcements, _) = broadcast::channel(ANNOUNCEMENTS_MAX);
    for n in 0..LIARS {
        let from = Ipv4Addr::new(127, 0, 8, 1 + n % LIARS_ADDRESSES);
        let Ok(mut peer) = Peer::connect(from, target).await else {
            continue;
        };
        peer.subscribe(&topics).await;
        let heard = announcements.subscribe();
        tasks.spawn(lie(peer, heard, topics[0].clone()));
    }
    let spied = stage.honest.first().expect("somebody publishes");
    let mut spy = Peer::connect(Ipv4Addr::new(127, 0, 9, 1), spied.target()).await?;
    spy.join(&topics).await;
    tasks.spawn(async move {
        while let Some(rpc) = spy.rpc().await {
            for message in rpc.messages {
                // Fails if there are no liars left.
                let _ = announcements.send(MessageId::of(&message.data));
            }
        }
    });
    Ok(tasks)
}

async fn lie(mut peer: Peer, mut heard: broadcast::Receiver<MessageId>, topic: Topic) {
    loop {
        tokio::select! {
            rpc = peer.rpc() => {
                if rpc.is_none() {
                    return;
                }
            }
            id = heard.recv() => {
                let id = match id {
                    Ok(id) => id,
                    Err(broadcast::error::RecvError::Lagged(_)) => continue,
                    Err(broadcast::error::RecvError::Closed) => return,
                };
                if !peer.send(&rpc::control(|rpc| rpc.ihave(&topic, &[id]))).await {
                    return;
                }
            }
        }
    }
}
