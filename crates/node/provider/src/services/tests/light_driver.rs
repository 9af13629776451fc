//! Tests of the driver with service peers that connect and never answer: what callers are told.

use std::sync::Arc;

use libp2p::PeerId;
use parking_lot::Mutex;
use rand_chacha::ChaCha8Rng;
use rand_chacha::rand_core::SeedableRng as _;
use tokio::sync::{mpsc, oneshot};
use undertone_message::WakuMessage;
use undertone_services::filter::{self, FilterCriterion, MessagePush};

use super::{LightCall, LightDriver, LightParts, LightStatus};
use crate::services::ServiceFailure;
use crate::services::client::PeerClient;
use crate::services::service_peers::{ConfiguredPeers, ServicePeers};
use undertone_network::command::{Command, ConnectFailure};
use undertone_network::driver::{Clock, PeerNews};
use undertone_network::handle::{Deliveries, Delivery, MessageSink, NodeEndpoint, node_channel};
use undertone_network::swarm::ServiceStreams;

const SHARD: &str = "/waku/2/rs/66/0";

/// A driver; the test simulates the node.
struct Rig {
    calls: mpsc::Sender<LightCall>,
    news: mpsc::UnboundedSender<PeerNews>,
    node: NodeEndpoint,
    peers: ServicePeers,
    status: Arc<Mutex<LightStatus>>,
    delivered: mpsc::UnboundedReceiver<Delivery>,
    /// Requests for streams stay here unanswered.
    _streams: ServiceStreams,
}

struct Sink(mpsc::UnboundedSender<Delivery>);

impl MessageSink for Sink {
    fn deliver(&self, delivery: &Delivery) -> bool {
        self.0.send(delivery.clone()).is_ok()
    }
}

impl Rig {
    fn start() -> Self {
        let (handle, node) = node_channel();
        let (news, heard) = mpsc::unbounded_channel();
        let (streams, channels) = ServiceStreams::new(Vec::new());
        let peers = ServicePeers::start(
            ConfiguredPeers::default(),
            66,
            handle.clone(),
            heard,
            ChaCha8Rng::seed_from_u64(1),
        );
        let (sender, delivered) = mpsc::unbounded_channel();
        let sinks = Deliveries::default();
        sinks.add(Arc::new(Sink(sender)));
        let status = Arc::new(Mutex::new(LightStatus::default()));
        let parts = LightParts {
            client: PeerClient::new(channels.opener, handle, peers.clone(), status.clone()),
            peers: peers.clone(),
            sinks,
            clock: Clock::start(0),
            rng: ChaCha8Rng::seed_from_u64(1),
        };
        let calls = LightDriver::start(parts, status.clone());
        Self {
            calls,
            news,
            node,
            peers,
            status,
            delivered,
            _streams: streams,
        }
    }

    async fn call(
        &self,
        call: impl FnOnce(oneshot::Sender<Result<(), ServiceFailure>>) -> LightCall,
    ) -> oneshot::Receiver<Result<(), ServiceFailure>> {
        let (reply, answer) = oneshot::channel();
        self.calls.send(call(reply)).await.ok().unwrap();
        answer
    }

    /// Waits until the driver knows filter peers.
    async fn until_known(&self, count: usize) {
        while self.peers.offers().len() < count {
            tokio::task::yield_now().await;
        }
        // The event is in the driver's queue before any later call of the test.
        self.list().await;
    }

    async fn list(&self) -> Vec<FilterCriterion> {
        let (reply, answer) = oneshot::channel();
        self.calls.send(LightCall::List(reply)).await.ok().unwrap();
        answer.await.unwrap()
    }

    /// Connects a peer that offers filter.
    fn filter_peer(&self) -> PeerId {
        let peer = PeerId::random();
        let connected = PeerNews::Connected {
            peer,
            is_chosen: true,
            network: None,
        };
        self.news.send(connected).unwrap();
        let announced = PeerNews::Announced {
            peer,
            protocols: vec![filter::SUBSCRIBE_PROTOCOL_ID.to_owned()],
            address: Some("/ip4/127.0.0.1/tcp/1".parse().unwrap()),
        };
        self.news.send(announced).unwrap();
        peer
    }
}

fn criteria(content_topics: &[&str]) -> Vec<FilterCriterion> {
    let each = content_topics.iter().map(|topic| FilterCriterion {
        pubsub_topic: SHARD.into(),
        content_topic: (*topic).into(),
    });
    each.collect()
}

const NO_PEER: ServiceFailure = ServiceFailure::NoPeer { service: "filter" };

#[tokio::test]
async fn without_a_filter_peer_a_subscription_fails_at_once_and_leaves_nothing() {
    let rig = Rig::start();
    let wanted = criteria(&["/a/1/b/proto"]);
    let asked = rig.call(|reply| LightCall::Subscribe(wanted, reply)).await;
    assert_eq!(asked.await.unwrap(), Err(NO_PEER));
    assert_eq!(rig.list().await, []);
    let asked = rig.call(LightCall::UnsubscribeAll).await;
    assert_eq!(asked.await.unwrap(), Ok(()), "there is nothing to end");
}

#[tokio::test]
async fn a_subscription_that_is_to_stay_waits_for_filter_peers() {
    let rig = Rig::start();
    let wanted = criteria(&["/a/1/b/proto", "/a/1/c/proto"]);
    let keep = |reply| LightCall::Keep(wanted.clone(), None, reply);
    assert_eq!(rig.call(keep).await.await.unwrap(), Ok(()));
    assert_eq!(rig.list().await, wanted);
    let status = rig.status.lock().clone();
    assert_eq!(status.deserted().collect::<Vec<_>>(), [&SHARD.into()]);
    // A failed subscription does not remove the kept one.
    let asked = rig
        .call(|reply| LightCall::Subscribe(wanted[..1].to_vec(), reply))
        .await;
    assert_eq!(asked.await.unwrap(), Err(NO_PEER));
    assert_eq!(rig.list().await, wanted);
    let asked = rig
        .call(|reply| LightCall::Unsubscribe(wanted.clone(), reply))
        .await;
    assert_eq!(asked.await.unwrap(), Ok(()));
    assert_eq!(rig.list().await, []);
    assert_eq!(rig.status.lock().filter_peers.len(), 0);
}

#[tokio::test]
async fn too_many_subscriptions_are_refused_together() {
    let rig = Rig::start();
    let topics: Vec<_> = (0..1001).map(|n| format!("/a/1/{n}/proto")).collect();
    let topics: Vec<_> = topics.iter().map(String::as_str).collect();
    let wanted = criteria(&topics);
    let asked = rig.call(|reply| LightCall::Keep(wanted, None, reply)).await;
    let max = 1000;
    assert_eq!(
        asked.await.unwrap(),
        Err(ServiceFailure::TooManySubscriptions { max })
    );
    assert_eq!(rig.list().await, []);
}

#[tokio::test]
async fn a_caller_that_stops_waiting_leaves_no_subscription() {
    let rig = Rig::start();
    rig.filter_peer();
    rig.until_known(1).await;
    let wanted = criteria(&["/a/1/b/proto"]);
    let mut asked = rig
        .call(|reply| LightCall::Subscribe(wanted.clone(), reply))
        .await;
    assert_eq!(rig.list().await, wanted);
    assert!(asked.try_recv().is_err(), "the peer is being asked");
    drop(asked);
    // The driver notices dropped calls at its next event.
    rig.list().await;
    assert_eq!(rig.list().await, []);
}

#[tokio::test]
async fn what_is_pushed_by_a_peer_that_was_asked_is_delivered_once() {
    let mut rig = Rig::start();
    let (peer, stranger) = (rig.filter_peer(), PeerId::random());
    rig.until_known(1).await;
    let wanted = criteria(&["/a/1/b/proto"]);
    rig.call(|reply| LightCall::Keep(wanted, None, reply))
        .await
        .await
        .unwrap()
        .unwrap();
    let now_ns = Clock::start(0).unix_ns_at_zero();
    let push = |text: &'static str, content_topic: &str| {
        let message = WakuMessage {
            timestamp: Some(i64::try_from(now_ns).unwrap()),
            ..WakuMessage::new(text, content_topic)
        };
        let pubsub_topic = Some(SHARD.into());
        let push = MessagePush {
            message,
            pubsub_topic,
        };
        bytes::Bytes::from(push.encode())
    };
    let frames = [
        (stranger, push("unasked", "/a/1/b/proto")),
        (peer, bytes::Bytes::from_static(b"no frame")),
        (peer, push("other", "/a/1/c/proto")),
        (peer, push("first", "/a/1/b/proto")),
        (peer, push("first", "/a/1/b/proto")),
        (peer, push("second", "/a/1/b/proto")),
    ];
    for (from, frame) in frames {
        let call = LightCall::Pushed(from, frame);
        rig.calls.send(call).await.ok().unwrap();
    }
    for expected in ["first", "second"] {
        let delivery = rig.delivered.recv().await.unwrap();
        assert_eq!(&delivery.message.payload[..], expected.as_bytes());
        assert_eq!(delivery.from, Some(peer));
        assert_eq!(delivery.pubsub_topic.to_string(), SHARD);
    }
    rig.list().await;
    assert!(rig.delivered.try_recv().is_err());
    assert_eq!(rig.status.lock().pushed, 2);
}

#[tokio::test]
async fn a_peer_that_is_gone_is_dialled_again_while_there_are_subscriptions() {
    let mut rig = Rig::start();
    let peer = rig.filter_peer();
    rig.news.send(PeerNews::Disconnected(peer)).unwrap();
    let wanted = criteria(&["/a/1/b/proto"]);
    rig.call(|reply| LightCall::Keep(wanted, None, reply))
        .await
        .await
        .unwrap()
        .unwrap();
    for attempt in 0..2 {
        let Some(Command::Connect { address, reply, .. }) = rig.node.commands.recv().await else {
            panic!("no attempt {attempt}");
        };
        assert!(address.to_string().ends_with(&peer.to_string()));
        let reason = "refused".to_owned();
        reply
            .send(Err(ConnectFailure::Dial { address, reason }))
            .unwrap();
    }
}
