//! Messages of four sizes along the line, timed hop by hop.

use std::time::{Duration, Instant};

use undertone_message::{MessageHash, WakuMessage};
use undertone_node::driver::{NodeEvent, TimedEvent};
use undertone_node::handle::Delivery;
use undertone_rln::PoolSnapshot;

use super::error::DemoError;
use super::line::{DemoLine, DemoNode, NODES, WITH_TOKENS};
use crate::Progress;
use crate::payload::incompressible;

/// Payload sizes of the paper, bytes (the paper's kB are decimal).
const SIZES: [usize; 4] = [2_000, 25_000, 100_000, 500_000];

/// Time after which a message that has not arrived counts as lost.
const LOST_AFTER: Duration = Duration::from_secs(10);

/// Times of one hop, medians in milliseconds.
#[derive(Clone, Copy, Debug, Default, serde::Serialize)]
pub struct HopMedians {
    /// Time from leaving a node to the last byte at the next.
    pub transmit_ms: f64,
    /// Time from the last byte to the verdict.
    pub validate_ms: f64,
}

/// Results of all runs with one payload size, medians in milliseconds.
#[derive(Clone, Debug, serde::Serialize)]
pub struct SizeLatency {
    /// Size of the payload, bytes.
    pub size_bytes: usize,
    /// Number of messages.
    pub runs: u32,
    /// Deliveries that were made.
    pub delivered: usize,
    /// Deliveries that were expected.
    pub expected: usize,
    /// Messages that were signed with a token prepared beforehand.
    pub with_token: u32,
    /// Time from the request for the proof until the proof is made.
    pub prove_ms: f64,
    /// Times of each hop of the line.
    pub hops: Vec<HopMedians>,
    /// Time from the request for the proof to the last verdict.
    pub total_ms: f64,
}

/// Proofs made without tokens, after the member's own precomputation; medians in milliseconds.
#[derive(Clone, Copy, Debug, serde::Serialize)]
pub struct WithoutTokens {
    /// Number of proofs.
    pub runs: u32,
    /// Time from the request for a proof until it is made.
    pub prove_ms: f64,
}

/// Times of one message, all by the same clock.
struct MessageTimes {
    with_token: bool,
    prove: Duration,
    hops: Vec<(Duration, Duration)>,
    total: Duration,
    delivered: usize,
}

/// Sends one message that is not counted: pages, caches and TCP windows are still cold, and the first token
/// waits for the member's precomputation.
pub(crate) async fn warm_up(line: &mut DemoLine, progress: &dyn Progress) -> Result<(), DemoError> {
    progress.step("warming up");
    run(line, 1_000, 0).await.map(|_| ())
}

pub(crate) async fn measure(
    line: &mut DemoLine,
    runs: u32,
    progress: &dyn Progress,
) -> Result<Vec<SizeLatency>, DemoError> {
    let mut results = Vec::new();
    for size in SIZES {
        let mut measured = Vec::new();
        for i in 0..runs {
            progress.step(&format!(
                "{} kB down the line, run {} of {runs}",
                size / 1000,
                i + 1
            ));
            measured.push(run(line, size, i + 1).await?);
        }
        results.push(summarise(size, runs, &measured));
    }
    Ok(results)
}

/// Measures proofs made without tokens, by publishing from the other end of the line.
pub(crate) async fn without_tokens(
    line: &mut DemoLine,
    runs: u32,
    progress: &dyn Progress,
) -> Result<WithoutTokens, DemoError> {
    let node = NODES - 1;
    let mut times = Vec::new();
    // The first proof is not counted: it includes the member's precomputation.
    for i in 0..=runs {
        progress.step(&format!("proofs in full, run {i} of {runs}"));
        let message = WakuMessage::new(
            incompressible(i.into(), SIZES[0]),
            "/undertone/1/demo-full/proto",
        );
        let publisher = &line.nodes[node].running.handle;
        publisher
            .publish(line.network.topic.clone(), message)
            .await
            .map_err(|reason| DemoError::Publish { node, reason })?;
        let (asked, made) = proof_times(line, node).await?;
        if i > 0 {
            times.push(made.saturating_duration_since(asked));
        }
    }
    Ok(WithoutTokens {
        runs,
        prove_ms: median(times),
    })
}

async fn run(line: &mut DemoLine, size: usize, run: u32) -> Result<MessageTimes, DemoError> {
    let message = WakuMessage::new(incompressible(run.into(), size), "/undertone/1/demo/proto");
    let topic = line.network.topic.clone();
    line.wait_for_token(WITH_TOKENS).await;
    let taken_before = line.tokens(WITH_TOKENS).await;
    let publisher = &line.nodes[WITH_TOKENS].running.handle;
    let node = WITH_TOKENS;
    let published = publisher
        .publish(topic, message)
        .await
        .map_err(|reason| DemoError::Publish { node, reason })?;
    let (asked, made) = proof_times(line, node).await?;
    let taken_after = line.tokens(WITH_TOKENS).await;
    let mut arrivals = Vec::new();
    for node in &mut line.nodes {
        let Some(delivery) = arrival(node, published.hash()).await else {
            break;
        };
        arrivals.push(delivery);
    }
    let mut hops = Vec::new();
    for pair in arrivals.windows(2) {
        let left = if hops.is_empty() {
            pair[0].received
        } else {
            pair[0].validated
        };
        let transmit = pair[1].received.saturating_duration_since(left);
        hops.push((
            transmit,
            pair[1]
                .validated
                .saturating_duration_since(pair[1].received),
        ));
    }
    let end = arrivals.last().map_or(made, |delivery| delivery.validated);
    let taken = |pool: Option<PoolSnapshot>| pool.map(|pool| pool.taken_total);
    Ok(MessageTimes {
        with_token: taken(taken_after) > taken(taken_before),
        prove: made.saturating_duration_since(asked),
        delivered: hops.len(),
        hops,
        total: end.saturating_duration_since(asked),
    })
}

async fn proof_times(line: &mut DemoLine, at: usize) -> Result<(Instant, Instant), DemoError> {
    let node = &mut line.nodes[at];
    loop {
        match node.events.recv().await {
            Some(TimedEvent {
                event: NodeEvent::Proved { asked, made },
                ..
            }) => {
                return Ok((asked, made));
            }
            Some(_) => {}
            None => return Err(DemoError::NodeGone { node: at }),
        }
    }
}

async fn arrival(node: &mut DemoNode, hash: MessageHash) -> Option<Delivery> {
    let wait = async {
        while let Some(delivery) = node.deliveries.recv().await {
            if delivery.hash() == hash {
                return Some(delivery);
            }
        }
        None
    };
    tokio::time::timeout(LOST_AFTER, wait).await.ok().flatten()
}

fn summarise(size_bytes: usize, runs: u32, measured: &[MessageTimes]) -> SizeLatency {
    let median_of = |of: &dyn Fn(&MessageTimes) -> Option<Duration>| {
        median(measured.iter().filter_map(of).collect())
    };
    let hops = (0..NODES - 1)
        .map(|hop| HopMedians {
            transmit_ms: median_of(&|run| run.hops.get(hop).map(|h| h.0)),
            validate_ms: median_of(&|run| run.hops.get(hop).map(|h| h.1)),
        })
        .collect();
    SizeLatency {
        size_bytes,
        runs,
        delivered: measured.iter().map(|run| run.delivered).sum(),
        expected: runs as usize * (NODES - 1),
        with_token: measured.iter().map(|run| u32::from(run.with_token)).sum(),
        prove_ms: median_of(&|run| Some(run.prove)),
        hops,
        total_ms: median_of(&|run| Some(run.total)),
    }
}

/// Returns the median in milliseconds, or 0 for no times.
fn median(mut times: Vec<Duration>) -> f64 {
    times.sort_unstable();
    times
        .get(times.len() / 2)
        .map_or(0.0, |time| time.as_secs_f64() * 1e3)
}
