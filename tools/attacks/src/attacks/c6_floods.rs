//! Attack c6: valid requests at full rate, each as expensive as possible.

use std::net::Ipv4Addr;
use std::sync::Arc;
use std::time::Duration;

use futures::FutureExt as _;
use libp2p::StreamProtocol;
use tokio::time::{sleep, timeout};
use undertone_message::WakuMessage;

use super::{Attack, Price, b8_bad_proofs, nothing, with_services};
use crate::node::Target;
use crate::service_client::ServiceClient;
use crate::test_network::{prefix, pubsub_topic};
use crate::{HostileError, StageOptions, Tasks, TestNetwork, asks};

/// Number of clients, each with its own address.
const ATTACKERS: u8 = 20;
/// Number of concurrent requests of each client.
const AT_A_TIME: usize = 8;
/// Requests of each client, enough for ten minutes.
const REQUESTS_MAX: usize = 1_000_000;
/// Payload too large for any network, bytes.
const OVERSIZE_BYTES: usize = 300_000;
/// Number of messages with bad proofs, which each of [`FORGERS`] clients sends over and over.
const BAD_PROOFS: u64 = 2_000;
const FORGERS: u8 = 16;
const PATIENCE: Duration = Duration::from_secs(10);
/// Duration of the attack before messages are counted.
const RISING: Duration = Duration::from_secs(3);

type CostlyAsk = (StreamProtocol, Vec<u8>);

/// Attack c6 on a network without rate limit.
pub const REQUESTS: Attack = Attack {
    name: "c6-request-floods",
    about: "160 requests at a time: all times and 100 topics, 1000 hashes, all peers, messages of 300 kB, \
            subscriptions, metadata, 65,536 ranges of history to compare; from 20 addresses",
    price: Price::Addresses(ATTACKERS as u32),
    options: with_services,
    start: |stage| {
        async {
            let requests = Arc::new(expensive());
            let mut tasks = Tasks::default();
            for n in 0..ATTACKERS {
                let from = Ipv4Addr::new(127, 0, 26, n + 1);
                let first = usize::from(n);
                tasks.spawn(flood(from, stage.victim.target(), requests.clone(), first));
            }
            sleep(RISING).await;
            Ok(tasks)
        }
        .boxed()
    },
    then: nothing,
};

/// Attack c6 with messages whose proofs only the pairing check reveals as invalid.
pub const BAD_PUSHES: Attack = Attack {
    name: "c6-bad-proofs",
    about: "128 lightpush requests at a time with proofs that only the pairing shows to be bad, from 16 \
            addresses",
    price: Price::Addresses(FORGERS as u32),
    options: || StageOptions {
        services: true,
        ..b8_bad_proofs::options()
    },
    start: |stage| bad_pushes(stage).boxed(),
    then: nothing,
};

/// Returns the requests that cost a node the most.
fn expensive() -> Vec<CostlyAsk> {
    let (pubsub_topic, prefix) = (pubsub_topic(0), prefix(0));
    let oversize = asks::push(
        &pubsub_topic,
        &format!("{prefix}/oversize/proto"),
        vec![1; OVERSIZE_BYTES],
    );
    let topics = (0..100).map(|n| format!("{prefix}/flood-{n}/proto"));
    let namespace = pubsub_topic.replace("/waku/2/", "");
    vec![
        (asks::STORE, asks::widest()),
        (asks::STORE, asks::hashes()),
        (asks::EXCHANGE, asks::peers(u64::MAX)),
        (asks::RENDEZVOUS, asks::forged_registration(&namespace)),
        (asks::RENDEZVOUS, asks::everybody()),
        (asks::METADATA, asks::metadata()),
        (asks::RECONCILIATION, asks::most_ranges()),
        (asks::LIGHTPUSH, oversize.clone()),
        (asks::LEGACY_LIGHTPUSH, oversize),
        (asks::FILTER, asks::subscribe(&pubsub_topic, topics)),
    ]
}

async fn bad_pushes(stage: &mut TestNetwork) -> Result<Tasks, HostileError> {
    let members = stage.members.as_ref();
    let forger = members.expect("the network has a rate limit").forger()?;
    let mut tasks = Tasks::default();
    for n in 0..FORGERS {
        let from = Ipv4Addr::new(127, 0, 27, n + 1);
        let target = stage.victim.target();
        let forger = forger.clone();
        let prefix = prefix(0);
        tasks.spawn(async move {
            let numbers = (0..BAD_PROOFS).map(|number| (u64::from(n) << 32) + number);
            let requests = numbers.filter_map(|number| {
                let message = forger.bad_proof(number, &format!("{prefix}/bad-{number}/proto"));
                let message = WakuMessage::decode(&message.into()).ok()?;
                Some((asks::LIGHTPUSH, asks::push_of(&pubsub_topic(0), message)))
            });
            flood(from, target, Arc::new(requests.collect()), 0).await;
        });
    }
    sleep(RISING).await;
    Ok(tasks)
}

/// Sends requests, [`AT_A_TIME`] concurrently.
async fn flood(from: Ipv4Addr, target: Target, requests: Arc<Vec<CostlyAsk>>, first: usize) {
    let mut sent = 0;
    while sent < REQUESTS_MAX {
        let Ok(client) = ServiceClient::connect(from, target, None).await else {
            sleep(Duration::from_secs(1)).await;
            sent += 1;
            continue;
        };
        let lanes = (0..AT_A_TIME).map(|lane| {
            let (client, requests) = (&client.raw, &requests);
            async move {
                let mut count = 0;
                let mut failures = 0;
                // A client whose connection has ended reconnects.
                while failures < 10 && count < REQUESTS_MAX / AT_A_TIME {
                    let (protocol, request) = &requests[(first + lane + count) % requests.len()];
                    let asking = client.ask(protocol.clone(), request);
                    let is_answered = timeout(PATIENCE, asking).await.is_ok_and(|is| is.is_ok());
                    failures = if is_answered { 0 } else { failures + 1 };
                    count += 1;
                }
                count
            }
        });
        sent += futures::future::join_all(lanes).await.iter().sum::<usize>();
    }
}
