//! Test network of a light node: three service nodes that relay to each other, and peers that lie.

use std::collections::BTreeSet;
use std::net::Ipv4Addr;
use std::path::Path;
use std::time::{Duration, Instant};

use serde_json::Value;
use tempfile::TempDir;

use super::events::EventReader;
use crate::HostileError;
use crate::node::{Node, NodeSpec};
use crate::raw::{Lie, LyingPeer};

/// Pubsub topic of the messages, that of [`CONTENT_TOPIC`].
pub const PUBSUB_TOPIC: &str = "/waku/2/rs/66/5";

/// Content topic that the light node subscribes to and sends on.
pub const CONTENT_TOPIC: &str = "/light/1/test/proto";

/// Number of service nodes.
const SERVICE_NODES: usize = 3;

/// Address of all libp2p listeners. REST has another address, so that packet loss between peers does not affect the
/// test's own requests.
const PEERS_IP: Ipv4Addr = Ipv4Addr::new(127, 0, 0, 2);

/// Log text with which a node reports that it has detected a misbehaving service peer.
const AVOIDING: &str = "avoiding a service peer for a while";

/// Only guards against hangs.
const PATIENCE: Duration = Duration::from_secs(120);

/// Interval at which state without events is polled.
const POLL: Duration = Duration::from_millis(200);

/// Filter peers configured at the light node; its stores and lightpush peers are always all service nodes.
#[derive(Clone, Copy, Debug)]
pub struct StagePlan<'a> {
    /// Peers that offer filter but cheat.
    pub lies: &'a [Lie],
    /// Number of service nodes among the filter peers, counted from the first.
    pub honest: usize,
}

impl StagePlan<'_> {
    /// All service nodes, and no cheating peer.
    pub const HONEST: Self = Self {
        lies: &[],
        honest: SERVICE_NODES,
    };
}

/// Three nodes with relay, store, filter and lightpush, peers that lie, and the light node that is configured with
/// all of them.
pub struct LightTestNetwork {
    /// Nodes that offer services.
    pub services: Vec<Node>,
    /// Peers that offer filter but cheat.
    pub liars: Vec<LyingPeer>,
    /// Node without relay.
    pub light: Node,
    /// Reader of the light node's deliveries.
    pub events: EventReader,
    _folder: TempDir,
}

impl LightTestNetwork {
    /// Starts everything with the program `undertone`, and subscribes the light node.
    pub async fn start(program: &Path, plan: StagePlan<'_>) -> Result<Self, HostileError> {
        let folder = TempDir::new().map_err(HostileError::io("cannot make a folder"))?;
        let spec = |name: String, flags: Vec<String>| NodeSpec {
            program: program.to_owned(),
            name,
            folder: folder.path().to_owned(),
            ip: PEERS_IP,
            flags,
        };
        let common = ["--network=local", "--shards=5", "--rln=false"].map(str::to_owned);
        let mut services: Vec<Node> = Vec::new();
        for number in 0..SERVICE_NODES {
            let mut flags = common.to_vec();
            flags.push("--store=true".to_owned());
            if !services.is_empty() {
                flags.push(format!("--static-peers={}", addresses(&services)));
            }
            services.push(Node::start(spec(format!("service-{number}"), flags)).await?);
        }
        let mut liars = Vec::new();
        for lie in plan.lies {
            let liar = LyingPeer::start(*lie, PEERS_IP).await;
            liars.push(liar.map_err(|error| {
                HostileError::io("cannot start a lying peer")(std::io::Error::other(error))
            })?);
        }
        let known = addresses(&services);
        let mut filters = addresses(&services[..plan.honest]);
        for liar in &liars {
            filters = format!("{},{filters}", liar.addr());
        }
        let mut flags = common.to_vec();
        flags.extend([
            "--relay=false".to_owned(),
            format!("--filternode={filters}"),
            format!("--storenode={known}"),
            format!("--lightpushnode={known}"),
        ]);
        let light = Node::start(spec("light".to_owned(), flags)).await?;
        let events = EventReader::start(light.rest()).await;
        let events = events.map_err(HostileError::io("cannot read the light node's events"))?;
        let stage = Self {
            services,
            liars,
            light,
            events,
            _folder: folder,
        };
        stage.subscribe().await;
        stage.wait_mesh(&[0, 1, 2]).await;
        Ok(stage)
    }

    /// Subscribes the light node to the content topic.
    async fn subscribe(&self) {
        let body = serde_json::json!({
            "requestId": "1",
            "contentFilters": [CONTENT_TOPIC],
            "pubsubTopic": PUBSUB_TOPIC,
        });
        let body = body.to_string();
        let path = "/filter/v2/subscriptions";
        let until = Instant::now() + PATIENCE;
        loop {
            match self.light.ask("POST", path, Some(&body)).await {
                Some((200, _)) => return,
                answer if Instant::now() > until => panic!("cannot subscribe: {answer:?}"),
                _ => tokio::time::sleep(POLL).await,
            }
        }
    }

    /// Waits until each of these service nodes has all the others in its mesh.
    pub async fn wait_mesh(&self, awake: &[usize]) {
        for one in awake {
            let node = &self.services[*one];
            let others = awake.iter().filter(|other| *other != one);
            let others: Vec<_> = others.map(|at| self.services[*at].peer_id()).collect();
            let meshed = node.wait_peers(PATIENCE, |peers| {
                let in_mesh = |id| peers.get(id).is_some_and(|peer| peer.meshes > 0);
                others.iter().all(in_mesh)
            });
            assert!(meshed.await, "no mesh: {}", node.state().await);
        }
    }

    /// Whether the light node has logged that it avoids a lying peer.
    #[must_use]
    pub fn has_found_out(&self, liar: &LyingPeer) -> bool {
        let id = liar.id().to_string();
        let log = self.light.log();
        let mut lines = log.lines();
        lines.any(|line| line.contains(AVOIDING) && line.contains(&id))
    }

    /// Publishes a text through the relay of a service node.
    pub async fn publish(&self, at: usize, text: &str) -> bool {
        let node = &self.services[at];
        node.publish(PUBSUB_TOPIC, CONTENT_TOPIC, text.as_bytes())
            .await
    }

    /// Returns the hashes of all messages in the stores. All service nodes must be awake.
    pub async fn held(&self) -> BTreeSet<String> {
        let mut held = BTreeSet::new();
        for node in &self.services {
            let mut cursor = String::new();
            loop {
                let topic = CONTENT_TOPIC.replace('/', "%2F");
                let path = format!("/store/v3/messages?contentTopics={topic}&pageSize=100{cursor}");
                let answer = node.ask("GET", &path, None).await;
                let Some((200, body)) = answer else {
                    panic!("the store of {} does not answer: {answer:?}", node.name());
                };
                let page: Value = serde_json::from_str(&body).unwrap_or_default();
                let messages = page["messages"].as_array().cloned().unwrap_or_default();
                let hashes = messages
                    .iter()
                    .filter_map(|one| one["messageHash"].as_str());
                held.extend(hashes.map(str::to_owned));
                match page["paginationCursor"].as_str() {
                    Some(next) => cursor = format!("&cursor={next}"),
                    None => break,
                }
            }
        }
        held
    }

    /// Waits until the light node has delivered everything in the stores; returns what is still missing at the end.
    pub async fn missing(&self, patience: Duration) -> BTreeSet<String> {
        let until = Instant::now() + patience;
        loop {
            let counts = self.events.counts();
            let held = self.held().await;
            let missing: BTreeSet<_> = held
                .into_iter()
                .filter(|hash| !counts.contains_key(hash))
                .collect();
            if missing.is_empty() || Instant::now() > until {
                return missing;
            }
            tokio::time::sleep(POLL).await;
        }
    }

    /// Returns a value of the light node's metrics; 0 if it is missing.
    pub async fn figure(&self, series: &str) -> f64 {
        let Some((_, text)) = self.light.ask("GET", "/metrics", None).await else {
            return 0.0;
        };
        let line = text.lines().find_map(|line| line.strip_prefix(series));
        line.and_then(|value| value.trim().parse().ok())
            .unwrap_or(0.0)
    }
}

fn addresses(nodes: &[Node]) -> String {
    let all: Vec<_> = nodes.iter().map(|node| node.addr().to_string()).collect();
    all.join(",")
}
