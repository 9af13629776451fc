//! Spam attack: one node publishes far more than its limit, and its connections are counted.

use std::collections::BTreeMap;
use std::time::{Duration, Instant};

use rand_chacha::ChaCha8Rng;
use rand_core::SeedableRng;
use tokio::time::{MissedTickBehavior, interval, interval_at};
use undertone_lab::experiment::{SpamPlan, SpamRun};
use undertone_node::driver::NodeEvent;

use super::arrivals::{Arrivals, numbered};
use super::child::say;
use super::error::{NodesError, within};
use super::hoard::Hoarder;
use super::nodes::{Limit, Node, Nodes, Publishes, connected};
use super::schedule::{Schedule, epoch_at, unix_now};
use super::{rln, topology};

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

/// Time that the spammer's tokens last. In `undertone lab run spam` its peers are gone 0.25 s after its
/// first message; in seven runs in which it proved each message they were gone after 1.1 s at most.
const TOKENS_LAST: Duration = Duration::from_secs(2);
/// Safety factor on the time for preparing all tokens, which is estimated from one token.
const SLOWER: f64 = 1.5;
/// Number of tokens between two progress reports.
const SAY_EVERY: u32 = 10;

/// Runs the plan. Honest nodes are members that only relay.
pub(super) async fn run(plan: SpamPlan) -> Result<SpamRun, NodesError> {
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
    let mut nodes = Nodes::new(count, Some(limit))?;
    let arrivals = Arrivals::default();
    for node in 0..count - 1 {
        nodes.start(Publishes::Nothing).await?;
        arrivals.watch(&nodes.all[node].running.handle);
    }
    nodes.connect().await?;
    let hoarder = nodes.hoarder()?.expect("the nodes were made with a limit");
    let stock = hoarder.stock();
    nodes.start(Publishes::Again(stock.clone())).await?;
    join(&nodes).await?;
    let hoarding = tokio::task::spawn_blocking(move || hoard(hoarder, &plan));
    let schedule = hoarding.await.expect("preparing does not panic")?;
    let prepared = schedule.messages.keys().map(|epoch| stock.count(*epoch));
    let prepared = prepared.sum::<usize>();
    tokio::time::sleep(schedule.opens.saturating_sub(unix_now())).await;
    say("the attack");

    let (peers, Sent { sent_s, attempted }) = attack(&nodes, &plan).await?;
    let honest = count - 1;
    let mut reached: BTreeMap<u32, usize> = BTreeMap::new();
    for arrival in arrivals.list() {
        *reached.entry(arrival.message).or_default() += 1;
    }
    let delivered = reached.values().filter(|&&nodes| nodes == honest).count();
    let secret = rln::identity(honest);
    let recovered = |node: &mut Node| {
        std::iter::from_fn(|| node.events.try_recv().ok()).any(|timed| match timed.event {
            NodeEvent::SpammerExposed { secret: found, .. } => found.secret() == secret.secret(),
            _ => false,
        })
    };
    let secret_recovered = nodes.all.iter_mut().any(recovered);
    nodes.stop().await;
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
async fn join(nodes: &Nodes) -> Result<(), NodesError> {
    let (spammer, honest) = nodes
        .all
        .split_last()
        .expect("the spammer was started last");
    let mut victims: Vec<&Node> = honest.iter().collect();
    topology::choose(&mut ChaCha8Rng::seed_from_u64(SEED), &mut victims, VICTIMS);
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
    while subscribed(spammer, nodes).await < victims.len() && Instant::now() < deadline {
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
    Ok(())
}

/// Returns how many of a node's peers it knows to subscribe to the topic: the receivers of its messages.
async fn subscribed(node: &Node, nodes: &Nodes) -> usize {
    let peers = node.running.handle.peers().await.unwrap_or_default();
    let subscribed = peers
        .iter()
        .filter(|peer| peer.topics.contains(&nodes.topic));
    subscribed.count()
}

/// Prepares the tokens that the attack needs while it has peers, for the epochs of its schedule. Blocks.
fn hoard(mut hoarder: Hoarder, plan: &SpamPlan) -> Result<Schedule, NodesError> {
    let interval = Duration::from_secs_f64(plan.interval_s);
    let lasts = TOKENS_LAST.as_secs_f64().min(plan.duration_s);
    let messages = (lasts / plan.interval_s).ceil() as u32;
    // The first token of a process takes by far the longest, so the second one is timed.
    hoarder.prepare(epoch_at(unix_now(), plan.epoch_s))?;
    let began = Instant::now();
    hoarder.prepare(epoch_at(unix_now(), plan.epoch_s))?;
    let preparing = began.elapsed().mul_f64(SLOWER) * messages;
    let schedule = Schedule::new(unix_now() + preparing, messages, interval, plan.epoch_s);
    let epochs = schedule.messages.iter();
    let epochs = epochs.flat_map(|(epoch, count)| std::iter::repeat_n(*epoch, *count as usize));
    for (done, epoch) in (0..messages).zip(epochs) {
        if done % SAY_EVERY == 0 {
            say(&format!("{done} of {messages} tokens prepared"));
        }
        hoarder.prepare(epoch)?;
    }
    Ok(schedule)
}

/// Messages that the spammer sent and attempted.
struct Sent {
    sent_s: Vec<f64>,
    attempted: u64,
}

/// Publishes for the planned duration while counting the spammer's peers, both from the first message on.
/// Messages that the spammer publishes without peers count as attempts.
async fn attack(nodes: &Nodes, plan: &SpamPlan) -> Result<(Vec<(f64, u32)>, Sent), NodesError> {
    let spammer = nodes.all.last().expect("the spammer was started last");
    let handle = &spammer.running.handle;
    let publish = |number: u32| handle.publish(nodes.topic.clone(), numbered(number, SIZE_BYTES));
    publish(0).await.map_err(NodesError::Publish)?;
    let began = Instant::now();
    let end = began + Duration::from_secs_f64(plan.duration_s);
    let spam = async {
        let mut sent_s = vec![0.0];
        let mut attempted = 1;
        let interval = Duration::from_secs_f64(plan.interval_s);
        let mut ticks = interval_at((began + interval).into(), interval);
        // Late ticks are made up for, so that the mean rate is the plan's. Without tokens, proofs take
        // longer than the interval, and the rate is limited by the prover.
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
        Sent { sent_s, attempted }
    };
    let sample = async {
        let mut peers = Vec::new();
        let mut ticks = interval(SAMPLE);
        ticks.set_missed_tick_behavior(MissedTickBehavior::Skip);
        while Instant::now() < end {
            ticks.tick().await;
            let now_connected = connected(handle).await;
            peers.push((began.elapsed().as_secs_f64(), now_connected));
        }
        peers
    };
    let (sent, peers) = tokio::join!(spam, sample);
    Ok((peers, sent))
}
