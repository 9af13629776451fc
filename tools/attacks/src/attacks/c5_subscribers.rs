//! Attack c5: more filter clients than a node accepts, with as many subscriptions as allowed.

use std::net::Ipv4Addr;
use std::time::Duration;

use futures::FutureExt as _;
use tokio::time::{Instant, sleep, timeout};

use super::{Attack, Price, nothing, with_services};
use crate::node::Target;
use crate::service_client::ServiceClient;
use crate::test_network::{prefix, pubsub_topic};
use crate::{HostileError, Tasks, TestNetwork, asks};

/// Number of addresses from which identities come.
const ATTACKERS: u8 = 20;
/// Identities of each address, one after another, enough for ten minutes.
const IDENTITIES_MAX: u32 = 9_000;
/// Identities that have subscribed before messages are counted: more than the 1,000 places of a node.
const RISING_IDENTITIES: u32 = 1_100;
/// Time limit for these subscriptions.
const RISING: Duration = Duration::from_secs(60);
/// Requests of each identity, each with as many topics of maximum length as a request may have.
const REQUESTS: u32 = 3;
const TOPICS: u32 = 100;
const TOPIC_BYTES: usize = 490;
const PATIENCE: Duration = Duration::from_secs(10);

/// Attack c5: crowds of subscribers.
pub const ATTACK: Attack = Attack {
    name: "c5-subscribers",
    about: "thousands of identities subscribe to 300 topics of 490 bytes each and leave, from 20 addresses",
    price: Price::Addresses(ATTACKERS as u32),
    options: with_services,
    start: |stage| start(stage).boxed(),
    then: nothing,
};

async fn start(stage: &mut TestNetwork) -> Result<Tasks, HostileError> {
    let mut tasks = Tasks::default();
    let (sender, mut subscribed) = tokio::sync::mpsc::unbounded_channel();
    for n in 0..ATTACKERS {
        let from = Ipv4Addr::new(127, 0, 25, n + 1);
        let (target, sender) = (stage.victim.target(), sender.clone());
        tasks.spawn(async move {
            for identity in 0..IDENTITIES_MAX {
                let first = (u32::from(n) * IDENTITIES_MAX + identity) * REQUESTS * TOPICS;
                let subscribing = subscribe(from, target, first);
                if timeout(PATIENCE, subscribing).await.is_ok_and(|is| is) {
                    let _ = sender.send(());
                }
            }
        });
    }
    let until = Instant::now() + RISING;
    for _ in 0..RISING_IDENTITIES {
        if tokio::time::timeout_at(until, subscribed.recv())
            .await
            .is_err()
        {
            break;
        }
    }
    Ok(tasks)
}

/// Subscribes to topics that nobody else wants, and leaves.
async fn subscribe(from: Ipv4Addr, target: Target, first: u32) -> bool {
    let Ok(client) = ServiceClient::connect(from, target, None).await else {
        sleep(Duration::from_secs(1)).await;
        return false;
    };
    let prefix = prefix(0);
    for request in 0..REQUESTS {
        let first = first + request * TOPICS;
        let topics = (first..first + TOPICS).map(|n| format!("{prefix}/{n:0>TOPIC_BYTES$}/p"));
        let wanted = asks::subscribe(&pubsub_topic(0), topics);
        if client.raw.ask(asks::FILTER, &wanted).await.is_err() {
            return false;
        }
    }
    true
}
