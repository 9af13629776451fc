//! One node that publishes far more than it may, and what becomes of its connections.

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

/// Honest nodes that the spammer connects to.
const VICTIMS: usize = 10;
/// Seed of which ones.
const SEED: u64 = 2;
/// Payload of a message, bytes.
const SIZE_BYTES: usize = 200;
/// How often the spammer's peers are counted.
const SAMPLE: Duration = Duration::from_millis(50);
/// How long the honest nodes may take to let the spammer into their meshes.
const JOIN_LIMIT: Duration = Duration::from_secs(10);

/// How long the spammer's tokens last. In `undertone lab run spam` its peers are gone 0.25 s after its
/// first message; they were gone after 1.1 s at most in seven runs in which it proved each message.
const TOKENS_LAST: Duration = Duration::from_secs(2);
/// Preparing all tokens may take so many times as long as one of them suggests.
const SLOWER: f64 = 1.5;
/// It is said how far preparing is after each so many.
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

/// Connects the spammer, the last of the nodes, and waits until all of its victims have it as a peer
/// that speaks pubsub.
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

/// Peers of a node that are in the topic, as far as it knows: whom its messages go to.
async fn subscribed(node: &Node, nodes: &Nodes) -> usize {
    let peers = node.running.handle.peers().await.unwrap_or_default();
    let subscribed = peers
        .iter()
        .filter(|peer| peer.topics.contains(&nodes.topic));
    subscribed.count()
}

/// Prepares what the attack takes while it has peers, for the epochs that it will be in. Blocks.
fn hoard(mut hoarder: Hoarder, plan: &SpamPlan) -> Result<Schedule, NodesError> {
    let interval = Duration::from_secs_f64(plan.interval_s);
    let lasts = TOKENS_LAST.as_secs_f64().min(plan.duration_s);
    let messages = (lasts / plan.interval_s).ceil() as u32;
    // The first token of a process takes longest, by far.
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

/// What the spammer did.
struct Sent {
    sent_s: Vec<f64>,
    attempted: u64,
}

/// Publishes for as long as planned and counts peers meanwhile, from the first message on. Messages
/// of a spammer that nobody is connected to any more count as attempts.
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
        // What a busy moment has delayed is made up for, so that the rate is the plan's. Without tokens,
        // proofs take longer than the interval: a machine sends no faster than it proves.
        ticks.set_missed_tick_behavior(MissedTickBehavior::Burst);
        while Instant::now() < end {
            ticks.tick().await;
            // Refused or sent to nobody for want of peers: what the attack is to end in.
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
