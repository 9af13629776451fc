//! Honest messages: their publication, arrivals and latencies.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use undertone_message::WakuMessage;

use super::node::{Delivered, Node, POLL};
use crate::host::monotonic_ns;

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
    fn delivered(&self) -> BTreeMap<String, Delivered> {
        match self {
            Self::Node(node) => node.delivered(),
            Self::Peer(log) => log.lock().clone(),
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
            self.lock().entry(topic).or_insert(now);
        }
    }

    fn lock(&self) -> std::sync::MutexGuard<'_, BTreeMap<String, Delivered>> {
        // The guarded map is changed by single calls, so a panic elsewhere leaves it consistent.
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
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
    /// Last message, counted from 0, that did not arrive promptly; `None` if all did.
    pub last_troubled: Option<u32>,
}

impl Arrived {
    /// Returns a percentile of the latencies by nearest rank; `None` if nothing arrived.
    #[must_use]
    pub fn percentile_ms(&self, percent: usize) -> Option<f64> {
        let rank = (self.latencies_ms.len() * percent).div_ceil(100).max(1);
        self.latencies_ms.get(rank - 1).copied()
    }

    /// Whether every message arrived at every receiver.
    #[must_use]
    pub fn is_complete(&self) -> bool {
        self.delivered == self.sent
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
    // A refused message counts as sent, because its user wanted it to arrive.
    futures::future::join_all(publishing).await;
    let until = Instant::now() + load.patience;
    loop {
        let arrived = look(load, flows, content_topic);
        if arrived.is_complete() || Instant::now() >= until {
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
                let mut is_prompt = false;
                if let Some(there) = got.get(&topic) {
                    arrived.delivered += 1;
                    if let Some(here) = sent.get(&topic) {
                        let ns = there.validated_ns.saturating_sub(here.received_ns);
                        arrived.latencies_ms.push(ns as f64 / 1e6);
                        is_prompt = u128::from(ns) <= load.prompt.as_nanos();
                    }
                }
                if !is_prompt {
                    arrived.last_troubled = arrived.last_troubled.max(Some(*n));
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
