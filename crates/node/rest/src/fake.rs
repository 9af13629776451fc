//! The API in front of a fake node and fake services, whose answers a test chooses.
#![allow(
    clippy::unwrap_used,
    reason = "only test functions are exempt, and these helpers serve them"
)]

use std::sync::Arc;
use std::time::Instant;
use undertone_network::handle::Stopped;

use axum::{
    Router,
    body::{Body, to_bytes},
    http::{Request, StatusCode},
    response::Response,
};
use bytes::Bytes;
use libp2p::{Multiaddr, PeerId};
use parking_lot::Mutex;
use serde_json::Value;
use tokio::sync::{broadcast, mpsc, oneshot};
use tower::ServiceExt as _;
use undertone_gossip::MessageId;
use undertone_message::{NetworkPreset, PubsubTopic, Shard, WakuMessage};
use undertone_services::history::HistoryQuery;
use undertone_services::sharding::Sharding;
use undertone_services::store::StoreRequest;

use super::{Access, MetricsNames, RestConfig, events::EventLimits, router_with};
use undertone_network::command::{
    Command, Connectedness, ConnectionStatus, HealthReport, HealthStatus, PeerOrigin, PeerSnapshot,
    ProtocolHealth,
};
use undertone_network::handle::{Deliveries, Delivery, node_channel};
use undertone_provider::services::{
    AskServices, FilterSubscriber, LightCall, LightStatus, LightpushVersion, MountedServices,
    SendFailure, SendId, SendReport, SenderCall, SenderEndpoint, ServiceAnswer, ServiceFailure,
    ServiceTotals, ServicesHandle, StoreAnswer, sender_channel,
};

/// Request to the services, which a test answers.
#[derive(Debug)]
pub(super) enum ServiceCall {
    Query {
        peer: Option<Multiaddr>,
        query: HistoryQuery,
        reply: oneshot::Sender<Result<StoreAnswer, ServiceFailure>>,
    },
    Push {
        version: LightpushVersion,
        pubsub_topic: Option<PubsubTopic>,
        message: WakuMessage,
        reply: oneshot::Sender<Result<u32, ServiceFailure>>,
    },
    Light(LightCall),
    Subscribers {
        reply: oneshot::Sender<Option<Vec<FilterSubscriber>>>,
    },
}

/// Function that answers a call and returns the call as text.
type Answer = Box<dyn FnMut(ServiceCall) -> String + Send>;

/// Services behind the API.
struct FakeServices {
    answer: Mutex<Answer>,
    /// Calls, as text.
    asked: Mutex<Vec<String>>,
}

impl FakeServices {
    fn new(answer: impl FnMut(ServiceCall) -> String + Send + 'static) -> Arc<Self> {
        Arc::new(Self {
            answer: Mutex::new(Box::new(answer)),
            asked: Mutex::default(),
        })
    }

    fn take(&self, call: ServiceCall) {
        let text = (self.answer.lock())(call);
        self.asked.lock().push(text);
    }

    fn ask<T: Send + 'static>(
        &self,
        call: impl FnOnce(oneshot::Sender<Result<T, ServiceFailure>>) -> ServiceCall,
    ) -> ServiceAnswer<T> {
        let (reply, answer) = oneshot::channel();
        self.take(call(reply));
        Box::pin(async {
            answer
                .await
                .unwrap_or(Err(ServiceFailure::Stopped(Stopped)))
        })
    }

    async fn take_all(self: Arc<Self>, mut calls: mpsc::Receiver<LightCall>) {
        while let Some(call) = calls.recv().await {
            self.take(ServiceCall::Light(call));
        }
    }
}

impl AskServices for FakeServices {
    fn query(
        self: Arc<Self>,
        peer: Option<Multiaddr>,
        query: HistoryQuery,
    ) -> ServiceAnswer<StoreAnswer> {
        self.ask(|reply| ServiceCall::Query { peer, query, reply })
    }

    fn ask_store(self: Arc<Self>, _: Multiaddr, _: StoreRequest) -> ServiceAnswer<(PeerId, Bytes)> {
        unreachable!("no route walks through history")
    }

    fn push(
        self: Arc<Self>,
        version: LightpushVersion,
        pubsub_topic: Option<PubsubTopic>,
        message: WakuMessage,
    ) -> ServiceAnswer<u32> {
        self.ask(|reply| ServiceCall::Push {
            version,
            pubsub_topic,
            message,
            reply,
        })
    }

    fn subscribers(&self) -> Result<Option<Vec<FilterSubscriber>>, ServiceFailure> {
        let (reply, mut answer) = oneshot::channel();
        self.take(ServiceCall::Subscribers { reply });
        answer
            .try_recv()
            .map_err(|_| ServiceFailure::Stopped(Stopped))
    }

    fn totals(&self) -> Result<ServiceTotals, ServiceFailure> {
        Err(ServiceFailure::Stopped(Stopped))
    }
}

/// Returns a handle to the fake services `asked`.
fn handle_to(
    asked: Arc<FakeServices>,
    mounted: MountedServices,
    status: Arc<Mutex<LightStatus>>,
    pushed: Deliveries,
) -> (ServicesHandle, SenderEndpoint) {
    let (light, light_calls) = mpsc::channel(1);
    tokio::spawn(Arc::clone(&asked).take_all(light_calls));
    let (sender, endpoint) = sender_channel();
    let sharding = Sharding {
        cluster: 66,
        num_shards: std::num::NonZeroU16::new(8),
    };
    let handle = ServicesHandle::new((asked, mounted), (light, status), pushed, sharding, sender);
    (handle, endpoint)
}

/// Returns a handle to services that panic on any call; only their status may be read.
pub(super) fn services_with(status: Arc<Mutex<LightStatus>>) -> ServicesHandle {
    let asked = FakeServices::new(|call| panic!("{call:?}"));
    handle_to(
        asked,
        MountedServices::default(),
        status,
        Deliveries::default(),
    )
    .0
}

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
    services: Arc<FakeServices>,
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
    /// Services that the configuration asks for although the node does not relay.
    pub(super) unserved: Vec<&'static str>,
}

impl Fake {
    /// Creates services that answer each call with `answer`, which returns the call as text.
    pub(super) fn new(
        mounted: MountedServices,
        answer: impl FnMut(ServiceCall) -> String + Send + 'static,
    ) -> Self {
        Self::with_node(mounted, FakeNode::default(), answer)
    }

    pub(super) fn with_node(
        mounted: MountedServices,
        node: FakeNode,
        answer: impl FnMut(ServiceCall) -> String + Send + 'static,
    ) -> Self {
        let (handle, mut endpoint) = node_channel();
        let services = FakeServices::new(answer);
        let pushed = Deliveries::default();
        let (service_handle, sender_endpoint) = handle_to(
            Arc::clone(&services),
            mounted,
            node.light.clone(),
            pushed.clone(),
        );
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
        let router = router_with(handle, Some(service_handle), config, EventLimits::default());
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
        let sender = Arc::new(Mutex::new(FakeSender {
            accept: Box::new(|_| Err(SendFailure::Stopped(Stopped))),
            reports: Vec::new(),
        }));
        tokio::spawn(answer_sender(Arc::clone(&sender), sender_endpoint.calls));
        let news = sender_endpoint.news.clone();
        Self {
            router,
            pushed,
            sender,
            news,
            services,
        }
    }

    /// Sets how messages to be sent are accepted or refused.
    pub(super) fn accepts(
        &self,
        accept: impl FnMut(WakuMessage) -> Result<SendId, SendFailure> + Send + 'static,
    ) {
        self.sender.lock().accept = Box::new(accept);
    }

    /// Announces a new state of a sent message.
    pub(super) fn tell(&self, report: SendReport) {
        self.news.send(report).unwrap();
    }

    /// Opens a stream.
    pub(super) async fn open(&self, path: &str) -> Response {
        let request = Request::get(path).body(Body::empty()).unwrap();
        self.router.clone().oneshot(request).await.unwrap()
    }

    /// Sets the reports on sent messages.
    pub(super) fn reports(&self, reports: Vec<SendReport>) {
        self.sender.lock().reports = reports;
    }

    pub(super) fn asked(&self) -> Vec<String> {
        self.services.asked.lock().clone()
    }

    /// Delivers a message as if a filter peer had pushed it.
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

    /// Sends a request; returns the status and the body, as a string if it is not JSON.
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
            SenderCall::WaitForPeer { reply, .. } => {
                drop(reply.send(Err(SendFailure::Stopped(Stopped))));
            }
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
