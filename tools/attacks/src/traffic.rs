//! Honest messages: their publication, arrivals and latencies.

use std::collections::BTreeMap;
use std::fmt;
use std::sync::Arc;
use std::time::{Duration, Instant};

use parking_lot::Mutex;
use serde::Serialize;
use undertone_message::WakuMessage;

use super::node::{Delivered, Node, POLL};
use undertone_node_process::host::monotonic_ns;

/// Number, rate and size of the messages to publish, and the limits of their arrival.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Load {
    /// Number of messages over all flows.
    pub messages: u32,
    /// Interval between two messages.
    pub interval: Duration,
    /// Size of a payload, bytes; at least 12 are sent.
    pub payload_bytes: usize,
    /// Time limit for missing messages after the last one was sent.
    pub patience: Duration,
    /// Longest latency of a prompt message; a later one counts as troubled.
    pub prompt: Duration,
}

/// Publisher and its receivers. The messages of a load go to all flows in turn.
#[derive(Clone, Debug)]
pub struct Flow<'a> {
    /// Node that publishes the messages.
    pub from: &'a Node,
    /// Inboxes that must receive each message.
    pub to: Vec<Inbox<'a>>,
}

/// Receiver whose deliveries are read.
#[derive(Clone, Debug)]
pub enum Inbox<'a> {
    /// Node, which logs its deliveries.
    Node(&'a Node),
    /// Log of a peer that is not a node.
    Peer(PeerLog),
}

impl Inbox<'_> {
    fn name(&self) -> &str {
        match self {
            Self::Node(node) => node.name(),
            Self::Peer(_) => "a peer that is not a node",
        }
    }

    fn delivered(&self) -> BTreeMap<String, Delivered> {
        match self {
            Self::Node(node) => node.delivered(),
            Self::Peer(log) => log.0.lock().clone(),
        }
    }
}

/// Log of the messages that a peer has received, by content topic; clones share it.
#[derive(Clone, Debug, Default)]
pub struct PeerLog(Arc<Mutex<BTreeMap<String, Delivered>>>);

impl PeerLog {
    /// Records the first copy of a message; ignores data that is not a `WakuMessage`.
    pub fn note(&self, data: &bytes::Bytes) {
        let now_ns = monotonic_ns();
        if let Ok(message) = WakuMessage::decode(data) {
            let now = Delivered {
                received_ns: now_ns,
                validated_ns: now_ns,
            };
            let topic = message.content_topic.to_string();
            self.0.lock().entry(topic).or_insert(now);
        }
    }
}

/// Numbers and latencies of messages that arrived.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Arrived {
    /// Number of messages times receivers.
    pub sent: usize,
    /// Number of these that arrived.
    pub delivered: usize,
    /// Times from a message's sending at its publisher to its validation at a receiver, ascending,
    /// milliseconds.
    pub latencies_ms: Vec<f64>,
    /// Last message that did not arrive promptly; `None` if all did.
    pub last_troubled: Option<Troubled>,
}

/// Message that did not arrive promptly at one of its receivers.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Troubled {
    /// Number of the message in its load, from 0.
    pub message: u32,
    /// Name of the node that published the message.
    pub publisher: String,
    /// Name of the receiver.
    pub receiver: String,
    /// Time from the message's sending to its validation at the receiver, milliseconds; `None` if the
    /// message did not arrive, or if its publisher did not send it.
    pub latency_ms: Option<f64>,
    /// Whether the publisher accepted and sent the message.
    pub was_published: bool,
}

impl Arrived {
    /// Returns a percentile of the latencies by nearest rank; `None` if nothing arrived.
    #[must_use]
    pub fn percentile_ms(&self, percent: usize) -> Option<f64> {
        let rank = (self.latencies_ms.len() * percent).div_ceil(100).max(1);
        self.latencies_ms.get(rank - 1).copied()
    }

    /// Whether every message arrived at every receiver and its publisher has logged the time of sending,
    /// which may happen shortly after the arrival.
    fn is_measured(&self) -> bool {
        self.latencies_ms.len() == self.sent
    }

    /// Whether every message arrived at every receiver.
    #[must_use]
    pub fn is_complete(&self) -> bool {
        self.delivered == self.sent
    }
}

impl fmt::Display for Troubled {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self {
            message,
            publisher,
            receiver,
            ..
        } = self;
        write!(f, "message {message} from {publisher} to {receiver} ")?;
        match (self.was_published, self.latency_ms) {
            (false, _) => f.write_str("was not published"),
            (true, Some(latency_ms)) => write!(f, "took {latency_ms:.0} ms"),
            (true, None) => f.write_str("did not arrive"),
        }
    }
}

/// Publishes on `pubsub_topic` and waits for the messages to arrive. `prefix` has the form
/// `/application/version` and belongs to the topic's shard; `run` makes the messages of each run unique.
pub async fn run(
    load: &Load,
    flows: &[Flow<'_>],
    (pubsub_topic, prefix): (&str, &str),
    run: u64,
) -> Arrived {
    let content_topic = |n: u32| format!("{prefix}/{run}-{n}/proto");
    let publishing = (0..load.messages).map(|n| {
        let flow = &flows[n as usize % flows.len()];
        async move {
            tokio::time::sleep(load.interval * n).await;
            let mut payload = vec![0; load.payload_bytes.max(12)];
            payload[..8].copy_from_slice(&run.to_be_bytes());
            payload[8..12].copy_from_slice(&n.to_be_bytes());
            let content_topic = content_topic(n);
            flow.from
                .publish(pubsub_topic, &content_topic, &payload)
                .await
        }
    });
    // A refused message counts as sent, because its user wanted to send it.
    futures::future::join_all(publishing).await;
    let until = Instant::now() + load.patience;
    loop {
        let arrived = look(load, flows, content_topic);
        if arrived.is_measured() || Instant::now() >= until {
            return arrived;
        }
        tokio::time::sleep(POLL * 10).await;
    }
}

fn look(load: &Load, flows: &[Flow<'_>], content_topic: impl Fn(u32) -> String) -> Arrived {
    let mut arrived = Arrived::default();
    for (index, flow) in flows.iter().enumerate() {
        let sent = flow.from.delivered();
        let numbers = (0..load.messages).filter(|n| *n as usize % flows.len() == index);
        let numbers: Vec<_> = numbers.collect();
        for receiver in &flow.to {
            let got = receiver.delivered();
            for n in &numbers {
                arrived.sent += 1;
                let topic = content_topic(*n);
                let (here, there) = (sent.get(&topic), got.get(&topic));
                arrived.delivered += usize::from(there.is_some());
                let latency_ns = here
                    .zip(there)
                    .map(|(here, there)| there.validated_ns.saturating_sub(here.received_ns));
                let latency_ms = latency_ns.map(|ns| ns as f64 / 1e6);
                arrived.latencies_ms.extend(latency_ms);
                let is_prompt = |ns| u128::from(ns) <= load.prompt.as_nanos();
                let last = arrived.last_troubled.as_ref();
                if !latency_ns.is_some_and(is_prompt) && last.is_none_or(|last| last.message <= *n)
                {
                    arrived.last_troubled = Some(Troubled {
                        message: *n,
                        publisher: flow.from.name().to_owned(),
                        receiver: receiver.name().to_owned(),
                        latency_ms,
                        was_published: here.is_some(),
                    });
                }
            }
        }
    }
    arrived.latencies_ms.sort_by(f64::total_cmp);
    arrived
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn percentiles_are_of_the_nearest_rank() {
        let arrived = Arrived {
            sent: 4,
            delivered: 4,
            latencies_ms: vec![1.0, 2.0, 3.0, 40.0],
            last_troubled: None,
        };
        assert_eq!(arrived.percentile_ms(50), Some(2.0));
        assert_eq!(arrived.percentile_ms(95), Some(40.0));
        assert_eq!(Arrived::default().percentile_ms(50), None);
    }
}
