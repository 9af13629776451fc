use std::time::Instant;

use undertone_gossip::MessageId;
use undertone_message::WakuMessage;

use super::*;
use crate::events::EventLimits;
use crate::fake::shard;

const TOPIC: &str = "/a/1/b/proto";

fn deliver(inbox: &Inbox) {
    let now = Instant::now();
    assert!(inbox.deliver(&Delivery {
        pubsub_topic: shard(0),
        message: WakuMessage::new("hi", TOPIC),
        id: MessageId([0; 32]),
        from: None,
        received: now,
        validated: now,
    }));
}

#[test]
fn a_message_that_all_read_is_one_allocation() {
    let inbox = Inbox {
        cache: Arc::new(MessageCache::new(1)),
        received: Arc::new(ReceivedMessages::new(1)),
        events: Arc::new(EventLog::new(EventLimits::default(), 0)),
    };
    inbox.cache.subscribe_pubsub(shard(0));
    inbox.cache.subscribe_content(TOPIC, None).unwrap();
    deliver(&inbox);
    let taken = inbox.cache.take_content(TOPIC).unwrap();
    let holders = Arc::strong_count(&taken[0]);
    assert_eq!(holders, 1, "neither subscribed to nor followed elsewhere");

    inbox.received.subscribe(TOPIC, shard(0)).unwrap();
    inbox.events.follow();
    deliver(&inbox);
    let taken = inbox.cache.take_content(TOPIC).unwrap();
    let holders = Arc::strong_count(&taken[0]);
    assert_eq!(
        holders, 3,
        "this test, the received messages and the events"
    );
}
