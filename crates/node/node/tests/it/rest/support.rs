//! A node that answers as told and remembers what it was asked, and requests to its API.

use std::{
    sync::{Arc, Mutex},
    time::Instant,
};

use axum::{
    Router,
    body::{Body, to_bytes},
    http::{Request, StatusCode},
    response::Response,
};
use libp2p::Multiaddr;
use tokio::sync::mpsc;
use tower::ServiceExt as _;
use undertone_gossip::{MessageId, Stats, Usage};
use undertone_message::{NetworkPreset, PubsubTopic, Shard, WakuMessage};
use undertone_node::{
    command::{
        Command, ConnectFailure, ConnectionStatus, GossipSnapshot, HealthReport, HealthStatus,
        NodeInfo, PeerSnapshot, ProtocolHealth, PublishFailure, Published, RlnSnapshot,
        SenderQuestion, ShardHealth, SubscribeFailure,
    },
    handle::{Deliveries, Delivery, node_channel},
    rest::{Access, MetricsNames, RestConfig, router},
};

pub(crate) const PEER_A: &str = "16Uiu2HAmCzWcYBCw3xKW8De16X9wtcbQrqD8x7CRRv4xpsFJ4oN8";
pub(crate) const PEER_B: &str = "16Uiu2HAm2eqzqp6xn32fzgGi8K4BuF88W4Xy6yxsmDcW8h1gj6ie";

/// What the node answers; `None` leaves the request unanswered.
#[derive(Clone)]
pub(crate) struct Script {
    pub(crate) publish: Option<Result<(), PublishFailure>>,
    pub(crate) subscribe: Result<(), SubscribeFailure>,
    pub(crate) unreachable: Vec<Multiaddr>,
    pub(crate) peers: Vec<PeerSnapshot>,
    pub(crate) health: Option<HealthReport>,
    pub(crate) rln: Option<RlnSnapshot>,
    pub(crate) gossip: Stats,
}

impl Default for Script {
    fn default() -> Self {
        Self {
            publish: Some(Ok(())),
            subscribe: Ok(()),
            unreachable: Vec::new(),
            peers: Vec::new(),
            health: Some(HealthReport {
                node: HealthStatus::Ready,
                connection: ConnectionStatus::PartiallyConnected,
                protocols: vec![
                    ProtocolHealth {
                        protocol: "Relay",
                        status: HealthStatus::Ready,
                        desc: None,
                    },
                    ProtocolHealth {
                        protocol: "Store",
                        status: HealthStatus::NotMounted,
                        desc: Some("not built".into()),
                    },
                ],
                shards: vec![
                    ShardHealth {
                        topic: "/waku/2/rs/1/0".into(),
                        mesh: 4,
                        subscribers: 9,
                        trouble: None,
                    },
                    ShardHealth {
                        topic: "/waku/2/rs/1/1".into(),
                        mesh: 0,
                        subscribers: 0,
                        trouble: Some("no connected peer relays it"),
                    },
                ],
            }),
            rln: None,
            gossip: Stats::default(),
        }
    }
}

/// What the node was asked, in words.
pub(crate) type Asked = Arc<Mutex<Vec<String>>>;

/// The API, the node behind it, and what passes between them.
pub(crate) struct Api {
    router: Router,
    pub(crate) asked: Asked,
    pub(crate) published: Arc<Mutex<Vec<(PubsubTopic, WakuMessage)>>>,
    deliveries: Deliveries,
}

pub(crate) fn config() -> RestConfig {
    RestConfig {
        network: NetworkPreset::by_name("local").unwrap(),
        autosharding: true,
        subscriptions: vec![shard(0)],
        content_topics: Vec::new(),
        log_level: None,
        access: Access::default(),
        relay: true,
        unserved: Vec::new(),
        admin: true,
        relay_cache_capacity: 3,
        clock_ahead_ns: 0,
        version: "undertone-test".into(),
        metrics_names: MetricsNames::default(),
    }
}

pub(crate) fn shard(index: u16) -> PubsubTopic {
    Shard { cluster: 66, index }.into()
}

impl Api {
    pub(crate) fn start(script: Script) -> Self {
        Self::with_config(script, config())
    }

    pub(crate) fn with_config(script: Script, config: RestConfig) -> Self {
        let (handle, endpoint) = node_channel();
        let asked = Asked::default();
        let published = Arc::default();
        let api = Self {
            router: router(handle, config),
            asked: Arc::clone(&asked),
            published: Arc::clone(&published),
            deliveries: endpoint.deliveries,
        };
        tokio::spawn(answer(endpoint.commands, script, asked, published));
        api
    }

    /// The node receives a message.
    pub(crate) fn deliver(&self, topic: PubsubTopic, message: WakuMessage) {
        let now = Instant::now();
        self.deliveries.deliver(&Delivery {
            pubsub_topic: topic,
            message,
            id: MessageId([0; 32]),
            from: None,
            received: now,
            validated: now,
        });
    }

    pub(crate) async fn get(&self, path: &str) -> (StatusCode, String) {
        self.send(Request::get(path).body(Body::empty()).unwrap())
            .await
    }

    pub(crate) async fn post(&self, path: &str, json: &str) -> (StatusCode, String) {
        self.send(json_request("POST", path, json)).await
    }

    pub(crate) async fn delete(&self, path: &str, json: &str) -> (StatusCode, String) {
        self.send(json_request("DELETE", path, json)).await
    }

    pub(crate) async fn send(&self, request: Request<Body>) -> (StatusCode, String) {
        let response = self.answer(request).await;
        let status = response.status();
        let body = to_bytes(response.into_body(), 1 << 20).await.unwrap();
        (status, String::from_utf8(body.to_vec()).unwrap())
    }

    pub(crate) async fn answer(&self, request: Request<Body>) -> Response {
        self.router.clone().oneshot(request).await.unwrap()
    }

    pub(crate) fn router(&self) -> &Router {
        &self.router
    }

    pub(crate) fn asked(&self) -> Vec<String> {
        self.asked.lock().unwrap().clone()
    }
}

fn json_request(method: &str, path: &str, json: &str) -> Request<Body> {
    Request::builder()
        .method(method)
        .uri(path)
        .header("content-type", "application/json; charset=utf-8")
        .body(Body::from(json.to_owned()))
        .unwrap()
}

pub(crate) fn answer_ok() -> (StatusCode, String) {
    (StatusCode::OK, "OK".into())
}

pub(crate) fn bad_request(text: &str) -> (StatusCode, String) {
    (StatusCode::BAD_REQUEST, text.into())
}

async fn answer(
    mut commands: mpsc::Receiver<Command>,
    script: Script,
    asked: Asked,
    published: Arc<Mutex<Vec<(PubsubTopic, WakuMessage)>>>,
) {
    let note = |text: String| asked.lock().unwrap().push(text);
    let mut unanswered = Vec::new();
    let mut firsts_unanswered = Vec::new();
    while let Some(command) = commands.recv().await {
        match command {
            Command::Subscribe { topic, reply } => {
                note(format!("subscribe {topic}"));
                let _ = reply.send(script.subscribe.clone());
            }
            Command::Unsubscribe { topic, reply } => {
                note(format!("unsubscribe {topic}"));
                let _ = reply.send(script.subscribe.clone());
            }
            Command::Publish {
                pubsub_topic,
                message,
                reply,
                ..
            } => {
                note(format!("publish {pubsub_topic}"));
                let sent = (pubsub_topic.clone(), message.clone());
                published.lock().unwrap().push(sent);
                match script.publish.clone() {
                    Some(outcome) => {
                        let sent = Published {
                            id: MessageId::of(&message.encode()),
                            pubsub_topic,
                            message,
                            peers: 1,
                        };
                        let _ = reply.send(outcome.map(|()| sent));
                    }
                    None => unanswered.push(reply),
                }
            }
            Command::Subscriber { .. } => {}
            Command::Sender(SenderQuestion::PublishFirst {
                pubsub_topic,
                message,
                reply,
                may_wait: _,
            }) => {
                note(format!("publish first {pubsub_topic}"));
                published.lock().unwrap().push((pubsub_topic, message));
                match script.publish.clone() {
                    Some(outcome) => drop(reply.send(outcome.map(|()| None))),
                    None => firsts_unanswered.push(reply),
                }
            }
            Command::SetStaticPeers { peers, reply } => {
                note(format!("static peers {peers:?}"));
                let _ = reply.send(());
            }
            Command::RenewCertificate { reply } => {
                note("renew certificate".to_owned());
                let _ = reply.send(());
            }
            Command::Peers { reply } => drop(reply.send(script.peers.clone())),
            Command::Connect { address, reply, .. } => {
                note(format!("connect {address}"));
                let outcome = if script.unreachable.contains(&address) {
                    let reason = "refused".to_owned();
                    Err(ConnectFailure::Dial { address, reason })
                } else {
                    Ok(())
                };
                let _ = reply.send(outcome);
            }
            Command::Info { reply } => {
                let info = NodeInfo {
                    peer_id: PEER_A.parse().unwrap(),
                    listen_addresses: vec![
                        format!("/ip4/127.0.0.1/tcp/60000/p2p/{PEER_A}")
                            .parse()
                            .unwrap(),
                    ],
                    enr_uri: None,
                    subscriptions: vec![shard(0), shard(1)],
                    reachable: Default::default(),
                };
                let _ = reply.send(info);
            }
            Command::Health { reply } => {
                if let Some(report) = &script.health {
                    let _ = reply.send(report.clone());
                }
            }
            Command::Rln { reply } => drop(reply.send(script.rln.clone())),
            Command::Shutdown { reply } => drop(reply.send(())),
            // Not part of the API.
            Command::Gossip { reply } => {
                let stats = script.gossip;
                let usage = Usage::default();
                let _ = reply.send(GossipSnapshot { stats, usage });
            }
            Command::Metrics { .. } | Command::Sender(_) => {}
        }
    }
}
