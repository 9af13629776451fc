//! The queue of messages: what it takes, what it drops, and how it ends.

use std::sync::Arc;
use std::thread;
use std::time::{Duration, Instant};

use undertone_gossip::MessageId;
use undertone_message::{PubsubTopic, WakuMessage};
use undertone_node::handle::{Delivery, MessageSink as _};

use crate::error::NodeError;
use crate::inbox::{BYTES_MAX, MESSAGES_MAX, MessageInbox, WantedTopic};

/// Guards against hangs only.
const HANG: Duration = Duration::from_secs(60);

fn topic(index: u16) -> PubsubTopic {
    PubsubTopic::parse(&format!("/waku/2/rs/66/{index}")).unwrap()
}

fn delivery(shard: u16, content_topic: &str, payload: Vec<u8>) -> Delivery {
    let now = Instant::now();
    Delivery {
        pubsub_topic: topic(shard),
        message: WakuMessage::new(payload, content_topic),
        id: MessageId([0; 32]),
        from: None,
        received: now,
        validated: now,
    }
}

fn wanted(shard: u16, content_topic: Option<&str>) -> WantedTopic {
    (topic(shard), content_topic.map(Into::into))
}

/// Takes everything that waits and returns the payloads.
fn drain(inbox: &MessageInbox) -> Vec<Vec<u8>> {
    let mut payloads = Vec::new();
    while let Ok(Some(delivery)) = inbox.take(Duration::ZERO) {
        payloads.push(delivery.message.payload.to_vec());
    }
    payloads
}

#[test]
fn only_wanted_messages_wait() {
    let inbox = MessageInbox::default();
    let first = [wanted(1, Some("a")), wanted(2, None)];
    assert_eq!(inbox.want(&first), first);
    assert_eq!(inbox.want(&first), [], "wanted already");
    for (shard, content_topic) in [(1, "a"), (1, "b"), (2, "c"), (3, "a")] {
        let payload = format!("{shard}{content_topic}").into_bytes();
        assert!(inbox.deliver(&delivery(shard, content_topic, payload)));
    }
    assert_eq!(drain(&inbox), [b"1a", b"2c"]);
    assert_eq!(
        inbox.unwant(&[wanted(2, None), wanted(2, Some("c"))]),
        [wanted(2, None)]
    );
    assert!(!inbox.wants_some(&topic(2)) && inbox.wants_some(&topic(1)));
    inbox.deliver(&delivery(2, "c", Vec::new()));
    assert_eq!(drain(&inbox), [b""; 0]);
    assert_eq!(inbox.dropped(), 0, "what is not wanted is not dropped");
}

#[test]
fn a_program_that_does_not_receive_loses_the_newest_messages() {
    let inbox = MessageInbox::default();
    inbox.want(&[wanted(0, None)]);
    for number in 0..MESSAGES_MAX + 3 {
        let payload = number.to_le_bytes().to_vec();
        assert!(inbox.deliver(&delivery(0, "a", payload)));
    }
    assert_eq!(inbox.dropped(), 3);
    let payloads = drain(&inbox);
    assert_eq!(payloads.len(), MESSAGES_MAX);
    assert_eq!(payloads[0], 0_usize.to_le_bytes());
}

#[test]
fn long_messages_are_bounded_by_their_bytes() {
    let inbox = MessageInbox::default();
    inbox.want(&[wanted(0, None)]);
    let long = delivery(0, "a", vec![0; 1 << 20]);
    let fit = BYTES_MAX >> 20;
    for _ in 0..fit + 1 {
        inbox.deliver(&long);
    }
    assert_eq!(inbox.dropped(), 1);
    assert_eq!(drain(&inbox).len(), fit);
    // The room is there again.
    inbox.deliver(&long);
    assert_eq!((inbox.dropped(), drain(&inbox).len()), (1, 1));
}

#[test]
fn what_waits_can_be_taken_after_the_end() {
    let inbox = MessageInbox::default();
    inbox.want(&[wanted(0, None)]);
    inbox.deliver(&delivery(0, "a", b"last".to_vec()));
    inbox.close();
    assert!(
        !inbox.deliver(&delivery(0, "a", Vec::new())),
        "asks to be removed"
    );
    assert!(inbox.take(HANG).unwrap().is_some());
    assert_eq!(inbox.take(HANG).unwrap_err(), NodeError::Stopped);
}

#[test]
fn a_message_or_the_end_wakes_who_waits() {
    let inbox = Arc::new(MessageInbox::default());
    inbox.want(&[wanted(0, None)]);
    let waiting: Vec<_> = (0..3)
        .map(|_| {
            let inbox = inbox.clone();
            thread::spawn(move || inbox.take(Duration::MAX))
        })
        .collect();
    inbox.deliver(&delivery(0, "a", b"one".to_vec()));
    inbox.close();
    let taken = waiting.into_iter().map(|one| one.join().unwrap());
    let taken: Vec<_> = taken.collect();
    assert_eq!(
        taken
            .iter()
            .filter(|one| matches!(one, Ok(Some(_))))
            .count(),
        1
    );
    assert_eq!(taken.iter().filter(|one| one.is_err()).count(), 2);
}
