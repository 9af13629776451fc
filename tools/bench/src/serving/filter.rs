//! Delivery of a message to all filter clients.

use std::collections::BTreeMap;
use std::path::Path;
use std::time::Duration;

use libp2p::identity::Keypair;
use tokio::sync::mpsc;
use tokio::time::{Instant, sleep, timeout_at};
use undertone_attacks::raw::RawClient;
use undertone_attacks::test_network::pubsub_topic;
use undertone_attacks::{HostileError, asks};
use undertone_node_process::host::monotonic_ns;
use undertone_services::filter::{FilterCodecLimits, FilterStatus, MessagePush, SubscribeResponse};

use crate::serving::ServingOptions;
use crate::serving::network::{ServingNetwork, topic};
use crate::serving::report::ServingFigures;

/// Time limit for a message to reach all clients.
const PATIENCE: Duration = Duration::from_secs(30);
/// Time from the last subscription to the first message. By then all clients have been subscribed for more than a
/// second, after which the node opens their streams.
const SETTLE: Duration = Duration::from_secs(3);
/// Pause between messages, and time for the node's log to be complete.
const PAUSE: Duration = Duration::from_millis(200);

pub(crate) async fn measure(
    program: &Path,
    options: &ServingOptions,
) -> Result<ServingFigures, HostileError> {
    let network = ServingNetwork::start(program, options.clients, false).await?;
    let (sender, mut pushes) = mpsc::unbounded_channel();
    let topics: Vec<_> = (0..options.messages).map(topic).collect();
    let wanted = asks::subscribe(&pubsub_topic(0), topics);
    let mut clients = Vec::new();
    for number in 0..options.clients {
        let key = Keypair::generate_ed25519();
        let pushes = Some(sender.clone());
        let client = RawClient::dial(key, &network.edge.addr(), asks::PUSH, pushes).await?;
        let answer = client.ask(asks::FILTER, &wanted).await?;
        let answer = SubscribeResponse::decode(&answer, &FilterCodecLimits::default());
        if !matches!(&answer, Ok(answer) if answer.status == FilterStatus::OK) {
            return Err(HostileError::Unserved {
                service: "filter",
                answer: format!("{answer:?} to client {number}"),
            });
        }
        clients.push(client);
    }
    eprintln!("{} clients are subscribed", clients.len());
    sleep(SETTLE).await;
    let each = clients.len();
    let before = network.look();
    let mut arrivals: BTreeMap<u32, Vec<u64>> = BTreeMap::new();
    for number in 0..options.messages {
        sleep(PAUSE).await;
        network.publish(number, options.payload_bytes).await;
        let until = Instant::now() + PATIENCE;
        let mut so_far = Vec::with_capacity(each);
        while so_far.len() < each {
            let Ok(Some(frame)) = timeout_at(until, pushes.recv()).await else {
                break;
            };
            let now_ns = monotonic_ns();
            let push = MessagePush::decode(&frame, &FilterCodecLimits::default());
            if push.is_ok_and(|push| push.message.payload.starts_with(&number.to_be_bytes())) {
                so_far.push(now_ns);
            }
        }
        arrivals.insert(number, so_far);
    }
    let node = [before, network.look()];
    sleep(PAUSE).await;
    let known = network.edge.delivered();
    let (mut first, mut middle, mut last) = (Vec::new(), Vec::new(), Vec::new());
    let mut opening = Vec::new();
    for (number, at_ns) in &arrivals {
        let Some(accepted) = known.get(&topic(*number)) else {
            continue;
        };
        let ms = |at_ns: u64| at_ns.saturating_sub(accepted.validated_ns) as f64 / 1e6;
        if let (Some(one), Some(half), Some(all)) =
            (at_ns.first(), at_ns.get(each / 2), at_ns.get(each - 1))
        {
            if *number == 0 {
                // The first message opens a stream to each client.
                opening.push(ms(*all));
                continue;
            }
            first.push(ms(*one));
            middle.push(ms(*half));
            last.push(ms(*all));
        }
    }
    Ok(ServingFigures {
        about: format!(
            "filter: {each} clients, {} messages of {} bytes, from the relay's acceptance on",
            options.messages, options.payload_bytes
        ),
        expected: each * options.messages as usize,
        arrived: arrivals.values().map(Vec::len).sum(),
        repeated: 0,
        times: vec![
            ("first client", first),
            ("half of the clients", middle),
            ("last client", last),
            ("last client, the first message", opening),
        ],
        node,
        messages: options.messages,
    })
}
