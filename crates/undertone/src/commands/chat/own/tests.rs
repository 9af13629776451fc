use undertone_message::{MessageHash, PubsubTopic};
use undertone_node::command::{Post, PostState, PublishFailure};

use super::{KNOWN_MAX, OwnMessages, OwnState};

const HASH: MessageHash = MessageHash([7; 32]);

fn post(id: u64, state: PostState) -> Post {
    Post {
        id,
        pubsub_topic: PubsubTopic::parse("/waku/2/rs/66/0").unwrap(),
        content_topic: "/toy-chat/2/huilong/proto".to_owned(),
        state,
    }
}

fn sent(id: u64) -> Post {
    post(
        id,
        PostState::Sent {
            peers: 2,
            hash: HASH,
        },
    )
}

#[test]
fn a_message_that_waits_is_followed_until_it_is_sent_and_stored() {
    let mut own = OwnMessages::default();
    let number = own.begin();
    assert_eq!((number, own.open(), own.has_waiting()), (1, 1, false));
    let waits = own.answered(number, &Ok(post(9, PostState::Waiting)));
    assert_eq!((waits, own.has_waiting()), (Some(OwnState::Waiting), true));

    assert_eq!(own.look(&[post(9, PostState::Waiting)]), []);
    assert_eq!(own.look(&[post(8, PostState::Expired), sent(9)]).len(), 1);
    assert_eq!((own.open(), own.unstored()), (0, vec![HASH]));

    assert_eq!(own.stored(&[MessageHash([1; 32])]), []);
    assert_eq!(own.stored(&[HASH]), [(1, OwnState::Stored { hash: HASH })]);
    assert_eq!(own.unstored(), []);
}

#[test]
fn a_settled_message_does_not_change_again() {
    let mut own = OwnMessages::default();
    let number = own.begin();
    own.answered(number, &Ok(sent(1))).unwrap();
    assert_eq!(own.look(&[post(1, PostState::Expired)]), []);
}

#[test]
fn failures_are_told_in_plain_words() {
    let mut own = OwnMessages::default();
    let limit = PublishFailure::RateLimit {
        limit: 20,
        resets_in_s: 34,
    };
    let number = own.begin();
    let state = own.answered(number, &Err(limit)).unwrap();
    let words =
        "not sent: all 20 messages of this epoch are used up; the next epoch starts in 34 s";
    assert_eq!(state.words(), words);
    assert_eq!(own.open(), 0);
}

#[test]
fn old_messages_are_forgotten() {
    let mut own = OwnMessages::default();
    let first = own.begin();
    for _ in 0..KNOWN_MAX {
        own.begin();
    }
    assert_eq!(own.open(), KNOWN_MAX);
    assert_eq!(own.answered(first, &Ok(sent(1))), None);
}
