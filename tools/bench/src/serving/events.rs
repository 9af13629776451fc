//! Delivery of a message to all clients of the event stream, some of which disconnect and come back.

use std::collections::BTreeMap;
use std::path::Path;
use std::time::Duration;

use tokio::sync::mpsc;
use tokio::time::{Instant, sleep, timeout_at};
use undertone_attacks::rest::{self, EventLines};
use undertone_attacks::{HostileError, Tasks};
use undertone_node_process::host::monotonic_ns;

use crate::serving::ServingOptions;
use crate::serving::network::{ServingNetwork, topic};
use crate::serving::report::ServingFigures;

const PATH: &str = "/events/v1/messages";
/// Pause between messages, and time for the node's log to be complete.
const PAUSE: Duration = Duration::from_millis(100);
/// Time limit for messages still missing when the last one was published.
const PATIENCE: Duration = Duration::from_secs(30);
/// One in `RESTLESS` clients ends its stream after every `MESSAGES_A_STREAM` messages and reconnects with its
/// cursor.
const RESTLESS: u32 = 10;
const MESSAGES_A_STREAM: u32 = 5;
/// Time for which such a client stays away: about as long as two messages take.
const AWAY: Duration = Duration::from_millis(200);

/// Arrival of a message at a client.
struct EventArrival {
    client: u32,
    topic: String,
    at_ns: u64,
}

pub(crate) async fn measure(
    program: &Path,
    options: &ServingOptions,
) -> Result<ServingFigures, HostileError> {
    let network = ServingNetwork::start(program, 1, false).await?;
    let (sender, mut arrivals) = mpsc::unbounded_channel();
    let mut tasks = Tasks::default();
    for client in 0..options.clients {
        let stream = rest::events(network.edge.rest(), PATH, None).await;
        let stream = stream.map_err(|source| HostileError::Io {
            what: "cannot open an event stream",
            source,
        })?;
        let (rest, sender) = (network.edge.rest(), sender.clone());
        tasks.spawn(async move {
            let mut stream = stream;
            loop {
                let cursor = read(client, &mut stream, &sender).await;
                drop(stream);
                sleep(AWAY).await;
                // Refused until the node has noticed that the client's last stream has ended.
                stream = loop {
                    match rest::events(rest, PATH, cursor.as_deref()).await {
                        Ok(next) => break next,
                        Err(_) => sleep(AWAY).await,
                    }
                };
            }
        });
    }
    eprintln!("{} clients have a stream", options.clients);
    let before = network.look();
    for number in 0..options.messages {
        sleep(PAUSE).await;
        network.publish(number, options.payload_bytes).await;
    }
    let expected = (options.clients * options.messages) as usize;
    let until = Instant::now() + PATIENCE;
    let mut got: BTreeMap<(String, u32), u64> = BTreeMap::new();
    let mut repeated = 0;
    while got.len() < expected {
        let Ok(Some(arrival)) = timeout_at(until, arrivals.recv()).await else {
            break;
        };
        let key = (arrival.topic, arrival.client);
        repeated += usize::from(got.insert(key, arrival.at_ns).is_some());
    }
    let node = [before, network.look()];
    sleep(PAUSE).await;
    let known = network.edge.delivered();
    let mut last_ms = Vec::new();
    for number in 0..options.messages {
        let topic = topic(number);
        let steady = got
            .iter()
            .filter(|((of, client), _)| *of == topic && client % RESTLESS != 0);
        let last_ns = steady.map(|(_, at_ns)| *at_ns).max();
        if let (Some(accepted), Some(last_ns)) = (known.get(&topic), last_ns) {
            last_ms.push(last_ns.saturating_sub(accepted.validated_ns) as f64 / 1e6);
        }
    }
    Ok(ServingFigures {
        about: format!(
            "event stream: {} clients, of which one in {RESTLESS} goes away for {AWAY:?} after every \
             {MESSAGES_A_STREAM} messages; {} messages of {} bytes, from the relay's acceptance on",
            options.clients, options.messages, options.payload_bytes
        ),
        expected,
        arrived: got.len(),
        repeated,
        times: vec![("last client that stays", last_ms)],
        node,
        messages: options.messages,
    })
}

/// Reads a stream until it ends, or until a restless client leaves; returns the cursor to continue from.
async fn read(
    client: u32,
    stream: &mut EventLines,
    arrivals: &mpsc::UnboundedSender<EventArrival>,
) -> Option<String> {
    let mut count = 0;
    while let Some(data) = stream.next().await {
        let event: serde_json::Value = serde_json::from_str(&data).unwrap_or_default();
        if let Some(topic) = event["message"]["contentTopic"].as_str() {
            let arrival = EventArrival {
                client,
                topic: topic.to_owned(),
                at_ns: monotonic_ns(),
            };
            if arrivals.send(arrival).is_err() {
                break;
            }
            count += 1;
        }
        if client.is_multiple_of(RESTLESS) && count >= MESSAGES_A_STREAM {
            break;
        }
    }
    stream.id().map(ToOwned::to_owned)
}
