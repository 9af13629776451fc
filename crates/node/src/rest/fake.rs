//! An API before a node and services that answer as told.
#![allow(
    clippy::unwrap_used,
    reason = "only test functions are exempt, and these helpers serve them"
)]

use std::sync::Arc;
use std::time::Instant;

use axum::{
    Router,
    body::{Body, to_bytes},
    http::{Request, StatusCode},
    response::Response,
};
use libp2p::PeerId;
use parking_lot::Mutex;
use serde_json::Value;
use tokio::sync::{broadcast, mpsc};
use tower::ServiceExt as _;
use undertone_gossip::MessageId;
use undertone_message::{NetworkPreset, PubsubTopic, Shard, WakuMessage};

use super::{Access, MetricsNames, RestConfig, events::EventLimits, router_with};
use crate::command::{
    Command, Connectedness, ConnectionStatus, HealthReport, HealthStatus, PeerOrigin, PeerSnapshot,
    ProtocolHealth,
};
use crate::handle::{Deliveries, Delivery, node_channel};
use crate::services::{
    LightStatus, MountedServices, SendFailure, SendId, SendReport, SenderCall, ServiceCall,
    services_channel,
};

/// Function that accepts a message for sending or refuses it.
type Accept = Box<dyn FnMut(WakuMessage) -> Result<SendId, SendFailure> + Send>;

/// Sender behind the API.
struct FakeSender {
    accept: Accept,
    reports: Vec<SendReport>,
}

pub(super) struct Fake {
    router: Router,
    pushed: Deliveries,
    sender: Arc<Mutex<FakeSender>>,
    news: broadcast::Sender<SendReport>,
    /// Calls, as text.
    pub(super) asked: Arc<Mutex<Vec<String>>>,
}

pub(super) fn shard(index: u16) -> PubsubTopic {
    Shard { cluster: 66, index }.into()
}

/// State that the node reports.
#[derive(Clone, Default)]
pub(super) struct FakeNode {
    pub(super) peers: Vec<PeerSnapshot>,
    pub(super) is_relay_ready: bool,
    pub(super) light: Arc<Mutex<LightStatus>>,
    /// Whether the node does not relay.
    pub(super) is_light: bool,
    /// Services that it is asked for all the same.
    pub(super) unserved: Vec<&'static str>,
}

impl Fake {
    /// Services that answer each call by `answer`, which returns the call as text.
    pub(super) fn new(
        mounted: MountedServices,
        answer: impl FnMut(ServiceCall) -> String + Send + 'static,
    ) -> Self {
        Self::with_node(mounted, FakeNode::default(), answer)
    }

    pub(super) fn with_node(
        mounted: MountedServices,
        node: FakeNode,
        mut answer: impl FnMut(ServiceCall) -> String + Send + 'static,
    ) -> Self {
        let (handle, mut endpoint) = node_channel();
        let (services, mut service_endpoint) = services_channel(mounted, None, node.light.clone());
        let config = RestConfig {
            network: NetworkPreset::by_name("local").unwrap(),
            autosharding: true,
            subscriptions: Vec::new(),
            content_topics: Vec::new(),
            log_level: None,
            access: Access::default(),
            relay: !node.is_light,
            unserved: node.unserved.clone(),
            admin: true,
            relay_cache_capacity: 3,
            clock_ahead_ns: 0,
            version: "undertone-test".into(),
            metrics_names: MetricsNames::default(),
        };
        let router = router_with(handle, Some(services), config, EventLimits::default());
        tokio::spawn(async move {
            while let Some(command) = endpoint.commands.recv().await {
                match command {
                    Command::Peers { reply } => drop(reply.send(node.peers.clone())),
                    Command::Health { reply } => drop(reply.send(health(&node))),
                    Command::Rln { reply } => drop(reply.send(None)),
                    _ => {}
                }
            }
        });
        let asked = Arc::<Mutex<Vec<String>>>::default();
        let noted = Arc::clone(&asked);
        let pushed = service_endpoint.pushed.clone();
        tokio::spawn(async move {
            while let Some(call) = service_endpoint.calls.recv().await {
                let text = answer(call);
                noted.lock().push(text);
            }
        });
        let sender = Arc::new(Mutex::new(FakeSender {
            accept: Box::new(|_| Err(SendFailure::Stopped)),
            reports: Vec::new(),
        }));
        tokio::spawn(answer_sender(
            Arc::clone(&sender),
            service_endpoint.sender.calls,
        ));
        let news = service_endpoint.sender.news.clone();
        Self {
            router,
            pushed,
            sender,
            news,
            asked,
        }
    }

    /// Sets what happens to messages that are to be sent.
    pub(super) fn accepts(
        &self,
        accept: impl FnMut(WakuMessage) -> Result<SendId, SendFailure> + Send + 'static,
    ) {
        self.sender.lock().accept = Box::new(accept);
    }

    /// Tells of a step of a message.
    pub(super) fn tell(&self, report: SendReport) {
        self.news.send(report).unwrap();
    }

    /// Opens a stream.
    pub(super) async fn open(&self, path: &str) -> Response {
        let request = Request::get(path).body(Body::empty()).unwrap();
        self.router.clone().oneshot(request).await.unwrap()
    }

    /// Sets what has become of messages.
    pub(super) fn reports(&self, reports: Vec<SendReport>) {
        self.sender.lock().reports = reports;
    }

    pub(super) fn asked(&self) -> Vec<String> {
        self.asked.lock().clone()
    }

    /// A filter peer pushes a message.
    pub(super) fn push(&self, topic: PubsubTopic, message: WakuMessage) {
        let now = Instant::now();
        self.pushed.deliver(&Delivery {
            pubsub_topic: topic,
            message,
            id: MessageId([0; 32]),
            from: None,
            received: now,
            validated: now,
        });
    }

    /// Status and body; a body that is not JSON as a string.
    pub(super) async fn ask(&self, method: &str, path: &str, body: &str) -> (u16, Value) {
        let request = Request::builder()
            .method(method)
            .uri(path)
            .header("content-type", "application/json")
            .body(Body::from(body.to_owned()))
            .unwrap();
        let response = self.router.clone().oneshot(request).await.unwrap();
        let status: StatusCode = response.status();
        let bytes = to_bytes(response.into_body(), 1 << 20).await.unwrap();
        let text = String::from_utf8(bytes.to_vec()).unwrap();
        let value = serde_json::from_str(&text);
        (status.as_u16(), value.unwrap_or(Value::String(text)))
    }

    pub(super) async fn get(&self, path: &str) -> (u16, Value) {
        self.ask("GET", path, "").await
    }
}

async fn answer_sender(sender: Arc<Mutex<FakeSender>>, mut calls: mpsc::Receiver<SenderCall>) {
    while let Some(call) = calls.recv().await {
        let mut sender = sender.lock();
        match call {
            SenderCall::Send { message, reply, .. } => drop(reply.send((sender.accept)(message))),
            SenderCall::Reports {
                id,
                is_fetched,
                reply,
            } => {
                let is_of = |report: &SendReport| id.is_none_or(|id| id == report.id);
                let (found, rest) = sender.reports.iter().copied().partition(is_of);
                if is_fetched {
                    sender.reports = rest;
                }
                drop(reply.send(found));
            }
            SenderCall::Messages { reply } => drop(reply.send(Vec::new())),
            SenderCall::Waiting { reply } => drop(reply.send(0)),
        }
    }
}

fn health(node: &FakeNode) -> HealthReport {
    let entry = |protocol, status| ProtocolHealth {
        protocol,
        status,
        desc: None,
    };
    let relay = if node.is_relay_ready {
        HealthStatus::Ready
    } else {
        HealthStatus::NotReady
    };
    HealthReport {
        node: HealthStatus::Ready,
        connection: ConnectionStatus::Disconnected,
        protocols: vec![
            entry("Relay", relay),
            entry("Store", HealthStatus::NotMounted),
            entry("Mix", HealthStatus::NotMounted),
        ],
        shards: Vec::new(),
    }
}

/// A connected peer without protocols.
pub(super) fn peer() -> PeerSnapshot {
    PeerSnapshot {
        peer_id: PeerId::random(),
        multiaddr: None,
        protocols: Vec::new(),
        shards: Vec::new(),
        connected: Connectedness::Connected,
        is_inbound: false,
        transport: None,
        agent: String::new(),
        origin: PeerOrigin::Static,
        score: 0.0,
        topics: Vec::new(),
        in_mesh: Vec::new(),
    }
}
