//! Network load: many nodes that publish, each once in a period.

use std::time::{Duration, Instant, UNIX_EPOCH};

use tokio::task::JoinSet;
use undertone_lab::experiment::{NetworkLoadPlan, NetworkLoadRun};
use undertone_lab::report::Stopwatch;

use crate::in_process::{ArrivalLog, Limit, LocalNodes, NodesError, Publishes, numbered, within};
use crate::measure::memory;

/// Payload of a message, bytes.
const SIZE_BYTES: usize = 2_000;
/// Fraction of a period over which messages are spread evenly. The rest keeps messages away from the
/// epochs' boundaries, so that two periods' messages fall into two epochs even on a slow machine.
const SPREAD: f64 = 0.9;
/// Time limit for the first tokens, in epochs, after which the nodes continue without.
const TOKENS_LIMIT_EPOCHS: u32 = 12;
/// Time limit for the last messages to arrive.
const DRAIN_LIMIT: Duration = Duration::from_secs(20);

/// One message: when its publication was requested, and whether it succeeded.
struct Publication {
    message: usize,
    asked: Instant,
    published: bool,
}

/// Runs the plan. A message that a node could not publish counts as missing everywhere.
///
/// # Errors
/// Returns [`NodesError`] when the plan is out of range or the nodes cannot run here.
pub async fn run(plan: NetworkLoadPlan) -> Result<NetworkLoadRun, NodesError> {
    within("nodes", plan.nodes, 2.0..=1_000.0)?;
    within("members", plan.members, f64::from(plan.nodes)..=1e6)?;
    within("period_s", plan.period_s, 0.5..=3_600.0)?;
    within("duration_s", plan.duration_s, plan.period_s..=3_600.0)?;
    let count = plan.nodes as usize;
    let limit = limit(&plan);
    let mut crowd = LocalNodes::new(count, plan.rln.then_some(limit))?;
    let arrivals = ArrivalLog::default();
    for _ in 0..count {
        crowd.start(Publishes::Honestly).await?;
    }
    for node in &crowd.nodes {
        arrivals.watch(&node.running.handle);
    }
    crowd.connect().await?;
    let epoch = Duration::from_secs(limit.epoch_s);
    crowd.prepare_tokens(epoch * TOKENS_LIMIT_EPOCHS).await?;

    tokio::time::sleep(until_next(limit.epoch_s)).await;
    let watch = Stopwatch::start();
    let began = Instant::now();
    let mut sending = publish_all(&crowd, &plan, began);
    let expected = sending.len() * (count - 1);
    let duration = Duration::from_secs_f64(plan.duration_s);
    tokio::time::sleep_until((began + duration).into()).await;
    let measured = watch.read();

    let deadline = Instant::now() + DRAIN_LIMIT;
    let mut asked = vec![None; sending.len()];
    let mut published = 0;
    while let Ok(Some(sent)) = tokio::time::timeout_at(deadline.into(), sending.join_next()).await {
        let sent = sent.expect("publishing neither panics nor is it aborted");
        asked[sent.message] = Some(sent.asked);
        published += u64::from(sent.published);
    }
    while arrivals.count() < expected && Instant::now() < deadline {
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
    let rss_bytes = memory::resident_bytes().ok_or(NodesError::Memory)?;
    let arrived = arrivals.list();
    crowd.stop().await;

    let latency = arrived.iter().filter_map(|arrival| {
        let asked = asked.get(arrival.message as usize).copied().flatten()?;
        Some(arrival.at.saturating_duration_since(asked).as_secs_f64() * 1e3)
    });
    let mut latency_ms: Vec<f64> = latency.collect();
    latency_ms.sort_by(f64::total_cmp);
    Ok(NetworkLoadRun {
        published,
        delivered: latency_ms.len() as u64,
        expected: expected as u64,
        latency_ms,
        cpu_s: measured.cpu_s,
        wall_s: measured.wall_s,
        rss_mb: rss_bytes as f64 / 1e6,
    })
}

/// Returns the least rate limit that the plan's messages fit in, with epochs of one period, rounded to
/// whole seconds.
fn limit(plan: &NetworkLoadPlan) -> Limit {
    let epoch_s = plan.period_s.round().max(1.0);
    Limit {
        messages: (epoch_s / plan.period_s).ceil() as u32,
        epoch_s: epoch_s as u64,
        members: plan.members,
    }
}

/// Returns the time until the next epoch begins.
fn until_next(epoch_s: u64) -> Duration {
    let epoch_ns = u128::from(epoch_s) * 1_000_000_000;
    let now_ns = UNIX_EPOCH.elapsed().map_or(0, |since| since.as_nanos());
    let rest_ns = epoch_ns - now_ns % epoch_ns;
    Duration::from_nanos(u64::try_from(rest_ns).unwrap_or(u64::MAX))
}

/// Starts one publication per node and period, the nodes one after another.
fn publish_all(crowd: &LocalNodes, plan: &NetworkLoadPlan, began: Instant) -> JoinSet<Publication> {
    let rounds = (plan.duration_s / plan.period_s).floor() as usize;
    let count = crowd.nodes.len();
    let mut sending = JoinSet::new();
    for round in 0..rounds {
        for (at, node) in crowd.nodes.iter().enumerate() {
            let message = round * count + at;
            let in_period = (1.0 - SPREAD) / 2.0 + SPREAD * at as f64 / count as f64;
            let after_s = (round as f64 + in_period) * plan.period_s;
            let at = began + Duration::from_secs_f64(after_s);
            let (handle, topic) = (node.running.handle.clone(), crowd.network.topic.clone());
            sending.spawn(async move {
                tokio::time::sleep_until(at.into()).await;
                let text = numbered(message as u32, SIZE_BYTES);
                let asked = Instant::now();
                let published = handle.publish(topic, text).await.is_ok();
                Publication {
                    message,
                    asked,
                    published,
                }
            });
        }
    }
    sending
}
