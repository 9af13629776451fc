use std::time::Instant;

use undertone_gossip::MessageId;
use undertone_message::{Shard, WakuMessage};

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
    let delivery = Arc::new(Delivery {
        pubsub_topic,
        message,
        id: MessageId([0; 32]),
        from: None,
        received: now,
        validated: now,
    });
    cache.keep(&delivery);
}

fn take_pubsub(cache: &MessageCache, topic: &PubsubTopic) -> Option<Vec<WakuMessage>> {
    cache.take_pubsub(topic).map(messages)
}

fn take_content(cache: &MessageCache, topic: &str) -> Option<Vec<WakuMessage>> {
    cache.take_content(topic).map(messages)
}

fn messages(taken: Vec<Arc<Delivery>>) -> Vec<WakuMessage> {
    taken.iter().map(|one| one.message.clone()).collect()
}

/// Number of messages that some queue holds.
fn kept(cache: &MessageCache) -> usize {
    let kept = cache.kept.lock();
    let contents = kept.content.values().map(|content| &content.queue);
    let all = kept.pubsub.values().chain(contents).flatten();
    all.map(|(number, _)| number).collect::<BTreeSet<_>>().len()
}

#[test]
fn the_oldest_message_is_dropped_and_fetching_empties() {
    let cache = MessageCache::new(2);
    assert!(cache.subscribe_pubsub(shard(0)));
    assert!(!cache.subscribe_pubsub(shard(0)));
    (1..=3).for_each(|payload| deliver(&cache, shard(0), payload));
    assert_eq!(
        take_pubsub(&cache, &shard(0)),
        Some(vec![message(2), message(3)])
    );
    assert_eq!(take_pubsub(&cache, &shard(0)), Some(vec![]));
}

#[test]
fn only_subscribed_topics_are_kept() {
    let cache = MessageCache::new(2);
    deliver(&cache, shard(0), 1);
    assert_eq!(take_pubsub(&cache, &shard(0)), None);
    cache.subscribe_pubsub(shard(0));
    deliver(&cache, shard(0), 2);
    cache.unsubscribe_pubsub(&shard(0));
    assert_eq!(take_pubsub(&cache, &shard(0)), None);
}

#[test]
fn a_content_topic_is_kept_from_its_own_carrier_only() {
    let cache = MessageCache::new(2);
    assert_eq!(cache.subscribe_content(TOPIC, Some(shard(1))), Ok(true));
    assert_eq!(cache.subscribe_content(TOPIC, Some(shard(1))), Ok(false));
    deliver(&cache, shard(0), 1);
    deliver(&cache, shard(1), 2);
    assert_eq!(take_content(&cache, TOPIC), Some(vec![message(2)]));
    assert_eq!(take_content(&cache, "/other/1/b/proto"), None);
}

#[test]
fn a_carrier_is_wanted_until_its_last_subscription_goes() {
    let cache = MessageCache::new(2);
    cache.subscribe_pubsub(shard(0));
    cache.subscribe_content(TOPIC, Some(shard(0))).unwrap();
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
            cache.subscribe_content(&format!("/a/1/{i}/b"), Some(shard(0))),
            Ok(true)
        );
    }
    assert_eq!(
        cache.subscribe_content(TOPIC, Some(shard(0))),
        Err(TooManyTopics)
    );
}

#[test]
fn what_is_fetched_by_one_index_is_gone_from_the_other() {
    let cache = MessageCache::new(4);
    cache.subscribe_pubsub(shard(0));
    cache.subscribe_content(TOPIC, Some(shard(0))).unwrap();
    deliver(&cache, shard(0), 1);
    assert_eq!(take_pubsub(&cache, &shard(0)), Some(vec![message(1)]));
    assert_eq!(take_content(&cache, TOPIC), Some(vec![]));
    deliver(&cache, shard(0), 2);
    assert_eq!(take_content(&cache, TOPIC), Some(vec![message(2)]));
    assert_eq!(take_pubsub(&cache, &shard(0)), Some(vec![]));
    assert_eq!(kept(&cache), 0);
}

#[test]
fn a_content_topic_of_a_subscribed_shard_is_there_once_a_message_came() {
    let cache = MessageCache::new(2);
    cache.subscribe_pubsub(shard(0));
    assert_eq!(take_content(&cache, TOPIC), None);
    deliver(&cache, shard(1), 1);
    assert_eq!(take_content(&cache, TOPIC), None, "of another shard");
    (2..=4).for_each(|payload| deliver(&cache, shard(0), payload));
    let newest = vec![message(3), message(4)];
    assert_eq!(take_content(&cache, TOPIC), Some(newest));
    assert_eq!(
        take_content(&cache, TOPIC),
        Some(vec![]),
        "not unknown again"
    );
    assert_eq!(take_pubsub(&cache, &shard(0)), Some(vec![]));
}

#[test]
fn a_message_stays_while_one_index_has_it() {
    let cache = MessageCache::new(2);
    cache.subscribe_pubsub(shard(0));
    cache.subscribe_content(TOPIC, Some(shard(0))).unwrap();
    deliver(&cache, shard(0), 1);
    cache.unsubscribe_pubsub(&shard(0));
    assert_eq!(take_content(&cache, TOPIC), Some(vec![message(1)]));
    (2..=9).for_each(|payload| deliver(&cache, shard(0), payload));
    assert_eq!(kept(&cache), 2);
    cache.unsubscribe_content(TOPIC);
    assert_eq!(kept(&cache), 0);
}

#[test]
fn topics_that_others_choose_are_remembered_within_bounds() {
    let cache = MessageCache::new(1);
    let mut kept = cache.kept.lock();
    for number in 0..SEEN_TOPICS_MAX + 1 {
        kept.remember(&number.to_string(), number as u64);
    }
    assert_eq!(kept.seen.len(), SEEN_TOPICS_MAX);
    assert!(!kept.seen.contains_key("0") && kept.seen.contains_key("1"));
    kept.remember(&"x".repeat(SEEN_TOPIC_BYTES_MAX + 1), 0);
    assert_eq!(kept.seen.len(), SEEN_TOPICS_MAX);
}

#[test]
fn a_content_topic_that_was_unsubscribed_from_is_gone_although_its_shard_stays() {
    let cache = MessageCache::new(4);
    cache.subscribe_pubsub(shard(0));
    deliver(&cache, shard(0), 1);
    cache.unsubscribe_content(TOPIC);
    deliver(&cache, shard(0), 2);
    assert_eq!(take_content(&cache, TOPIC), None);
    assert_eq!(cache.subscribe_content(TOPIC, Some(shard(0))), Ok(true));
    assert_eq!(
        take_content(&cache, TOPIC),
        Some(vec![]),
        "not those of before"
    );
    deliver(&cache, shard(0), 3);
    assert_eq!(take_content(&cache, TOPIC), Some(vec![message(3)]));
    let of_shard = vec![message(1), message(2)];
    assert_eq!(take_pubsub(&cache, &shard(0)), Some(of_shard));
}
