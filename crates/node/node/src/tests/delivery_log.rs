use std::time::Duration;

use undertone_gossip::MessageId;
use undertone_message::{PubsubTopic, Shard, WakuMessage};

use super::*;

fn lines(path: &Path) -> Vec<DeliveryLine> {
    let text = std::fs::read_to_string(path).unwrap();
    let parse = |line| serde_json::from_str(line).unwrap();
    text.lines().map(parse).collect()
}

#[test]
fn a_delivery_is_a_line_at_once() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("deliveries");
    let log = DeliveryLog::open(&path).unwrap();
    let received = Instant::now();
    let delivery = Delivery {
        pubsub_topic: PubsubTopic::Static(Shard::new(66, 0).unwrap()),
        message: WakuMessage::new(vec![7; 300], "/test/1/log/proto"),
        id: MessageId([0xab; 32]),
        from: None,
        received,
        validated: received + Duration::from_micros(1500),
    };
    assert!(log.deliver(&delivery));
    let [
        DeliveryLine::Delivered {
            id,
            content_topic,
            payload_bytes,
            from,
            received_ns,
            validated_ns,
        },
    ] = &lines(&path)[..]
    else {
        panic!("it is a delivery");
    };
    assert_eq!(*id, "ab".repeat(32));
    assert_eq!(content_topic, "/test/1/log/proto");
    assert_eq!((*payload_bytes, from), (300, &None));
    assert_eq!(validated_ns - received_ns, 1_500_000);
    // Opening an existing log keeps its lines.
    assert!(DeliveryLog::open(&path).unwrap().deliver(&delivery));
    assert_eq!(lines(&path).len(), 2);
}

#[tokio::test]
async fn proofs_are_written_and_other_events_are_not() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("deliveries");
    let log = DeliveryLog::open(&path).unwrap();
    let events = log.follow();
    let at = Instant::now();
    let made = at + Duration::from_millis(240);
    let peer = libp2p::PeerId::random();
    for event in [
        NodeEvent::PeerConnected { peer },
        NodeEvent::Proved { asked: at, made },
    ] {
        events.send(TimedEvent { at, event }).unwrap();
    }
    drop(events);
    // The log's task has nothing else to wait for.
    tokio::task::yield_now().await;
    let [DeliveryLine::Proved { asked_ns, made_ns }] = &lines(&path)[..] else {
        panic!("it is a proof");
    };
    assert_eq!(made_ns - asked_ns, 240_000_000);
}

#[test]
fn moments_before_the_clock_was_read_count_back() {
    let clock = MonotonicNs::now();
    let earlier = clock.moment - Duration::from_nanos(5);
    assert_eq!(clock.of(earlier), clock.as_ns() - 5);
    assert_eq!(
        clock.of(clock.moment + Duration::from_nanos(5)),
        clock.as_ns() + 5
    );
}
