//! Spam attack: one node publishes far more than its limit, and its connections are counted.

use std::collections::BTreeMap;
use std::time::{Duration, Instant};

use rand_chacha::ChaCha8Rng;
use rand_core::SeedableRng;
use tokio::sync::mpsc;
use tokio::time::{MissedTickBehavior, interval, interval_at};
use undertone_lab::experiment::{SpamPlan, SpamRun};
use undertone_node::driver::NodeEvent;

use crate::Progress;
use crate::attack::{ReusedIds, Schedule, Stock, StockpiledProofs, Stockpiler, epoch_at, unix_now};
use crate::in_process::{
    ArrivalLog, Limit, LocalNode, LocalNodes, NodesError, Publishes, choose, connected, identity,
    numbered, within,
};

/// Number of honest nodes that the spammer connects to.
const VICTIMS: usize = 10;
/// Seed of the random choice of those nodes.
const SEED: u64 = 2;
/// Payload of a message, bytes.
const SIZE_BYTES: usize = 200;
/// Interval at which the spammer's peers are counted.
const SAMPLE: Duration = Duration::from_millis(50);
/// Time limit for the spammer to learn that its victims subscribe to the topic.
const JOIN_LIMIT: Duration = Duration::from_secs(10);

/// Time for which the spammer's tokens last. In `undertone lab run spam` its peers are gone 0.25 s after its
/// first message; in seven runs in which it proved each message, they were gone after at most 1.1 s.
const TOKENS_LAST: Duration = Duration::from_secs(2);
/// Safety factor on the time for preparing all tokens, which is estimated from one token.
const SLOWER: f64 = 1.5;
/// Number of tokens prepared between two progress reports.
const TELL_EVERY: u32 = 10;

/// Runs the plan. Honest nodes are members that only relay.
///
/// # Errors
/// Returns [`NodesError`] when the plan is out of range or the nodes cannot run here.
pub async fn run(plan: SpamPlan, progress: &dyn Progress) -> Result<SpamRun, NodesError> {
    within("nodes", plan.nodes, 2.0..=1_000.0)?;
    within("interval_s", plan.interval_s, 0.001..=60.0)?;
    within("duration_s", plan.duration_s, 0.1..=3_600.0)?;
    within("limit", plan.limit, 1.0..=65_535.0)?;
    within("epoch_s", plan.epoch_s as f64, 1.0..=86_400.0)?;
    let count = plan.nodes as usize;
    let limit = Limit {
        messages: plan.limit,
        epoch_s: plan.epoch_s,
        members: plan.nodes,
    };
    let mut crowd = LocalNodes::new(count, Some(limit))?;
    let arrivals = ArrivalLog::default();
    for node in 0..count - 1 {
        crowd.start(Publishes::Nothing).await?;
        arrivals.watch(&crowd.nodes[node].running.handle);
    }
    crowd.connect().await?;
    let (member, terms) = crowd.next_member().expect("they were made with a limit");
    let prepared = member
        .member()?
        .expect("a registry in a file knows every path");
    let stockpiler = Stockpiler::new(prepared, terms, crowd.folder(), Stock::default())?;
    let stock = stockpiler.stock();
    let otherwise = ReusedIds::new(member);
    let proofs = StockpiledProofs {
        stock: stock.clone(),
        otherwise,
    };
    crowd.start(Publishes::With(Box::new(proofs))).await?;
    join(&crowd).await?;
    let schedule = stockpile(stockpiler, &plan, progress).await?;
    let prepared = schedule.messages.keys().map(|epoch| stock.count(*epoch));
    let prepared = prepared.sum::<usize>();
    tokio::time::sleep(schedule.opens.saturating_sub(unix_now())).await;
    progress.step("the attack");

    let (peers, SpamSent { sent_s, attempted }) = attack(&crowd, &plan).await?;
    let honest = count - 1;
    let mut reached: BTreeMap<u32, usize> = BTreeMap::new();
    for arrival in arrivals.list() {
        *reached.entry(arrival.message).or_default() += 1;
    }
    let delivered = reached.values().filter(|&&nodes| nodes == honest).count();
    let secret = identity(honest);
    let recovered = |node: &mut LocalNode| {
        std::iter::from_fn(|| node.events.try_recv().ok()).any(|timed| match timed.event {
            NodeEvent::SpammerExposed { secret: found, .. } => found.secret() == secret.secret(),
            _ => false,
        })
    };
    let secret_recovered = crowd.nodes.iter_mut().any(recovered);
    crowd.stop().await;
    Ok(SpamRun {
        peers,
        prepared: prepared as u64,
        sent_s,
        attempted,
        delivered: delivered as u64,
        secret_recovered,
    })
}

/// Connects the spammer, the last of the nodes, to its victims and waits until it knows that all of them
/// subscribe to the topic, or a time limit has passed.
async fn join(crowd: &LocalNodes) -> Result<(), NodesError> {
    let (spammer, honest) = crowd
        .nodes
        .split_last()
        .expect("the spammer was started last");
    let mut victims: Vec<&LocalNode> = honest.iter().collect();
    choose(&mut ChaCha8Rng::seed_from_u64(SEED), &mut victims, VICTIMS);
    let handle = &spammer.running.handle;
    for address in victims
        .iter()
        .flat_map(|node| node.running.addresses.first())
    {
        let dialled = handle.connect(address.clone()).await;
        let node = honest.len();
        dialled.map_err(|reason| NodesError::Connect { node, reason })?;
    }
    let deadline = Instant::now() + JOIN_LIMIT;
    while subscribed(spammer, crowd).await < victims.len() && Instant::now() < deadline {
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
    Ok(())
}

/// Returns how many of a node's peers it knows to subscribe to the topic: the receivers of its messages.
async fn subscribed(node: &LocalNode, crowd: &LocalNodes) -> usize {
    let peers = node.running.handle.peers().await.unwrap_or_default();
    let subscribed = peers
        .iter()
        .filter(|peer| peer.topics.contains(&crowd.network.topic));
    subscribed.count()
}

/// Prepares the tokens that the attack needs while it has peers, for the epochs of its schedule.
async fn stockpile(
    stockpiler: Stockpiler,
    plan: &SpamPlan,
    progress: &dyn Progress,
) -> Result<Schedule, NodesError> {
    let (sender, mut prepared) = mpsc::unbounded_channel();
    let plan = *plan;
    let stockpiling =
        tokio::task::spawn_blocking(move || stockpile_blocking(stockpiler, &plan, &sender));
    // Ends when the thread drops its sender.
    while let Some((done, messages)) = prepared.recv().await {
        progress.step(&format!("{done} of {messages} tokens prepared"));
    }
    stockpiling.await.expect("preparing does not panic")
}

/// Prepares the tokens on this thread; sends (tokens done, tokens in total) to `tell`.
fn stockpile_blocking(
    mut stockpiler: Stockpiler,
    plan: &SpamPlan,
    tell: &mpsc::UnboundedSender<(u32, u32)>,
) -> Result<Schedule, NodesError> {
    let interval = Duration::from_secs_f64(plan.interval_s);
    let lasts = TOKENS_LAST.as_secs_f64().min(plan.duration_s);
    let messages = (lasts / plan.interval_s).ceil() as u32;
    // The first token of a process takes by far the longest, so the second one is timed.
    stockpiler.prepare(epoch_at(unix_now(), plan.epoch_s))?;
    let began = Instant::now();
    stockpiler.prepare(epoch_at(unix_now(), plan.epoch_s))?;
    let preparing = began.elapsed().mul_f64(SLOWER) * messages;
    let schedule = Schedule::new(unix_now() + preparing, messages, interval, plan.epoch_s);
    let epochs = schedule.messages.iter();
    let epochs = epochs.flat_map(|(epoch, count)| std::iter::repeat_n(*epoch, *count as usize));
    for (done, epoch) in (0..messages).zip(epochs) {
        if done % TELL_EVERY == 0 {
            // Fails if nobody listens any more; the tokens are prepared nevertheless.
            let _ = tell.send((done, messages));
        }
        stockpiler.prepare(epoch)?;
    }
    Ok(schedule)
}

/// Messages that the spammer sent and attempted.
struct SpamSent {
    sent_s: Vec<f64>,
    attempted: u64,
}

/// Publishes for the planned duration while counting the spammer's peers, both from the first message on.
/// Messages that the spammer publishes without peers count as attempts.
async fn attack(
    crowd: &LocalNodes,
    plan: &SpamPlan,
) -> Result<(Vec<(f64, u32)>, SpamSent), NodesError> {
    let spammer = crowd.nodes.last().expect("the spammer was started last");
    let handle = &spammer.running.handle;
    let publish =
        |number: u32| handle.publish(crowd.network.topic.clone(), numbered(number, SIZE_BYTES));
    publish(0).await.map_err(NodesError::Publish)?;
    let began = Instant::now();
    let end = began + Duration::from_secs_f64(plan.duration_s);
    let spam = async {
        let mut sent_s = vec![0.0];
        let mut attempted = 1;
        let interval = Duration::from_secs_f64(plan.interval_s);
        let mut ticks = interval_at((began + interval).into(), interval);
        // Late ticks are caught up, so that the mean rate is the plan's. Without tokens, proofs take longer
        // than the interval, and the prover limits the rate.
        ticks.set_missed_tick_behavior(MissedTickBehavior::Burst);
        while Instant::now() < end {
            ticks.tick().await;
            // Fails or reaches nobody once the spammer has no peers, which is the expected end of the attack.
            let published = publish(attempted).await;
            if published.is_ok_and(|published| published.peers > 0) {
                sent_s.push(began.elapsed().as_secs_f64());
            }
            attempted += 1;
        }
        let attempted = u64::from(attempted);
        SpamSent { sent_s, attempted }
    };
    let sample = async {
        let mut peers = Vec::new();
        let mut ticks = interval(SAMPLE);
        ticks.set_missed_tick_behavior(MissedTickBehavior::Skip);
        while Instant::now() < end {
            ticks.tick().await;
            let now_connected = u32::try_from(connected(handle).await);
            peers.push((
                began.elapsed().as_secs_f64(),
                now_connected.unwrap_or(u32::MAX),
            ));
        }
        peers
    };
    let (sent, peers) = tokio::join!(spam, sample);
    Ok((peers, sent))
}
