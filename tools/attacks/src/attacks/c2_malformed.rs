//! Attack c2: malformed frames, and streams that stay open.

use std::net::Ipv4Addr;
use std::time::Duration;

use futures::{AsyncWriteExt as _, FutureExt as _};
use tokio::time::{sleep, timeout};

use super::{Attack, Price, nothing, with_services};
use crate::node::Target;
use crate::service_client::ServiceClient;
use crate::{HostileError, Tasks, TestNetwork, asks, rpc};

/// Number of clients that send malformed frames, and number of those that leave streams open.
const ATTACKERS: u8 = 10;
/// Number of streams that a client leaves open, as many as a connection may have.
const OPEN: usize = 128;
/// Frames of each client, enough for ten minutes.
const FRAMES_MAX: usize = 300_000;
/// Time limit of one frame.
const PATIENCE: Duration = Duration::from_secs(5);
/// Duration of the attack before messages are counted.
const RISING: Duration = Duration::from_secs(3);

/// Attack c2: malformed frames and half-open streams.
pub const ATTACK: Attack = Attack {
    name: "c2-malformed",
    about: "lengths of 2^63 and half lengths, cut and random requests to every service at full rate; 1,280 \
            streams that say nothing; from 20 addresses",
    price: Price::Addresses(2 * ATTACKERS as u32),
    options: with_services,
    start: |stage| start(stage).boxed(),
    then: nothing,
};

async fn start(stage: &mut TestNetwork) -> Result<Tasks, HostileError> {
    let mut tasks = Tasks::default();
    for n in 0..ATTACKERS {
        let target = stage.victim.target();
        let from = |high| Ipv4Addr::new(127, 0, high, n + 1);
        tasks.spawn(send(from(21), target, malformed()));
        tasks.spawn(leave_open(from(22), target));
    }
    sleep(RISING).await;
    Ok(tasks)
}

/// Returns byte sequences that no service can parse.
#[must_use]
pub fn malformed() -> Vec<Vec<u8>> {
    let valid = asks::newest(Some("/a/1/b/proto"), 20);
    let mut noise = 1_u32;
    let random = std::iter::repeat_with(|| {
        // The linear congruential generator of Numerical Recipes: the same noise in every run.
        noise = noise.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        noise.to_be_bytes()[0]
    });
    let random: Vec<u8> = random.take(1_000).collect();
    let mut cut = rpc::varint(100);
    cut.extend([0x0a; 10]);
    vec![
        rpc::varint(1 << 63),
        vec![0xff; 20],
        vec![0x80],
        cut,
        rpc::framed(&valid[..valid.len() / 2]),
        rpc::framed(&random),
        rpc::framed(&[0x0a, 0xff, 0xff, 0xff, 0xff, 0x0f]),
        rpc::framed(&[]),
    ]
}

async fn send(from: Ipv4Addr, target: Target, malformed: Vec<Vec<u8>>) {
    let mut client: Option<ServiceClient> = None;
    for n in 0..FRAMES_MAX {
        if client.is_none() {
            client = ServiceClient::connect(from, target, None).await.ok();
        }
        let Some(connected) = &client else {
            sleep(Duration::from_secs(1)).await;
            continue;
        };
        let protocol = asks::ALL[n % asks::ALL.len()].clone();
        let bytes = &malformed[n / asks::ALL.len() % malformed.len()];
        let sending = async {
            let mut stream = connected.raw.send(protocol, bytes).await.ok()?;
            // The victim may already have reset the stream.
            let _ = stream.close().await;
            Some(())
        };
        if !matches!(timeout(PATIENCE, sending).await, Ok(Some(()))) {
            client = None;
        }
    }
}

async fn leave_open(from: Ipv4Addr, target: Target) {
    loop {
        if let Ok(mut client) = ServiceClient::connect(from, target, None).await {
            let protocols = asks::ALL.iter().cycle().take(OPEN);
            let opening = protocols.map(|protocol| client.raw.open(protocol.clone()));
            let streams = futures::future::join_all(opening).await;
            client.raw.closed().await;
            drop(streams);
        }
        sleep(Duration::from_secs(1)).await;
    }
}
