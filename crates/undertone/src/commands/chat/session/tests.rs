use std::io;
use std::time::Instant;

use rand_chacha::ChaCha8Rng;
use rand_core::SeedableRng as _;
use tokio::sync::mpsc;
use undertone_gossip::MessageId;
use undertone_message::{MessageHash, PubsubTopic, WakuMessage};
use undertone_node::PeerId;
use undertone_node::command::{Post, PostState, PublishFailure};
use undertone_node::handle::{Delivery, node_channel};
use undertone_payload::SymmetricKey;

use super::{ChatSession, Front, OPEN_MAX, PostOutcome, SEEN_MAX, SeenMessages, now_ns};
use crate::commands::chat::events::ChatEvent;
use crate::commands::chat::history::{
    self, HistoryFailure, PendingStoreReply, RoomHistory, RoomPlace, StoreQuestion, StoreReply,
};
use crate::commands::chat::own::{OwnMessages, OwnState};
use crate::commands::chat::room::ChatRoom;
use crate::commands::chat::standing::MessageBudget;
use crate::commands::chat::typed::{Input, Typed};
use crate::commands::chat::way::SendWay;

/// A front end that remembers.
#[derive(Default)]
struct Recorder(Vec<ChatEvent>);

impl Front for Recorder {
    fn show(&mut self, event: &ChatEvent) -> io::Result<()> {
        self.0.push(event.clone());
        Ok(())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }

    fn typed(&mut self, _: Input) -> io::Result<Option<Typed>> {
        Ok(None)
    }

    fn waits(&self) -> bool {
        false
    }
}

fn room(key: Option<u8>) -> ChatRoom {
    ChatRoom {
        content_topic: "/toy-chat/2/huilong/proto".to_owned(),
        pubsub_topic: PubsubTopic::parse("/waku/2/rs/66/0").unwrap(),
        key: key.map(|byte| SymmetricKey::from_bytes([byte; 32])),
    }
}

fn session(key: Option<u8>) -> ChatSession<Recorder, ChaCha8Rng> {
    ChatSession {
        front: Recorder::default(),
        rng: ChaCha8Rng::seed_from_u64(1),
        room: room(key),
        nick: "alice".to_owned(),
        node: node_channel().0,
        way: SendWay::Relay(node_channel().0),
        budget: Some(MessageBudget::new(3, 600)),
        clock_ahead_ns: 0,
        has_peers_to_dial: false,
        outcomes: mpsc::unbounded_channel().0,
        questions: None,
        own: OwnMessages::default(),
        seen: SeenMessages::default(),
    }
}

fn message(text: &str, sent_ns: u64) -> WakuMessage {
    let mut rng = ChaCha8Rng::seed_from_u64(2);
    room(None).write("bob", text, sent_ns, &mut rng).unwrap()
}

fn delivery(message: WakuMessage, from: Option<PeerId>) -> Delivery {
    Delivery {
        pubsub_topic: room(None).pubsub_topic,
        message,
        id: MessageId([0; 32]),
        from,
        received: Instant::now(),
        validated: Instant::now(),
    }
}

#[test]
fn messages_of_others_are_shown_once_and_own_ones_not() {
    let mut session = session(None);
    let hello = message("hello", now_ns(0));
    let peer = Some(PeerId::random());
    session.heard(&delivery(hello.clone(), None)).unwrap();
    assert_eq!(session.front.0, []);
    session.heard(&delivery(hello.clone(), peer)).unwrap();
    session.heard(&delivery(hello, peer)).unwrap();
    let [ChatEvent::Message(shown)] = &session.front.0[..] else {
        panic!("{:?}", session.front.0);
    };
    assert_eq!((shown.nick.as_str(), shown.text.as_str()), ("bob", "hello"));
    assert!(shown.latency_ms.is_some() && !shown.past);
}

#[test]
fn other_rooms_of_the_shard_are_silent() {
    let mut session = session(None);
    let mut other = message("hello", 1);
    other.content_topic = "/toy-chat/2/other/proto".into();
    session
        .heard(&delivery(other, Some(PeerId::random())))
        .unwrap();
    assert_eq!(session.front.0, []);
}

#[test]
fn a_sender_may_claim_any_time() {
    let mut session = session(None);
    for stamp in [i64::MIN, -1, 0, 1, i64::MAX] {
        let mut message = message("hello", 5);
        message.timestamp = Some(stamp);
        session
            .heard(&delivery(message, Some(PeerId::random())))
            .unwrap();
    }
    assert_eq!(session.front.0.len(), 5);
    session
        .front
        .0
        .iter()
        .for_each(|event| assert!(event.json().is_some()));
}

#[test]
fn clear_text_is_marked_only_where_it_should_be_encrypted() {
    for (key, expected) in [(None, false), (Some(1), true)] {
        let mut session = session(key);
        let hello = delivery(message("hello", 1), Some(PeerId::random()));
        session.heard(&hello).unwrap();
        let [ChatEvent::Message(shown)] = &session.front.0[..] else {
            panic!("{:?}", session.front.0);
        };
        assert_eq!(shown.is_exposed, expected);
    }
}

#[test]
fn sent_messages_are_counted_and_a_refusal_is_believed() {
    let mut session = session(None);
    let now_s = now_ns(0) / 1_000_000_000;
    let at_most = |session: &mut ChatSession<_, _>| {
        let budget = session.budget.as_mut().unwrap();
        budget.left(now_s).at_most
    };
    let number = session.own.begin();
    let hash = MessageHash([1; 32]);
    let answer = Ok(Post {
        id: 1,
        pubsub_topic: room(None).pubsub_topic,
        content_topic: String::new(),
        state: PostState::Sent { peers: 1, hash },
    });
    session.answered(&PostOutcome { number, answer }).unwrap();
    assert_eq!(at_most(&mut session), 2);

    session.told(StoreReply::Stored(vec![hash])).unwrap();
    let Some(ChatEvent::Own { state, .. }) = session.front.0.last() else {
        panic!("{:?}", session.front.0);
    };
    assert_eq!(*state, OwnState::Stored { hash });
    assert_eq!(at_most(&mut session), 2);

    let number = session.own.begin();
    let answer = Err(PublishFailure::RateLimit {
        limit: 3,
        resets_in_s: 9,
    });
    session.answered(&PostOutcome { number, answer }).unwrap();
    assert_eq!(at_most(&mut session), 0);
}

#[test]
fn no_more_messages_are_under_way_than_can_be_followed() {
    let mut session = session(None);
    (0..OPEN_MAX).for_each(|_| _ = session.own.begin());
    session.send("one more").unwrap();
    assert!(matches!(&session.front.0[..], [ChatEvent::Note { .. }]));
}

/// A store with two messages, one of which was heard too.
struct Store;

impl RoomHistory for Store {
    fn recent<'a>(
        &'a mut self,
        place: &'a RoomPlace,
        count: usize,
    ) -> PendingStoreReply<'a, Vec<WakuMessage>> {
        let room = room(None);
        assert!(count > 0 && place.content_topic == room.content_topic);
        assert_eq!(place.pubsub_topic, room.pubsub_topic);
        Box::pin(async { Ok(vec![message("old", 1), message("new", 2)]) })
    }

    fn stored<'a>(&'a mut self, _: &'a [MessageHash]) -> PendingStoreReply<'a, Vec<MessageHash>> {
        let reason = "away".to_owned();
        Box::pin(async { Err(HistoryFailure { reason }) })
    }
}

#[tokio::test]
async fn the_past_is_shown_without_what_was_heard_already() {
    let mut session = session(None);
    let new = delivery(message("new", 2), Some(PeerId::random()));
    session.heard(&new).unwrap();
    let (questions, mut answers) = history::start(Box::new(Store));
    session.questions = Some(questions);
    session.ask(StoreQuestion::Recent(RoomPlace {
        pubsub_topic: room(None).pubsub_topic,
        content_topic: room(None).content_topic,
    }));
    session.told(answers.recv().await.unwrap()).unwrap();
    let past = |event: &ChatEvent| match event {
        ChatEvent::Message(message) => (
            message.text.clone(),
            message.past,
            message.latency_ms.is_some(),
        ),
        other => panic!("{other:?}"),
    };
    let shown: Vec<_> = session.front.0.iter().map(past).collect();
    assert_eq!(
        shown,
        [
            ("new".to_owned(), false, true),
            ("old".to_owned(), true, false)
        ]
    );

    // A store that is away says nothing about what is stored.
    session.ask(StoreQuestion::Stored(vec![MessageHash([1; 32])]));
    assert!(matches!(answers.recv().await, Some(StoreReply::Stored(none)) if none.is_empty()));
}

#[test]
fn memory_for_shown_messages_is_bounded() {
    let mut seen = SeenMessages::default();
    let hash = |n: usize| MessageHash(std::array::from_fn(|i| (n >> (8 * (i % 4))) as u8));
    for n in 0..=SEEN_MAX {
        assert!(seen.insert(hash(n)));
        assert!(!seen.insert(hash(n)));
    }
    assert_eq!(seen.order.len(), SEEN_MAX);
    assert!(seen.insert(hash(0)), "the oldest is forgotten");
}
