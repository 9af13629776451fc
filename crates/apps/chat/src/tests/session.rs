use std::io;
use std::time::{Duration, Instant};
use undertone_node::handle::Stopped;

use rand_chacha::ChaCha8Rng;
use rand_core::SeedableRng as _;
use tokio::sync::mpsc;
use undertone_gossip::MessageId;
use undertone_message::{MessageHash, PubsubTopic, WakuMessage};
use undertone_node::PeerId;
use undertone_node::handle::{Delivery, node_channel};
use undertone_node::services::{
    SendFailure, SendId, SendNews, SendReport, SendStep, SenderHandle, Unconfirmed, WaitingMessage,
};
use undertone_payload::SymmetricKey;

use super::{ChatSession, Front, OPEN_MAX, QueueAnswer, SEEN_MAX, ShownMessages, now_ns, timeless};
use crate::chat_status::MessageBudget;
use crate::error::ChatError;
use crate::events::ChatEvent;
use crate::history::{self, HistoryQuestion, PendingStoreReply, RoomHistory, RoomPlace};
use crate::own_messages::{OwnMessages, OwnState};
use crate::room::ChatRoom;
use crate::typed::{Input, Typed};

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
        sender: SenderHandle::of_stopped_node(),
        light: None,
        budget: Some(MessageBudget::new(3, 600)),
        clock_ahead_ns: 0,
        has_peers_to_dial: false,
        end_wait: Duration::from_secs(60),
        outcomes: mpsc::unbounded_channel().0,
        questions: None,
        own: OwnMessages::default(),
        written: ShownMessages::default(),
        seen: ShownMessages::default(),
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
    let own = message("my own", now_ns(0));
    let topic = room(None).pubsub_topic;
    session.written.insert(timeless(&topic, &own));
    for from in [None, peer] {
        session.heard(&delivery(own.clone(), from)).unwrap();
    }
    assert_eq!(session.front.0, []);
    // The node published it for a lightpush client.
    session.heard(&delivery(hello.clone(), None)).unwrap();
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

fn report(id: SendId, step: SendStep) -> SendNews {
    SendNews::Report(SendReport {
        number: 1,
        id,
        step,
        hash: Some(MessageHash([1; 32])),
        at_ns: 1,
    })
}

/// States of own messages as they were shown, by their numbers.
fn shown(session: &ChatSession<Recorder, ChaCha8Rng>) -> Vec<(u64, String)> {
    let own = |event: &ChatEvent| match event {
        ChatEvent::Own { number, state, .. } => Some((*number, state.words())),
        _ => None,
    };
    session.front.0.iter().filter_map(own).collect()
}

#[tokio::test]
async fn an_own_line_shows_how_its_message_fares_and_is_counted_once() {
    let mut session = session(None);
    let now_s = now_ns(0) / 1_000_000_000;
    let at_most = |session: &mut ChatSession<_, _>| {
        let budget = session.budget.as_mut().unwrap();
        budget.left(now_s).at_most
    };
    let number = session.own.begin();
    let id = SendId(7);
    let answer = Ok(id);
    session.answered(QueueAnswer { number, answer }).unwrap();
    assert_eq!(at_most(&mut session), 3, "it waits");
    let end = SendStep::PropagatedOnly(Unconfirmed::NoStore);
    for step in [SendStep::Queued, SendStep::Sent, SendStep::Propagated, end] {
        session.learn(report(id, step)).await.ok().unwrap();
    }
    let none = "propagated: not confirmed by a store: none is known";
    let expected = ["queued", "sent", "propagated", none];
    let expected = expected.map(|words| (1, words.to_owned()));
    assert_eq!(shown(&session), expected);
    assert_eq!(at_most(&mut session), 2);

    let number = session.own.begin();
    let answer = Err(SendFailure::Stopped(Stopped));
    session.answered(QueueAnswer { number, answer }).unwrap();
    let (_, words) = shown(&session).pop().unwrap();
    assert_eq!(words, "failed: the node is shutting down");
}

#[tokio::test]
async fn messages_of_the_run_before_are_shown_and_not_taken_for_news() {
    let mut session = session(None);
    let waiting = |id, message| WaitingMessage {
        id: SendId(id),
        pubsub_topic: room(None).pubsub_topic,
        message,
        is_in_fragments: false,
        step: SendStep::Queued,
        hash: None,
    };
    let mut other = message("elsewhere", 1);
    other.content_topic = "/toy-chat/2/other/proto".into();
    let mut mine = message("from before", 1);
    mine.timestamp = None;
    session
        .resume(&[waiting(4, mine.clone()), waiting(5, other)])
        .unwrap();
    let [
        ChatEvent::Own { text, state, .. },
        ChatEvent::Note { said, .. },
    ] = &session.front.0[..]
    else {
        panic!("{:?}", session.front.0);
    };
    assert_eq!(
        (text.as_deref(), state),
        (Some("from before"), &OwnState::Queued)
    );
    assert!(said.contains("another room"), "{said}");
    let news = report(SendId(4), SendStep::Propagated);
    session.learn(news).await.ok().unwrap();
    assert_eq!(shown(&session).pop(), Some((1, "propagated".to_owned())));
    // A filter peer pushes it, with the time that it was sent at.
    mine.timestamp = Some(9);
    let peer = Some(PeerId::random());
    let before = session.front.0.len();
    session.heard(&delivery(mine, peer)).unwrap();
    assert_eq!(session.front.0.len(), before);
}

#[test]
fn no_more_messages_are_under_way_than_can_be_followed() {
    let mut session = session(None);
    (0..OPEN_MAX).for_each(|_| _ = session.own.begin());
    session.send("one more").unwrap();
    assert!(matches!(&session.front.0[..], [ChatEvent::Note { .. }]));
}

#[test]
fn what_reached_nobody_in_time_is_named() {
    let said = |numbers: &[u64]| {
        let (numbers, waited) = (numbers.to_vec(), Duration::from_secs(60));
        ChatError::Unsent { numbers, waited }.to_string()
    };
    let one = said(&[3]);
    assert!(
        one.contains("message 3 reached no other node within 60 s"),
        "{one}"
    );
    let two = said(&[3, 5]);
    assert!(two.contains("messages 3, 5 reached"), "{two}");
    assert!(two.contains("they wait in the send queue"), "{two}");
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
}

#[tokio::test]
async fn the_past_is_shown_without_what_was_heard_already() {
    let mut session = session(None);
    let new = delivery(message("new", 2), Some(PeerId::random()));
    session.heard(&new).unwrap();
    let (questions, mut answers) = history::start(Box::new(Store));
    session.questions = Some(questions);
    session.ask(HistoryQuestion::Recent(RoomPlace {
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
}

#[test]
fn memory_for_shown_messages_is_bounded() {
    let mut seen = ShownMessages::default();
    let hash = |n: usize| MessageHash(std::array::from_fn(|i| (n >> (8 * (i % 4))) as u8));
    for n in 0..=SEEN_MAX {
        assert!(seen.insert(hash(n)));
        assert!(!seen.insert(hash(n)));
    }
    assert_eq!(seen.order.len(), SEEN_MAX);
    assert!(seen.insert(hash(0)), "the oldest is forgotten");
}
