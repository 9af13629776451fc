use std::{num::NonZeroU16, time::Duration};

use bytes::Bytes;
use proptest::prelude::*;

use super::*;
use crate::{
    lightpush::LightpushCodecLimits,
    rpc::tests::{JS_REQUEST_ID, golden},
};

mod abuse;

const TOPIC: &str = "/waku/2/rs/1/3";
const CONTENT_TOPIC: &str = "/toychat/2/huilong/proto";

/// Server with a clock and drained outputs.
struct Bench {
    server: LightpushServer,
    now: Time,
    next_request: u64,
}

impl Bench {
    fn new(limits: LightpushLimits) -> Self {
        Self::with(NonZeroU16::new(8), limits)
    }

    fn with(num_shards: Option<NonZeroU16>, limits: LightpushLimits) -> Self {
        let sharding = Sharding {
            cluster: 1,
            num_shards,
        };
        Self {
            server: LightpushServer::new(sharding, limits),
            now: Time::ZERO,
            next_request: 0,
        }
    }

    fn handle(&mut self, input: Input) -> Vec<Output> {
        self.server.handle(self.now, input);
        std::iter::from_fn(|| self.server.poll()).collect()
    }

    fn frame(&mut self, peer: u64, version: PushVersion, bytes: impl Into<Bytes>) -> Vec<Output> {
        self.next_request += 1;
        self.handle(Input::Request {
            peer: PeerNo(peer),
            request: RequestNo(self.next_request),
            version,
            bytes: bytes.into(),
        })
    }

    fn push(
        &mut self,
        peer: u64,
        version: PushVersion,
        topic: Option<&str>,
        message: WakuMessage,
    ) -> Vec<Output> {
        let request_id = "id".to_owned();
        let pubsub_topic = topic.map(Into::into);
        let frame = match version {
            PushVersion::V3 => LightpushRequest {
                request_id,
                pubsub_topic,
                message,
            }
            .encode(),
            PushVersion::V2 => LegacyRequest {
                request_id,
                pubsub_topic,
                message,
            }
            .encode(),
        };
        self.frame(peer, version, frame)
    }

    fn published(
        &mut self,
        publish: RequestNo,
        outcome: Result<u32, PublishRefusal>,
    ) -> Vec<Output> {
        self.handle(Input::Published { publish, outcome })
    }
}

fn message() -> WakuMessage {
    WakuMessage::new("hello", CONTENT_TOPIC)
}

/// Returns number and topic of the message that is to be published.
fn publish(outputs: &[Output]) -> (RequestNo, String) {
    let [
        Output::Publish {
            publish,
            pubsub_topic,
            ..
        },
    ] = outputs
    else {
        panic!("{outputs:?}");
    };
    (*publish, pubsub_topic.to_string())
}

/// Returns status and text of the only answer.
fn v3(outputs: &[Output]) -> (u32, Option<String>) {
    let [Output::Respond { bytes, .. }] = outputs else {
        panic!("{outputs:?}");
    };
    let response = LightpushResponse::decode(bytes, &LightpushCodecLimits::default()).unwrap();
    (response.status.0, response.status_desc)
}

fn v2(outputs: &[Output]) -> (bool, Option<String>) {
    let [Output::Respond { bytes, .. }] = outputs else {
        panic!("{outputs:?}");
    };
    let response = LegacyResponse::decode(bytes, &LightpushCodecLimits::default()).unwrap();
    (response.is_success, response.info)
}

#[test]
fn a_request_of_js_waku_is_published_and_answered_under_its_id() {
    let mut bench = Bench::new(LightpushLimits::default());
    let outputs = bench.frame(1, PushVersion::V3, golden("lightpush-v3-request"));
    let [
        Output::Publish {
            publish,
            pubsub_topic,
            message,
        },
    ] = &outputs[..]
    else {
        panic!("{outputs:?}");
    };
    assert_eq!(&**pubsub_topic, "/waku/2/rs/1/0");
    assert_eq!(&message.payload[..], b"hello");
    let outputs = bench.published(*publish, Ok(5));
    let bytes = golden("lightpush-v3-response");
    assert_eq!(
        outputs,
        [Output::Respond {
            request: RequestNo(1),
            bytes
        }]
    );
    assert_eq!(bench.server.usage(), LightpushUsage::default());
}

#[test]
fn a_legacy_request_of_js_waku_is_published_and_answered_under_its_id() {
    let mut bench = Bench::new(LightpushLimits::default());
    let outputs = bench.frame(1, PushVersion::V2, golden("lightpush-v2-request"));
    let (number, topic) = publish(&outputs);
    assert_eq!(topic, "/waku/2/rs/1/0");
    let outputs = bench.published(number, Ok(1));
    let bytes = golden("lightpush-v2-response");
    assert_eq!(
        outputs,
        [Output::Respond {
            request: RequestNo(1),
            bytes
        }]
    );
}

#[test]
fn the_pubsub_topic_is_derived_when_the_network_has_autosharding() {
    for version in [PushVersion::V2, PushVersion::V3] {
        let mut bench = Bench::new(LightpushLimits::default());
        let outputs = bench.push(1, version, None, message());
        assert_eq!(publish(&outputs).1, TOPIC);
    }
}

#[test]
fn requests_without_usable_topic_are_refused() {
    let required = "Pubsub topic must be specified when static sharding is enabled";
    let mut bench = Bench::with(None, LightpushLimits::default());
    let outputs = bench.push(1, PushVersion::V3, None, message());
    assert_eq!(v3(&outputs), (420, Some(required.to_owned())));
    let outputs = bench.push(1, PushVersion::V2, None, message());
    assert_eq!(v2(&outputs), (false, Some(required.to_owned())));

    let mut bench = Bench::new(LightpushLimits::default());
    let outputs = bench.push(1, PushVersion::V3, None, WakuMessage::new("hello", "hello"));
    let (status, text) = v3(&outputs);
    assert_eq!(status, 420);
    assert!(text.unwrap().starts_with("Invalid content-topic:"));
    assert_eq!(bench.server.usage(), LightpushUsage::default());
}

#[test]
fn the_relay_decides_which_topics_are_served() {
    let mut bench = Bench::new(LightpushLimits::default());
    for topic in ["/waku/2/rs/1/1000", "/waku/2/rs/2/0", "/waku/2/rs/1/x"] {
        let outputs = bench.push(1, PushVersion::V3, Some(topic), message());
        assert_eq!(publish(&outputs).1, topic);
    }
}

#[test]
fn a_message_over_the_networks_limit_is_refused() {
    let mut bench = Bench::new(LightpushLimits::default());
    let overhead = WakuMessage::new("", CONTENT_TOPIC).encoded_len() + 2;
    for (version, size, accepted) in [
        (PushVersion::V3, 153_600 - overhead, true),
        (PushVersion::V3, 153_601 - overhead, false),
        (PushVersion::V2, 153_600 - overhead, true),
        (PushVersion::V2, 1_000_000, false),
    ] {
        let large = WakuMessage::new(vec![0; size], CONTENT_TOPIC);
        let outputs = bench.push(1, version, Some(TOPIC), large);
        let text = "Message size exceeded maximum of 153600 bytes".to_owned();
        match (accepted, version) {
            (true, _) => drop(publish(&outputs)),
            (false, PushVersion::V3) => assert_eq!(v3(&outputs), (413, Some(text))),
            (false, PushVersion::V2) => assert_eq!(v2(&outputs), (false, Some(text))),
        }
    }
}

#[test]
fn what_the_relay_says_has_a_status_and_a_text_that_clients_know() {
    let refusals = [
        (
            PublishRefusal::NoPeers,
            505,
            "No peers for topic, skipping publish",
            "not_published_to_any_peer",
        ),
        (
            PublishRefusal::InvalidProof,
            420,
            "RLN validation failed",
            "RLN validation failed",
        ),
        (
            PublishRefusal::ForgedProof,
            420,
            "RLN validation failed",
            "RLN validation failed",
        ),
        (PublishRefusal::Busy, 503, "busy", "busy"),
        (
            PublishRefusal::Duplicate,
            420,
            "Dropping already-seen message",
            "Dropping already-seen message",
        ),
        (
            PublishRefusal::InvalidMessage,
            420,
            "message is not valid",
            "message is not valid",
        ),
        (
            PublishRefusal::TooLarge { max_bytes: 9 },
            413,
            "maximum of 9 bytes",
            "maximum of 9 bytes",
        ),
        (
            PublishRefusal::NoProof,
            504,
            "could not generate rln proof",
            "could not generate rln proof",
        ),
        (
            PublishRefusal::ProofLimit,
            504,
            "could not get new message id",
            "could not get new message id",
        ),
        (
            PublishRefusal::UnsupportedTopic,
            421,
            "not supported",
            "not supported",
        ),
        (
            PublishRefusal::Stopping,
            503,
            "shutting down",
            "shutting down",
        ),
        (PublishRefusal::TimedOut, 503, "timed out", "timed out"),
        (PublishRefusal::Failed, 500, "failed", "failed"),
    ];
    let mut bench = Bench::new(LightpushLimits::default());
    for (refusal, status, text, legacy_text) in refusals {
        let outputs = bench.push(1, PushVersion::V3, Some(TOPIC), message());
        let (code, desc) = v3(&bench.published(publish(&outputs).0, Err(refusal)));
        assert_eq!(code, status);
        assert!(desc.unwrap().contains(text));
        let outputs = bench.push(1, PushVersion::V2, Some(TOPIC), message());
        let (is_success, info) = v2(&bench.published(publish(&outputs).0, Err(refusal)));
        assert!(!is_success);
        assert!(info.unwrap().contains(legacy_text));
    }
}

#[test]
fn a_message_that_no_peer_got_was_not_published() {
    let mut bench = Bench::new(LightpushLimits::default());
    let outputs = bench.push(1, PushVersion::V3, Some(TOPIC), message());
    assert_eq!(v3(&bench.published(publish(&outputs).0, Ok(0))).0, 505);
    assert_eq!(bench.server.stats().refused, 1);
}

#[test]
fn a_request_beyond_the_rate_is_told_so() {
    let mut bench = Bench::new(LightpushLimits::default());
    let mut too_many = |version| {
        bench.handle(Input::TooMany {
            request: RequestNo(7),
            version,
        })
    };
    let text = "Request rejected due to too many requests";
    assert_eq!(v3(&too_many(PushVersion::V3)), (429, Some(text.to_owned())));
    assert_eq!(
        v2(&too_many(PushVersion::V2)),
        (false, Some("TOO_MANY_REQUESTS".to_owned()))
    );
}

#[test]
fn a_relay_that_does_not_report_is_given_up() {
    let mut bench = Bench::new(LightpushLimits::default());
    let first = publish(&bench.push(1, PushVersion::V3, Some(TOPIC), message())).0;
    bench.now = Time::from_millis(10_000);
    bench.push(1, PushVersion::V3, Some(TOPIC), message());
    assert_eq!(bench.server.next_timeout(), Some(Time::from_millis(30_000)));
    bench.now = Time::from_millis(30_000);
    assert_eq!(
        v3(&bench.handle(Input::Tick)),
        (503, Some("publishing timed out".to_owned()))
    );
    assert_eq!(bench.published(first, Ok(3)), [], "too late");
    assert_eq!(bench.server.next_timeout(), Some(Time::from_millis(40_000)));
}

#[test]
fn a_peer_that_is_gone_gets_no_answer() {
    let mut bench = Bench::new(LightpushLimits::default());
    let of_gone = publish(&bench.push(1, PushVersion::V3, Some(TOPIC), message())).0;
    let of_other = publish(&bench.push(2, PushVersion::V3, Some(TOPIC), message())).0;
    bench.handle(Input::PeerGone(PeerNo(1)));
    assert_eq!(
        bench.server.usage().publishing,
        2,
        "the relay still works on both"
    );
    assert_eq!(bench.published(of_gone, Ok(3)), []);
    assert_eq!(v3(&bench.published(of_other, Ok(3))), (200, None));
    assert_eq!(bench.server.stats().published, 2);
}
