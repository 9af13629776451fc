use undertone_message::{NetworkPreset, Shard};

use super::*;

const S: u64 = 1_000_000_000;

fn posts(with_rln: bool) -> Posts {
    let preset = NetworkPreset::by_name("twn").unwrap();
    let mut relay = RelayConfig::for_network(&preset);
    if !with_rln {
        relay.rln = None;
    }
    Posts::new(&relay)
}

fn waiting(id: u64, bytes: usize, until_ns: u64) -> WaitingPost {
    WaitingPost {
        id,
        topic: Shard {
            cluster: 1,
            index: 0,
        }
        .into(),
        message: WakuMessage::new(vec![1], "/a/1/b/proto"),
        restamp: true,
        until_ns,
        bytes,
        parts: Vec::new(),
    }
}

fn known(id: u64) -> Post {
    Post {
        id,
        pubsub_topic: Shard {
            cluster: 1,
            index: 0,
        }
        .into(),
        content_topic: "/a/1/b/proto".into(),
        state: PostState::Waiting,
    }
}

#[test]
fn a_message_waits_to_the_end_of_its_epoch_and_not_beyond_its_time() {
    let rated = posts(true);
    let mut message = WakuMessage::new(vec![1], "/a/1/b/proto");
    let now_ns = 6_000 * S + 100 * S;
    assert_eq!(rated.deadline_ns(&message, true, now_ns), 6_600 * S);
    message.timestamp = Some(i64::try_from(now_ns).unwrap());
    assert_eq!(rated.deadline_ns(&message, false, now_ns), now_ns + 20 * S);
    message.timestamp = Some(i64::try_from(6_590 * S).unwrap());
    assert_eq!(rated.deadline_ns(&message, false, now_ns), 6_600 * S);
    message.timestamp = Some(-1);
    assert!(rated.deadline_ns(&message, false, now_ns) < now_ns);
    let without = posts(false);
    let ends_ns = now_ns + WAIT_WITHOUT_EPOCH_NS;
    assert_eq!(without.deadline_ns(&message, false, now_ns), ends_ns);
}

#[test]
fn what_waits_is_bounded_and_expires() {
    let mut posts = posts(true);
    for id in 0..WAITING_MAX as u64 {
        posts.note(known(id));
        posts.wait(waiting(id, 1, id)).unwrap();
    }
    let full = posts.wait(waiting(99, 1, 0));
    assert_eq!(full, Err(PublishFailure::NoPeers));
    posts.expire(10);
    assert_eq!(posts.waiting.front().unwrap().id, 11);
    assert_eq!(posts.known[&10].state, PostState::Expired);
    assert_eq!(posts.known[&11].state, PostState::Waiting);
    let long = waiting(98, WAITING_BYTES_MAX, 99);
    assert_eq!(posts.wait(long), Err(PublishFailure::NoPeers));
}

#[test]
fn what_became_of_the_newest_is_known() {
    let mut posts = posts(true);
    (0..KNOWN_MAX as u64 + 3).for_each(|id| posts.note(known(id)));
    assert_eq!(posts.known.len(), KNOWN_MAX);
    assert!(!posts.known.contains_key(&2) && posts.known.contains_key(&3));
}
