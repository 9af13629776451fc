use std::collections::BTreeMap;
use std::time::Duration;

use tokio::time::{Instant, sleep_until};
use undertone_conformance::PeerError;

use crate::chain::line::Line;

#[cfg(test)]
#[path = "tests/load.rs"]
mod tests;

/// Time without a message after which no more messages are expected at a peer.
const QUIET: Duration = Duration::from_secs(5);
/// Interval at which memory is sampled under load.
const SAMPLE: Duration = Duration::from_millis(500);

/// Messages of one size at even intervals.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Load {
    /// Payload size in bytes.
    pub(crate) size: usize,
    /// Number of messages to publish.
    pub(crate) count: u32,
    /// Interval between messages; zero for all at once.
    pub(crate) gap: Duration,
}

/// Result of one load on one line.
pub(crate) struct Outcome {
    /// Number of messages that the publisher was asked to publish.
    pub(crate) asked: usize,
    /// Number of messages that the publisher refused.
    pub(crate) refused: usize,
    /// Latencies in nanoseconds by sequence number, for each receiver in the order of the line.
    pub(crate) latency_ns: Vec<BTreeMap<u64, u64>>,
    /// Processor time of every peer in microseconds.
    pub(crate) cpu_us: Vec<f64>,
    /// Time until the last message had arrived, in microseconds.
    pub(crate) elapsed_us: f64,
    /// Highest resident memory of every peer, in KiB.
    pub(crate) rss_kib: Vec<u64>,
}

impl Load {
    /// Splits the load into `rounds` parts that differ by at most one message. A burst is not split.
    pub(crate) fn rounds(self, rounds: u32) -> impl Iterator<Item = Self> {
        let rounds = if self.gap.is_zero() {
            1
        } else {
            rounds.clamp(1, self.count.max(1))
        };
        let (share, surplus) = (self.count / rounds, self.count % rounds);
        (0..rounds).map(move |round| Self {
            count: share + u32::from(round < surplus),
            ..self
        })
    }
}

/// Publishes a load on a line and waits until all messages have arrived or none arrive any more.
pub(crate) async fn run(line: &mut Line, load: Load) -> Result<Outcome, PeerError> {
    let before = line.snapshot().await?;
    let mut rss_kib: Vec<u64> = before.rss_kib().collect();
    let start = Instant::now();
    let mut next_sample = start + SAMPLE;
    let mut pending = Vec::new();
    let mut first_seq = u64::MAX;
    for index in 0..load.count {
        sleep_until(start + load.gap * index).await;
        let (seq, reply) = line.publish(load.size).await?;
        first_seq = first_seq.min(seq);
        pending.push(reply);
        if !load.gap.is_zero() && Instant::now() >= next_sample {
            next_sample += SAMPLE;
            raise(&mut rss_kib, line.snapshot().await?.rss_kib());
        }
    }
    let asked = pending.len();
    let mut accepted = 0;
    for reply in pending {
        accepted += usize::from(line.published(reply).await?);
    }
    let latency_ns = receive(line, first_seq, accepted).await?;

    let after = line.snapshot().await?;
    raise(&mut rss_kib, after.rss_kib());
    Ok(Outcome {
        asked,
        refused: asked - accepted,
        latency_ns,
        cpu_us: after.cpu_us_since(&before),
        elapsed_us: after.elapsed_us_since(&before),
        rss_kib,
    })
}

/// Receives up to `count` messages with sequence numbers from `first_seq` on at every receiver.
async fn receive(
    line: &mut Line,
    first_seq: u64,
    count: usize,
) -> Result<Vec<BTreeMap<u64, u64>>, PeerError> {
    let mut received = Vec::new();
    for peer in line.receivers() {
        let mut by_seq = BTreeMap::new();
        while by_seq.len() < count {
            let Some(message) = peer.message_within(QUIET).await? else {
                break;
            };
            if let (Some(seq), Some(latency_ns)) = (message.seq, message.latency_ns)
                && seq >= first_seq
            {
                by_seq.insert(seq, latency_ns);
            }
        }
        received.push(by_seq);
    }
    Ok(received)
}

fn raise(highest: &mut [u64], now: impl Iterator<Item = u64>) {
    for (highest, now) in highest.iter_mut().zip(now) {
        *highest = now.max(*highest);
    }
}
