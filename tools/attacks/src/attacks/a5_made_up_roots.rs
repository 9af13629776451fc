//! Attack 5: strangers fill the buffer for messages with unknown roots, while honest messages have roots
//! that the victim does not know yet.

use std::net::Ipv4Addr;
use std::time::Duration;

use futures::FutureExt as _;
use undertone_membership::SqliteRegistry;
use undertone_rln::Identity;

use super::{Attack, Price};
use crate::members::Members;
use crate::peer::Peer;
use crate::test_network::{prefix, victims_registry};
use crate::{HostileError, StageOptions, Tasks, TestNetwork, rpc};

const STRANGERS: u8 = 8;
/// Messages per second from all strangers together.
const MESSAGES_PER_S: u32 = 11;
/// Maximum messages of each stranger, enough for ten minutes.
const MESSAGES_MAX: u64 = 900;
/// Delay between a change in the publisher's registry and the same change in the victim's.
const BEHIND: Duration = Duration::from_secs(1);
/// Interval between membership changes. One message in thirty then has an unknown root, so the 95th
/// percentile is that of the other messages.
const CHANGES: Duration = Duration::from_secs(30);
/// Maximum number of membership changes.
const CHANGES_MAX: u64 = 20;

/// Attack a5: messages with made-up roots.
pub const ATTACK: Attack = Attack {
    name: "a5-made-up-roots",
    about: "8 strangers, 11 messages a second with made-up roots; every 30 s the victim hears of a root 1 s late",
    price: Price::Addresses(8),
    options,
    start: |stage| start(stage).boxed(),
    then: |stage| changes(stage).boxed(),
};

async fn start(stage: &mut TestNetwork) -> Result<Tasks, HostileError> {
    let members = stage
        .members
        .as_ref()
        .expect("the network has a rate limit");
    let forger = members.forger()?;
    let (target, topic) = (stage.victim.target(), stage.topics()[0].clone());
    let mut tasks = Tasks::default();
    for stranger in 0..STRANGERS {
        let from = Ipv4Addr::new(127, 0, 6, stranger + 1);
        let Ok(mut peer) = Peer::connect(from, target).await else {
            continue;
        };
        peer.subscribe(std::slice::from_ref(&topic)).await;
        let (forger, topic) = (forger.clone(), topic.clone());
        tasks.spawn(async move {
            let each = Duration::from_secs(1) * u32::from(STRANGERS) / MESSAGES_PER_S;
            let mut ticks = tokio::time::interval(each);
            for n in 0..MESSAGES_MAX {
                ticks.tick().await;
                let number = u64::from(stranger) * MESSAGES_MAX + n;
                let content_topic = format!("{}/rootless-{number}/proto", prefix(0));
                let data = forger.made_up_root(number, &content_topic);
                if !peer.send(&rpc::message(&topic, &data)).await {
                    return;
                }
            }
        });
    }
    Ok(tasks)
}

/// Changes the membership repeatedly; each change reaches the victim's registry late.
async fn changes(stage: &TestNetwork) -> Result<Tasks, HostileError> {
    let members = stage
        .members
        .as_ref()
        .expect("the network has a rate limit");
    let (ahead, behind) = (
        members.reopen()?,
        SqliteRegistry::open(victims_registry(stage.folder()))
            .map_err(undertone_membership::RegistryError::from)?,
    );
    let mut tasks = Tasks::default();
    tasks.spawn(async move {
        for change in 0..CHANGES_MAX {
            let identity = Identity::from_seed(format!("newcomer {change}").as_bytes());
            for (registry, pause) in [(&ahead, BEHIND), (&behind, CHANGES - BEHIND)] {
                if let Err(error) = Members::repeat(registry, &identity) {
                    eprintln!("hostile: cannot register a member: {error}");
                    return;
                }
                tokio::time::sleep(pause).await;
            }
        }
    });
    Ok(tasks)
}

/// Returns a network with a rate limit, in which the victim has its own registry.
#[must_use]
pub fn options() -> StageOptions {
    StageOptions {
        rln: true,
        own_registry: true,
        ..StageOptions::default()
    }
}
