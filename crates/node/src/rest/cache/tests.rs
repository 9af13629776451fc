use std::time::Instant;

use undertone_gossip::MessageId;
use undertone_message::Shard;

use super::*;

const TOPIC: &str = "/a/1/b/proto";

fn shard(index: u16) -> PubsubTopic {
    Shard { cluster: 66, index }.into()
}

fn message(payload: u8) -> WakuMessage {
    WakuMessage::new(vec![payload], TOPIC)
}

fn deliver(cache: &MessageCache, pubsub_topic: PubsubTopic, payload: u8) {
    let message = message(payload);
    let now = Instant::now();
    let delivery = Delivery {
        pubsub_topic,
        message,
        id: MessageId([0; 32]),
        from: None,
        received: now,
        validated: now,
    };
    assert!(cache.deliver(&delivery));
}

#[test]
fn the_oldest_message_is_dropped_and_fetching_empties() {
    let cache = MessageCache::new(2);
    assert!(cache.subscribe_pubsub(shard(0)));
    assert!(!cache.subscribe_pubsub(shard(0)));
    (1..=3).for_each(|payload| deliver(&cache, shard(0), payload));
    assert_eq!(
        cache.take_pubsub(&shard(0)),
        Some(vec![message(2), message(3)])
    );
    assert_eq!(cache.take_pubsub(&shard(0)), Some(vec![]));
}

#[test]
fn only_subscribed_topics_are_kept() {
    let cache = MessageCache::new(2);
    deliver(&cache, shard(0), 1);
    assert_eq!(cache.take_pubsub(&shard(0)), None);
    cache.subscribe_pubsub(shard(0));
    deliver(&cache, shard(0), 2);
    cache.unsubscribe_pubsub(&shard(0));
    assert_eq!(cache.take_pubsub(&shard(0)), None);
}

#[test]
fn a_content_topic_is_kept_from_its_own_carrier_only() {
    let cache = MessageCache::new(2);
    assert_eq!(cache.subscribe_content(TOPIC, shard(1)), Ok(true));
    assert_eq!(cache.subscribe_content(TOPIC, shard(1)), Ok(false));
    deliver(&cache, shard(0), 1);
    deliver(&cache, shard(1), 2);
    assert_eq!(cache.take_content(TOPIC), Some(vec![message(2)]));
    assert_eq!(cache.take_content("/other/1/b/proto"), None);
}

#[test]
fn a_carrier_is_wanted_until_its_last_subscription_goes() {
    let cache = MessageCache::new(2);
    cache.subscribe_pubsub(shard(0));
    cache.subscribe_content(TOPIC, shard(0)).unwrap();
    cache.unsubscribe_pubsub(&shard(0));
    assert!(cache.wants(&shard(0)));
    cache.unsubscribe_content(TOPIC);
    assert!(!cache.wants(&shard(0)));
}

#[test]
fn content_topics_are_bounded() {
    let cache = MessageCache::new(1);
    for i in 0..MAX_CONTENT_TOPICS {
        assert_eq!(
            cache.subscribe_content(&format!("/a/1/{i}/b"), shard(0)),
            Ok(true)
        );
    }
    assert_eq!(cache.subscribe_content(TOPIC, shard(0)), Err(TooManyTopics));
}
