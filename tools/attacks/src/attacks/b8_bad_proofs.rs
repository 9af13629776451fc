//! Attack 8: 2 Mbit/s of messages with proofs that only the pairing check reveals as invalid.

use std::net::Ipv4Addr;
use std::time::Duration;

use futures::FutureExt as _;
use undertone_gossip::Topic;

use super::{Attack, Price, nothing};
use crate::members::Forger;
use crate::node::Target;
use crate::peer::Peer;
use crate::test_network::prefix;
use crate::{HostileError, StageOptions, Tasks, TestNetwork, rpc};

/// Number of peers at a time, each with its own address and a new identity after each disconnection.
const ATTACKERS: u8 = 4;
/// Messages of all attackers each second: 2 Mbit/s at 398 bytes each.
const MESSAGES_PER_S: u32 = 628;
/// Number of messages sent together.
const BATCH: u32 = 16;
/// Maximum batches of each peer, enough for ten minutes.
const BATCHES_MAX: u32 = 6_000;
/// Duration of the attack before messages are counted.
const RISING: Duration = Duration::from_secs(3);

/// Attack b8: messages with bad proofs.
pub const ATTACK: Attack = Attack {
    name: "b8-bad-proofs",
    about: "2 Mbit/s of bad proofs (about 398 bytes each) from 4 addresses, new identities all the time",
    price: Price::Addresses(ATTACKERS as u32),
    options,
    start: |stage| {
        async {
            let tasks = begin(stage)?;
            tokio::time::sleep(RISING).await;
            Ok(tasks)
        }
        .boxed()
    },
    then: nothing,
};

/// Returns a network with a rate limit.
#[must_use]
pub fn options() -> StageOptions {
    StageOptions {
        rln: true,
        ..StageOptions::default()
    }
}

/// Starts the flood of bad proofs without waiting.
pub(crate) fn begin(stage: &TestNetwork) -> Result<Tasks, HostileError> {
    let members = stage
        .members
        .as_ref()
        .expect("the network has a rate limit");
    let forger = members.forger()?;
    let mut tasks = Tasks::default();
    for attacker in 0..ATTACKERS {
        let target = stage.victim.target();
        let (topic, forger) = (stage.topics()[0].clone(), forger.clone());
        tasks.spawn(async move {
            let from = Ipv4Addr::new(127, 0, 11, attacker + 1);
            let each = Duration::from_secs(1) * BATCH * u32::from(ATTACKERS) / MESSAGES_PER_S;
            let mut ticks = tokio::time::interval(each);
            let mut peer: Option<Peer> = None;
            let prefix = prefix(0);
            for batch in 0..BATCHES_MAX {
                ticks.tick().await;
                if peer.is_none() {
                    peer = arrive(from, target, &topic).await;
                }
                if let Some(connected) = &mut peer {
                    let first = u64::from(batch) * u64::from(BATCH);
                    let frames = frames(&forger, &topic, &prefix, attacker, first);
                    if !connected.send(&frames).await {
                        peer = None;
                    }
                }
            }
        });
    }
    Ok(tasks)
}

async fn arrive(from: Ipv4Addr, target: Target, topic: &Topic) -> Option<Peer> {
    let mut peer = Peer::connect(from, target).await.ok()?;
    peer.subscribe(std::slice::from_ref(topic))
        .await
        .then_some(peer)
}

fn frames(forger: &Forger, topic: &Topic, prefix: &str, attacker: u8, first: u64) -> Vec<u8> {
    let numbers = (first..).take(BATCH as usize);
    let frames = numbers.map(|n| {
        let number = (u64::from(attacker) << 32) + n;
        let data = forger.bad_proof(number, &format!("{prefix}/bad-{number}/proto"));
        rpc::message(topic, &data)
    });
    frames.flatten().collect()
}
