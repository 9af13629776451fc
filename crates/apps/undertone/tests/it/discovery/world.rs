//! All nodes of the campaign, and what happens to them: they start, die, join, and send messages.

use std::net::Ipv4Addr;
use std::path::{Path as FilePath, PathBuf};
use std::sync::Arc;
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

use rand_chacha::ChaCha8Rng;
use rand_chacha::rand_core::{RngCore as _, SeedableRng as _};
use serde_json::json;
use undertone_link::packet::{HostConfig, LinkConfig, Path, Paths};
use undertone_testbed::{AddressPlan, Testbed, TestbedConfig, can_run};

use super::node::{Arrival, CLUSTER, Node, NodeView, Start};
use super::report::Report;

/// Shards that the nodes relay: the first, the second, or both.
pub(crate) const FIRST: &[u16] = &[0];
pub(crate) const SECOND: &[u16] = &[1];
pub(crate) const BOTH: &[u16] = &[0, 1];

/// Peers in a mesh from which on a node is content: the router's `d_low`. It looks for more below.
pub(crate) const MESH: usize = 4;

/// Time that a node must have lived for messages to be owed to it.
pub(crate) const GROWN_S: u64 = 60;

/// One-way delay between any two hosts.
pub(crate) const ONE_WAY_MS: u64 = 25;

/// Time after which a joining node is no longer watched.
const JOIN_LIMIT: Duration = Duration::from_secs(180);

/// Interval at which a joining node is asked.
const JOIN_POLL: Duration = Duration::from_millis(100);

/// Time for a message to reach everybody: some heartbeats, in which it is offered to those who missed it.
const DELIVERY: Duration = Duration::from_secs(10);

const DELIVERY_POLL: Duration = Duration::from_millis(200);

/// Nodes on their testbed. The nodes end before it.
pub(crate) struct World {
    pub(crate) nodes: Vec<Node>,
    pub(crate) report: Report,
    pub(crate) rng: ChaCha8Rng,
    /// Addresses at which a node listened and none does any more.
    pub(crate) vacant: Vec<Ipv4Addr>,
    /// Lines of level error and warn of nodes that are gone.
    pub(crate) logs: Vec<(String, String)>,
    pub(crate) testbed: Arc<Testbed>,
    folder: tempfile::TempDir,
    hosts_used: usize,
    messages: u32,
}

/// How a node joined, in times since it listened.
pub(crate) struct Join {
    pub(crate) name: String,
    pub(crate) shards: &'static [u16],
    pub(crate) first_peer: Option<Duration>,
    pub(crate) mesh: Option<Duration>,
}

/// Message that was published.
pub(crate) struct Sent {
    topic: String,
    pub(crate) shard: u16,
    publisher: String,
    pub(crate) at: Instant,
}

/// Deliveries of messages to those to whom they were owed.
#[derive(Default)]
pub(crate) struct Delivered {
    pub(crate) expected: usize,
    /// Times from publishing to delivery, sorted.
    pub(crate) latencies_ns: Vec<u64>,
    /// Message and node of each delivery that is missing.
    pub(crate) missing: Vec<String>,
}

impl World {
    pub(crate) fn new(hosts: usize, seed: u64) -> Self {
        if let Err(missing) = can_run() {
            panic!("no testbed on this machine: {missing}");
        }
        let mut rng = ChaCha8Rng::seed_from_u64(seed);
        let mut network = [0; 32];
        rng.fill_bytes(&mut network);
        let testbed = Testbed::start(&TestbedConfig {
            hosts: vec![HostConfig::symmetric(LinkConfig::UNLIMITED); hosts],
            paths: Paths::uniform(Path::constant(ONE_WAY_MS * 1_000_000)),
            addresses: AddressPlan::Public,
            congestion: None,
            slow_start_after_idle: true,
            seed: network,
        });
        Self {
            nodes: Vec::new(),
            report: Report::default(),
            rng,
            vacant: Vec::new(),
            logs: Vec::new(),
            testbed: Arc::new(testbed.expect("a testbed that can run starts")),
            folder: tempfile::tempdir().expect("a temporary folder can be made"),
            hosts_used: 0,
            messages: 0,
        }
    }

    /// Starts a node in a new host, without waiting for it; returns its place among the nodes.
    pub(crate) fn start(&mut self, shards: &'static [u16], bootstrap: Option<String>) -> usize {
        let host = self.hosts_used;
        self.hosts_used += 1;
        let start = Start {
            shards,
            cluster: CLUSTER,
            bootstrap,
        };
        self.start_in(host, &start)
    }

    /// Starts a node of another cluster; returns it, as it is none of the network's.
    pub(crate) fn start_stranger(&mut self, cluster: u16, bootstrap: Option<String>) -> Node {
        let host = self.hosts_used;
        self.hosts_used += 1;
        let start = Start {
            shards: BOTH,
            cluster,
            bootstrap,
        };
        self.start_in(host, &start);
        self.nodes.pop().expect("it was just started")
    }

    fn start_in(&mut self, host: usize, start: &Start) -> usize {
        let address = self.testbed.hosts()[host].address();
        let folder = self.folder_of(host);
        let node = Node::start(&self.testbed, (host, address), &folder, start);
        self.nodes.push(node);
        self.nodes.len() - 1
    }

    fn folder_of(&self, host: usize) -> PathBuf {
        self.folder.path().join(format!("node-{host}"))
    }

    /// Starts the process of a node that was stopped again, at an address, without a record to begin with.
    pub(crate) fn restart(&mut self, place: usize, address: Ipv4Addr) {
        let (host, shards) = (self.nodes[place].view.host, self.nodes[place].view.shards);
        let start = Start {
            shards,
            cluster: CLUSTER,
            bootstrap: None,
        };
        let folder = self.folder_of(host);
        self.nodes[place] = Node::start(&self.testbed, (host, address), &folder, &start);
    }

    /// Removes a node, after it was killed; its address is vacant from then on.
    pub(crate) fn kill(&mut self, place: usize) -> Node {
        let mut node = self.nodes.remove(place);
        node.kill();
        self.vacant.push(node.address);
        self.logs.push((node.view.name.clone(), node.view.log()));
        node
    }

    pub(crate) fn below(&mut self, bound: usize) -> usize {
        let bound = u64::try_from(bound).expect("few nodes");
        usize::try_from(self.rng.next_u64() % bound).expect("few nodes")
    }

    /// A node that has lived for a minute and relays a shard.
    pub(crate) fn any_grown(&mut self, shard: u16) -> usize {
        let now = Instant::now();
        let fits = |node: &Node| node.view.shards.contains(&shard) && node.has_lived(GROWN_S, now);
        let places: Vec<_> = (0..self.nodes.len())
            .filter(|place| fits(&self.nodes[*place]))
            .collect();
        places[self.below(places.len())]
    }

    /// Has a node publish a message on a shard, with its number in its content topic.
    pub(crate) fn publish(&mut self, place: usize, shard: u16) -> Sent {
        self.messages += 1;
        let topic = format!("/campaign/1/message-{}/proto", self.messages);
        let node = &self.nodes[place].view;
        let at = Instant::now();
        let path = format!("/relay/v1/messages/%2Fwaku%2F2%2Frs%2F{CLUSTER}%2F{shard}");
        let message = json!({ "payload": "ZGlzY292ZXJ5", "contentTopic": topic });
        let status = node.post(&path, &message);
        let publisher = node.name.clone();
        self.report.goal(status == 200, || {
            format!("{publisher} did not publish on shard {shard}: status {status}")
        });
        Sent {
            topic,
            shard,
            publisher,
            at,
        }
    }

    /// Waits until messages have reached all nodes to which they are owed, or the time for it is over.
    pub(crate) fn collect(
        &self,
        sent: &[Sent],
        is_owed: &dyn Fn(&Node, &Sent) -> bool,
    ) -> Delivered {
        let begun = Instant::now();
        loop {
            let delivered = self.delivered(sent, is_owed);
            if delivered.missing.is_empty() || begun.elapsed() > DELIVERY {
                return delivered;
            }
            thread::sleep(DELIVERY_POLL);
        }
    }

    /// Deliveries so far of messages to those to whom they are owed.
    pub(crate) fn delivered(
        &self,
        sent: &[Sent],
        is_owed: &dyn Fn(&Node, &Sent) -> bool,
    ) -> Delivered {
        let mut delivered = Delivered::default();
        let logs: Vec<_> = self
            .nodes
            .iter()
            .map(|node| node.view.deliveries())
            .collect();
        for message in sent {
            let of = |log: &[Arrival], is_own| {
                let mut arrivals = log.iter();
                let is_it = |arrival: &&Arrival| {
                    arrival.content_topic == message.topic && arrival.is_own == is_own
                };
                arrivals.find(is_it).map(|arrival| arrival.at_ns)
            };
            let published_ns = logs.iter().find_map(|log| of(log, true));
            for (node, log) in self.nodes.iter().zip(&logs) {
                let is_subscribed = node.view.shards.contains(&message.shard);
                let is_publisher = node.view.name == message.publisher;
                if !is_subscribed || is_publisher || !is_owed(node, message) {
                    continue;
                }
                delivered.expected += 1;
                match (of(log, false), published_ns) {
                    (Some(at_ns), Some(from_ns)) => {
                        delivered.latencies_ns.push(at_ns.saturating_sub(from_ns));
                    }
                    _ => delivered.missing.push(format!(
                        "{} of {} on shard {} at {} ({})",
                        message.topic,
                        message.publisher,
                        message.shard,
                        node.view.name,
                        node.address
                    )),
                }
            }
        }
        delivered.latencies_ns.sort_unstable();
        delivered
    }

    /// Whether a node has a message.
    pub(crate) fn has(node: &NodeView, message: &Sent) -> bool {
        let mut arrivals = node.deliveries().into_iter();
        arrivals.any(|arrival| arrival.content_topic == message.topic)
    }

    /// Ends all processes and writes the figures; returns the goals that were missed. The nodes' files stay if there are any.
    pub(crate) fn end(self, seed: u64, file: &FilePath) -> Vec<String> {
        let Self {
            nodes,
            report,
            folder,
            ..
        } = self;
        drop(nodes);
        let missed = report.finish(seed, file);
        if !missed.is_empty() {
            println!("The nodes' files: {}", folder.keep().display());
        }
        missed
    }

    /// Fails the campaign if a process has ended by itself.
    pub(crate) fn check(&mut self) {
        for node in &mut self.nodes {
            assert!(
                !node.has_ended(),
                "{} ended: {}",
                node.view.name,
                node.view.complaint()
            );
        }
    }
}

/// Watches a node that joins, on a thread of its own: until it has its mesh, or dies.
pub(crate) fn watch(node: &NodeView) -> JoinHandle<Join> {
    let node = node.clone();
    thread::spawn(move || {
        let mut join = Join {
            name: node.name.clone(),
            shards: node.shards,
            first_peer: None,
            mesh: None,
        };
        let Some(listening) = node.wait_until_it_listens() else {
            return join;
        };
        while node.lives() && join.mesh.is_none() && listening.elapsed() < JOIN_LIMIT {
            if join.first_peer.is_none() && !node.connected().is_empty() {
                join.first_peer = Some(listening.elapsed());
            }
            if join.first_peer.is_some() && node.has_mesh(MESH) {
                join.mesh = Some(listening.elapsed());
            }
            thread::sleep(JOIN_POLL);
        }
        join
    })
}

/// Text of a list of shards.
pub(crate) fn shards_text(shards: &[u16]) -> String {
    let shards: Vec<_> = shards.iter().map(ToString::to_string).collect();
    shards.join(", ")
}
