//! Soak: hours of steady load on an honest network, to verify that the resources of its nodes reach a bound and stay
//! there.
//!
//! ```text
//! publisher ─── store-0 ─── store-1        strangers: a new identity each second, to both stores in turn
//!                   └── light ──┘          registry: a new member every five seconds
//! ```

use std::net::Ipv4Addr;
use std::path::Path;
use std::time::{Duration, Instant};

use tempfile::TempDir;
use tokio::time::{MissedTickBehavior, interval};
use undertone_gossip::Topic;
use undertone_rln::Identity;

use super::members::Members;
use super::node::{Node, NodeSpec, Target};
use super::peer::Peer;
use super::topics::{CLUSTER, prefix, pubsub_topic};
use super::{HostileError, ProcessLook, Tasks};

mod report;

pub use report::{NodeSamples, SoakReport};

/// Interval at which all processes are sampled.
const SAMPLE_EVERY: Duration = Duration::from_secs(5);
/// Interval between messages of the publisher.
const PUBLISH_EVERY: Duration = Duration::from_millis(200);
const PAYLOAD_BYTES: usize = 1_000;
/// Interval between strangers, and the time for which each stays.
const STRANGER_EVERY: Duration = Duration::from_secs(1);
const STRANGER_STAYS: Duration = Duration::from_secs(10);
/// Interval between registrations.
const REGISTER_EVERY: Duration = Duration::from_secs(5);
/// Interval between pages of history that the light node requests.
const HISTORY_EVERY: Duration = Duration::from_secs(10);
/// Interval between progress lines.
const TELL_EVERY: Duration = Duration::from_secs(60);
/// Flags of every node. Epochs are so short that there are hundreds of them in an hour.
const FLAGS: [&str; 3] = ["--network=local", "--shards=0", "--rln-epoch-s=10"];
/// Flags of a store, whose archive is full after minutes.
const STORE_FLAGS: [&str; 4] = [
    "--store=true",
    "--store-sync=true",
    "--store-sync-interval=60",
    "--store-message-retention-policy=capacity:3000",
];

/// Runs the network for `time` with the program `undertone`, and reports what each node used.
///
/// # Errors
/// [`HostileError`] if a node does not start.
pub async fn run(program: &Path, time: Duration) -> Result<SoakReport, HostileError> {
    let network = SoakNetwork::start(program).await?;
    let nodes = [
        &network.stores[0],
        &network.stores[1],
        &network.publisher,
        &network.light,
    ];
    let mut tasks = Tasks::default();
    tasks.spawn(strangers(
        network.stores.each_ref().map(|store| store.target()),
    ));
    tasks.spawn_honest(registrations(network.members.reopen()?));
    let mut samples: Vec<_> = nodes
        .iter()
        .map(|node| NodeSamples::new(node.name()))
        .collect();
    let sampling = async {
        let (begun, until) = (Instant::now(), Instant::now() + time);
        let mut told_at = begun;
        let mut ticks = interval(SAMPLE_EVERY);
        ticks.set_missed_tick_behavior(MissedTickBehavior::Skip);
        while Instant::now() < until {
            ticks.tick().await;
            for (node, samples) in nodes.iter().zip(&mut samples) {
                samples.add(ProcessLook::at(node.pid().unwrap_or(0)));
            }
            if told_at.elapsed() >= TELL_EVERY {
                told_at = Instant::now();
                let nodes: Vec<_> = samples.iter().map(NodeSamples::latest).collect();
                let (passed_s, all_s) = (begun.elapsed().as_secs(), time.as_secs());
                eprintln!("{passed_s} of {all_s} s: {}", nodes.join(", "));
            }
        }
    };
    let mut sent = 0;
    let mut pages = 0;
    tokio::select! {
        () = sampling => {}
        () = publish(&network.publisher, &mut sent) => {}
        () = ask(&network.light, &mut pages) => {}
    }
    drop(tasks);
    let delivered = network.stores[1].delivered();
    let arrived = delivered
        .keys()
        .filter(|topic| **topic != content_topic())
        .count();
    Ok(SoakReport {
        samples,
        sent,
        arrived,
        pages,
    })
}

/// Nodes of a soak and their registry.
struct SoakNetwork {
    stores: [Node; 2],
    publisher: Node,
    light: Node,
    members: Members,
    _folder: TempDir,
}

impl SoakNetwork {
    async fn start(program: &Path) -> Result<Self, HostileError> {
        let folder = tempfile::tempdir().map_err(HostileError::io("cannot make a folder"))?;
        let mut members = Members::new(folder.path())?;
        members.add(&folder.path().join("publisher"))?;
        let common = members.flags();
        let node = |name: &str, ip: u8, flags: &[&str], others: String| {
            let mut all = common.clone();
            all.push(format!("--cluster-id={CLUSTER}"));
            all.extend(FLAGS.iter().chain(flags).map(ToString::to_string));
            all.push(others);
            Node::start(NodeSpec {
                program: program.to_owned(),
                name: name.to_owned(),
                folder: folder.path().to_owned(),
                ip: Ipv4Addr::new(127, 0, 0, ip),
                flags: all,
            })
        };
        let first = node("store-0", 2, &STORE_FLAGS, "--relay=true".to_owned()).await?;
        let known = format!("--static-peers={}", first.addr());
        let second = node("store-1", 3, &STORE_FLAGS, known.clone()).await?;
        let publisher = node("publisher", 4, &[], known).await?;
        let both = format!("{},{}", first.addr(), second.addr());
        let named = format!("--filternode={both}");
        let others = [
            &*format!("--storenode={both}"),
            &*format!("--lightpushnode={both}"),
            "--relay=false",
        ];
        let light = node("light", 5, &others, named).await?;
        let filter = serde_json::json!({
            "requestId": "1",
            "contentFilters": [content_topic()],
            "pubsubTopic": pubsub_topic(0),
        });
        let path = "/filter/v2/subscriptions";
        light.ask("POST", path, Some(&filter.to_string())).await;
        Ok(Self {
            stores: [first, second],
            publisher,
            light,
            members,
            _folder: folder,
        })
    }
}

fn content_topic() -> String {
    format!("{}/soak/proto", prefix(0))
}

/// Publishes messages: every other one under the light node's content topic, each of the rest under a topic of its
/// own. Counts those of the rest that the publisher accepted, because a node's deliveries are identified by content
/// topic.
async fn publish(publisher: &Node, sent: &mut usize) {
    let mut ticks = interval(PUBLISH_EVERY);
    ticks.set_missed_tick_behavior(MissedTickBehavior::Skip);
    for number in 0_u64.. {
        ticks.tick().await;
        let mut payload = vec![0; PAYLOAD_BYTES];
        payload[..8].copy_from_slice(&number.to_be_bytes());
        let topic = format!("{}/soak-{number}/proto", prefix(0));
        let topic = if number % 2 == 0 {
            content_topic()
        } else {
            topic
        };
        let was_sent = publisher.publish(&pubsub_topic(0), &topic, &payload).await;
        *sent += usize::from(was_sent && topic != content_topic());
    }
}

/// Makes the light node read history repeatedly; counts the pages.
async fn ask(light: &Node, pages: &mut usize) {
    let mut ticks = interval(HISTORY_EVERY);
    let topic = content_topic().replace('/', "%2F");
    let path = format!("/store/v3/messages?includeData=true&contentTopics={topic}&pageSize=100");
    loop {
        ticks.tick().await;
        let answer = light.ask("GET", &path, None).await;
        *pages += usize::from(answer.is_some_and(|(status, _)| status == 200));
    }
}

/// Registers new members at a steady rate.
async fn registrations(registry: undertone_membership::SqliteRegistry) {
    let mut ticks = interval(REGISTER_EVERY);
    for number in 0_u64.. {
        ticks.tick().await;
        let identity = Identity::from_seed(format!("soak {number}").as_bytes());
        if let Err(error) = registry.register_all(&[(identity.commitment(), 100)]) {
            eprintln!("cannot register member {number}: {error}");
        }
    }
}

/// Sends strangers to the nodes, each with its own identity and address.
async fn strangers(to: [Target; 2]) {
    let mut ticks = interval(STRANGER_EVERY);
    ticks.set_missed_tick_behavior(MissedTickBehavior::Skip);
    let mut here = Vec::new();
    for number in 0_u32.. {
        ticks.tick().await;
        let target = to[number as usize % to.len()];
        let [.., high, low] = number.to_be_bytes();
        let from = Ipv4Addr::new(127, 20, high, low.max(1));
        here.retain(|task: &tokio::task::JoinHandle<()>| !task.is_finished());
        here.push(tokio::spawn(async move {
            let staying = async {
                if let Ok(mut peer) = Peer::connect(from, target).await {
                    peer.join(&[Topic::new(&pubsub_topic(0))]).await;
                    while peer.rpc().await.is_some() {}
                }
            };
            let _ = tokio::time::timeout(STRANGER_STAYS, staying).await;
        }));
    }
}
