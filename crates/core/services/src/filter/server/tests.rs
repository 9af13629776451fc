use std::num::NonZeroU16;

use undertone_message::WakuMessage;

use super::*;
use crate::filter::{FilterCodecLimits, MessagePush};

mod abuse;
mod model;

const TOPIC: &str = "/waku/2/rs/1/0";
const CHAT: &str = "/my-app/1/chat/proto";
const NEWS: &str = "/my-app/1/news/proto";

/// Server with a clock and drained outputs.
struct Bench {
    server: FilterServer,
    now: Time,
    next_request: u64,
}

impl Bench {
    fn new(limits: FilterLimits) -> Self {
        let sharding = Sharding {
            cluster: 1,
            num_shards: NonZeroU16::new(8),
        };
        Self::with(sharding, limits)
    }

    fn with(sharding: Sharding, limits: FilterLimits) -> Self {
        Self {
            server: FilterServer::new(sharding, limits),
            now: Time::ZERO,
            next_request: 0,
        }
    }

    fn wait(&mut self, seconds: u64) {
        self.now = self.now.after(Duration::from_secs(seconds));
    }

    fn handle(&mut self, input: Input) -> Vec<Output> {
        self.server.handle(self.now, input);
        std::iter::from_fn(|| self.server.poll()).collect()
    }

    /// Sends a frame and returns the answer.
    fn frame(&mut self, peer: u64, bytes: impl Into<Bytes>) -> SubscribeResponse {
        self.next_request += 1;
        let number = RequestNo(self.next_request);
        let outputs = self.handle(Input::Request {
            peer: PeerNo(peer),
            request: number,
            bytes: bytes.into(),
        });
        let [Output::Respond { request, bytes }] = &outputs[..] else {
            panic!("{outputs:?}");
        };
        assert_eq!(*request, number);
        SubscribeResponse::decode(bytes, &FilterCodecLimits::default()).unwrap()
    }

    fn ask(
        &mut self,
        peer: u64,
        kind: SubscribeKind,
        topic: Option<&str>,
        content: &[&str],
    ) -> (u32, String) {
        let request = SubscribeRequest {
            request_id: "id".to_owned(),
            kind,
            pubsub_topic: topic.map(Into::into),
            content_topics: content.iter().map(|&topic| topic.into()).collect(),
        };
        let response = self.frame(peer, request.encode());
        assert_eq!(response.request_id, "id");
        (response.status.0, response.status_desc.unwrap())
    }

    fn subscribe(&mut self, peer: u64, content: &[&str]) -> u32 {
        self.ask(peer, SubscribeKind::Subscribe, Some(TOPIC), content)
            .0
    }

    fn unsubscribe(&mut self, peer: u64, content: &[&str]) -> u32 {
        self.ask(peer, SubscribeKind::Unsubscribe, Some(TOPIC), content)
            .0
    }

    fn ping(&mut self, peer: u64) -> u32 {
        self.ask(peer, SubscribeKind::Ping, None, &[]).0
    }

    fn publish(&mut self, payload: &str, content_topic: &str) -> Vec<Output> {
        let message = WakuMessage::new(payload.to_owned(), content_topic);
        let message = StoredMessage::new(TOPIC, message);
        self.handle(Input::Message { message })
    }

    fn report(&mut self, peer: u64, delivered: bool) -> Vec<Output> {
        let peer = PeerNo(peer);
        self.handle(Input::Pushed { peer, delivered })
    }
}

/// No receivers; the type helps inference.
const NOBODY: [u64; 0] = [];

/// Returns the peers that messages are pushed to.
fn receivers(outputs: &[Output]) -> Vec<u64> {
    let receiver = |output: &Output| match output {
        Output::Push { peer, .. } => Some(peer.0),
        _ => None,
    };
    outputs.iter().filter_map(receiver).collect()
}

#[test]
fn a_subscriber_gets_messages_of_its_content_topics_until_it_unsubscribes() {
    let mut bench = Bench::new(FilterLimits::default());
    assert_eq!(bench.subscribe(1, &[CHAT, NEWS]), 200);
    assert_eq!(receivers(&bench.publish("1", CHAT)), [1]);
    assert_eq!(receivers(&bench.publish("2", NEWS)), [1]);
    assert_eq!(
        receivers(&bench.publish("3", "/other/1/chat/proto")),
        NOBODY
    );
    assert_eq!(bench.unsubscribe(1, &[CHAT]), 200);
    assert_eq!(receivers(&bench.publish("4", CHAT)), NOBODY);
    assert_eq!(receivers(&bench.publish("5", NEWS)), [1]);
    let all = bench.ask(1, SubscribeKind::UnsubscribeAll, Some(TOPIC), &[]);
    assert_eq!(all, (200, "OK".to_owned()));
    assert_eq!(receivers(&bench.publish("6", NEWS)), NOBODY);
}

#[test]
fn a_push_has_the_message_and_its_topic() {
    let mut bench = Bench::new(FilterLimits::default());
    bench.subscribe(1, &[CHAT]);
    let outputs = bench.publish("hello", CHAT);
    let [
        Output::Push {
            peer: PeerNo(1),
            bytes,
        },
    ] = &outputs[..]
    else {
        panic!("{outputs:?}");
    };
    let push = MessagePush::decode(bytes, &FilterCodecLimits::default()).unwrap();
    assert_eq!(push.pubsub_topic.as_deref(), Some(TOPIC));
    assert_eq!(push.message, WakuMessage::new("hello", CHAT));
}

#[test]
fn a_message_to_many_peers_is_encoded_once() {
    let mut bench = Bench::new(FilterLimits::default());
    for peer in 0..1000 {
        bench.subscribe(peer, &[CHAT]);
    }
    let outputs = bench.publish("hello", CHAT);
    assert_eq!(receivers(&outputs), (0..1000).collect::<Vec<_>>());
    let address = |output: &Output| match output {
        Output::Push { bytes, .. } => bytes.as_ptr(),
        other => panic!("{other:?}"),
    };
    assert!(
        outputs
            .iter()
            .all(|output| address(output) == address(&outputs[0]))
    );
    assert!(bench.server.usage().push_bytes < 100);
}

#[test]
fn the_pubsub_topic_is_derived_when_the_network_has_autosharding() {
    let mut bench = Bench::new(FilterLimits::default());
    let topics = ["/toychat/2/huilong/proto", "/statusim/1/community/cbor"];
    let answer = bench.ask(1, SubscribeKind::Subscribe, None, &topics);
    assert_eq!(answer, (200, "OK".to_owned()));
    let [subscription] = &bench.server.subscriptions()[..] else {
        panic!("one subscriber");
    };
    let shards: Vec<_> = subscription
        .criteria
        .iter()
        .map(|c| (&*c.pubsub_topic, &*c.content_topic))
        .collect();
    assert_eq!(
        shards,
        [("/waku/2/rs/1/3", topics[0]), ("/waku/2/rs/1/4", topics[1])]
    );
    let answer = bench.ask(1, SubscribeKind::Unsubscribe, None, &topics);
    assert_eq!(answer.0, 200);
    assert_eq!(bench.server.usage(), FilterUsage::default());
}

#[test]
fn refusals_have_the_statuses_and_texts_of_nwaku() {
    let mut bench = Bench::new(FilterLimits {
        max_peers: 1,
        max_criteria_per_peer: 2,
        ..FilterLimits::default()
    });
    let (subscribe, unsubscribe) = (SubscribeKind::Subscribe, SubscribeKind::Unsubscribe);
    let not_found = (404, "NOT_FOUND: peer has no subscriptions".to_owned());
    assert_eq!(bench.ask(1, SubscribeKind::Ping, None, &[]), not_found);
    assert_eq!(bench.ask(1, unsubscribe, Some(TOPIC), &[CHAT]), not_found);
    assert_eq!(
        bench.ask(1, SubscribeKind::UnsubscribeAll, None, &[]),
        not_found
    );
    let needed = (
        400,
        "BAD_REQUEST: pubsubTopic and contentTopics must be specified".to_owned(),
    );
    assert_eq!(bench.ask(1, subscribe, Some(TOPIC), &[]), needed);
    assert_eq!(bench.ask(1, unsubscribe, Some(TOPIC), &[]), needed);
    let too_many = (
        400,
        "BAD_REQUEST: exceeds maximum content topics: 100".to_owned(),
    );
    assert_eq!(bench.ask(1, subscribe, Some(TOPIC), &[CHAT; 101]), too_many);
    let full = (
        503,
        "SERVICE_UNAVAILABLE: peer has reached maximum number of filter criteria".to_owned(),
    );
    assert_eq!(
        bench.ask(1, subscribe, Some(TOPIC), &["/a/1/b/c", CHAT, NEWS]),
        full
    );
    assert_eq!(bench.ask(1, subscribe, Some(TOPIC), &[CHAT]).0, 200);
    let full = (
        503,
        "SERVICE_UNAVAILABLE: node has reached maximum number of subscriptions: 1".to_owned(),
    );
    assert_eq!(bench.ask(2, subscribe, Some(TOPIC), &[CHAT]), full);
    assert_eq!(bench.ask(1, unsubscribe, Some(TOPIC), &[NEWS]), not_found);
    let stats = bench.server.stats();
    assert_eq!((stats.requests, stats.refused), ([1, 4, 3, 1], 9));
}

#[test]
fn without_autosharding_the_topic_must_be_named() {
    let sharding = Sharding {
        cluster: 1,
        num_shards: None,
    };
    let mut bench = Bench::with(sharding, FilterLimits::default());
    let answer = bench.ask(1, SubscribeKind::Subscribe, None, &[CHAT]);
    let needed = "BAD_REQUEST: pubsubTopic and contentTopics must be specified";
    assert_eq!(answer, (400, needed.to_owned()));
    assert_eq!(bench.subscribe(1, &[CHAT]), 200);
}

#[test]
fn a_request_beyond_the_rate_is_told_so() {
    let mut bench = Bench::new(FilterLimits::default());
    let outputs = bench.handle(Input::TooMany {
        request: RequestNo(7),
    });
    let [
        Output::Respond {
            request: RequestNo(7),
            bytes,
        },
    ] = &outputs[..]
    else {
        panic!("{outputs:?}");
    };
    let response = SubscribeResponse::decode(bytes, &FilterCodecLimits::default()).unwrap();
    assert_eq!(
        (&*response.request_id, response.status),
        ("N/A", FilterStatus::TOO_MANY_REQUESTS)
    );
    let text = "filter request rejected due rate limit exceeded";
    assert_eq!(response.status_desc.as_deref(), Some(text));
}

#[test]
fn a_subscription_lives_while_its_peer_pings() {
    let mut bench = Bench::new(FilterLimits::default());
    bench.subscribe(1, &[CHAT]);
    for _ in 0..5 {
        bench.wait(290);
        assert_eq!(bench.ping(1), 200);
    }
    bench.wait(301);
    assert_eq!(receivers(&bench.publish("late", CHAT)), NOBODY);
    assert_eq!(bench.ping(1), 404);
}

#[test]
fn a_request_does_not_revive_what_has_expired() {
    let mut bench = Bench::new(FilterLimits::default());
    bench.subscribe(1, &[CHAT]);
    bench.server.maintain_at = None;
    bench.wait(301);
    bench.subscribe(1, &[NEWS]);
    assert_eq!(receivers(&bench.publish("1", CHAT)), NOBODY);
    assert_eq!(receivers(&bench.publish("2", NEWS)), [1]);
}

#[test]
fn the_server_wakes_to_forget_and_then_sleeps() {
    let mut bench = Bench::new(FilterLimits::default());
    assert_eq!(bench.server.next_timeout(), None);
    bench.subscribe(1, &[CHAT]);
    bench.publish("1", CHAT);
    let mut wakings = 0;
    while let Some(at) = bench.server.next_timeout() {
        bench.now = at;
        assert_eq!(bench.handle(Input::Tick), []);
        wakings += 1;
    }
    assert_eq!(wakings, 6, "300 s have not passed at the fifth minute");
    assert_eq!(bench.report(1, true), []);
    assert_eq!(bench.server.usage(), FilterUsage::default());
}

#[test]
fn a_peer_that_reconnects_keeps_its_subscription() {
    let mut bench = Bench::new(FilterLimits::default());
    bench.subscribe(1, &[CHAT]);
    bench.publish("1", CHAT);
    bench.handle(Input::PeerGone(PeerNo(1)));
    assert_eq!(
        bench.server.usage().push_bytes,
        0,
        "the driver forgot the push"
    );
    for number in 0..200 {
        bench.wait(1);
        bench.publish(&format!("away {number}"), CHAT);
        assert_eq!(
            bench.report(1, false),
            [],
            "a peer that is away is not dropped"
        );
    }
    assert_eq!(receivers(&bench.publish("back", CHAT)), [1]);
    bench.report(1, true);
    assert_eq!(bench.ping(1), 200);
}

#[test]
fn a_message_is_pushed_once_in_two_minutes() {
    let mut bench = Bench::new(FilterLimits::default());
    assert_eq!(
        receivers(&bench.publish("1", CHAT)),
        NOBODY,
        "nobody is subscribed, nothing is noted"
    );
    bench.subscribe(1, &[CHAT]);
    assert_eq!(receivers(&bench.publish("1", CHAT)), [1]);
    bench.wait(100);
    assert_eq!(receivers(&bench.publish("1", CHAT)), NOBODY);
    assert_eq!(bench.server.stats().duplicates, 1);
    bench.wait(120);
    assert_eq!(receivers(&bench.publish("1", CHAT)), [1]);
}
