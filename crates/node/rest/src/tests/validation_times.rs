//! Tests of the validation times.

use libp2p::PeerId;
use undertone_gossip::MessageId;
use undertone_message::WakuMessage;

use super::*;
use crate::fake::shard;

fn delivered(times: &ValidationTimes, from: Option<PeerId>, took_us: u64) {
    let received = Instant::now();
    assert!(times.deliver(&Delivery {
        pubsub_topic: shard(0),
        message: WakuMessage::new(vec![1], "/a/1/b/proto"),
        id: MessageId([0; 32]),
        from,
        received,
        validated: received + Duration::from_micros(took_us),
    }));
}

#[test]
fn a_summary_is_of_the_last_messages_of_peers() {
    let times = ValidationTimes::new();
    delivered(&times, None, 9_000);
    assert_eq!(times.summary(), None, "an own message does not count");
    // The first of them are forgotten.
    for _ in 0..100 {
        delivered(&times, Some(PeerId::random()), 1_000_000);
    }
    for took_us in 1..=KEPT_MAX as u64 {
        delivered(&times, Some(PeerId::random()), took_us);
    }
    let expected = ValidationSummary {
        messages: 512,
        median_us: 256,
        p95_us: 487,
        max_us: 512,
    };
    assert_eq!(times.summary(), Some(expected));
}
