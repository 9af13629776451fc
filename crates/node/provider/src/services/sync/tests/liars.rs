//! Peers that send what they were not asked for, or not what they named.

use std::time::Instant;

use futures::AsyncWriteExt as _;
use futures::io::Cursor;

use super::raw::{RawPeer, frame, hear, say};
use super::*;
use crate::services::framing::write_frame;

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_transfer_without_a_session_is_refused() {
    let store = Store::start().await;
    let raw = RawPeer::of(&store).await;
    let mut transfer = raw.transfer(&store).await;
    say(&mut transfer, &frame(&message(1))).await;
    assert_eq!(hear(&mut transfer).await, None, "the stream is ended");
    until("it is counted", async || store.refused("no_session") == 1).await;
    assert_eq!(store.hashes().await, BTreeSet::new());
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn of_what_a_liar_sends_only_the_messages_it_named_are_kept() {
    let store = Store::start().await;
    let raw = RawPeer::of(&store).await;
    let (named, unnamed, forged) = (message(1), message(2), message(3));
    let mut stream = raw.name(&store, &[named.clone(), forged.clone()]).await;
    let mut transfer = raw.transfer(&store).await;
    // Only the hash of the forged message was named. The message that arrives has another content, and so another hash.
    let mut other = forged.message.clone();
    other.payload = b"forged".to_vec().into();
    let other = StoredMessage::new(TOPIC, other);
    let moved = StoredMessage::new("/waku/2/rs/66/1", named.message.clone());
    for one in [&unnamed, &other, &moved, &named, &named] {
        say(&mut transfer, &frame(one)).await;
    }
    transfer.close().await.unwrap();
    assert_eq!(hear(&mut stream).await, None);
    until("the session has ended", async || {
        store.sync.totals().sessions["done"] == 1
    })
    .await;
    assert_eq!(store.hashes().await, hashes_of([&named]));
    assert_eq!(store.refused("unasked"), 3);
    assert_eq!(store.refused("repeated"), 1);
    assert_eq!(store.sync.totals().cached, 1);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn named_messages_that_no_store_keeps_are_refused() {
    let store = Store::start().await;
    let raw = RawPeer::of(&store).await;
    let ephemeral = {
        let mut message = message(1).message;
        message.ephemeral = Some(true);
        StoredMessage::new(TOPIC, message)
    };
    let elsewhere = StoredMessage::new("/waku/2/rs/66/7", message(2).message);
    let now_ns = unix_now_ns();
    let future = message_at(3, now_ns + 3_600_000_000_000);
    let past = message_at(4, now_ns - 7_200_000_000_000);
    let good = message(5);
    let all = [ephemeral, elsewhere, future, past, good.clone()];
    let _stream = raw.name(&store, &all).await;
    let mut transfer = raw.transfer(&store).await;
    for one in &all {
        say(&mut transfer, &frame(one)).await;
    }
    until("the last one is kept", async || {
        !store.hashes().await.is_empty()
    })
    .await;
    assert_eq!(store.hashes().await, hashes_of([&good]));
    for reason in ["ephemeral", "other_topic"] {
        assert_eq!(store.refused(reason), 1, "{reason}");
    }
    assert_eq!(store.refused("other_time"), 2);
    assert_eq!(store.refused("unasked"), 0);
}

/// The time that a peer names is irrelevant: the message's own timestamp is checked when it arrives.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_message_named_with_a_false_time_is_refused() {
    let store = Store::start().await;
    let raw = RawPeer::of(&store).await;
    let past = message_at(4, unix_now_ns() - 7_200_000_000_000);
    let mut named = message(5);
    named.hash = past.hash;
    let _stream = raw.name(&store, &[named]).await;
    let mut transfer = raw.transfer(&store).await;
    say(&mut transfer, &frame(&past)).await;
    until("it is refused", async || store.refused("other_time") == 1).await;
    assert_eq!(store.hashes().await, BTreeSet::new());
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_peer_that_sends_much_that_it_was_not_asked_for_gets_no_more_sessions() {
    let bounds = SyncBounds {
        unexpected: 10,
        ..SyncBounds::default()
    };
    let store = Store::within(bounds, Duration::ZERO).await;
    let raw = RawPeer::of(&store).await;
    let _stream = raw.name(&store, &[message(0)]).await;
    let mut transfer = raw.transfer(&store).await;
    for number in 1..100 {
        say(&mut transfer, &frame(&message(number))).await;
    }
    assert_eq!(hear(&mut transfer).await, None, "the stream is ended");
    until("the session has ended", async || {
        store.sync.totals().sessions["failed"] == 1
    })
    .await;
    assert_eq!(store.refused("unasked"), 11);
    let mut again = raw.begin(&store).await;
    say(&mut again, &raw::naming(&[message(0)])).await;
    assert_eq!(hear(&mut again).await, None, "no answer");
    let refused = store.sync.synchronise(raw.peer()).await;
    assert!(matches!(refused, Err(SyncFailure::Banned)), "{refused:?}");
    assert_eq!(store.hashes().await, BTreeSet::new());
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_peer_that_withholds_what_it_named_is_waited_for_only_so_long() {
    let bounds = SyncBounds {
        idle: Duration::from_millis(300),
        ..SyncBounds::default()
    };
    let store = Store::within(bounds, Duration::ZERO).await;
    let mut raw = RawPeer::of(&store).await;
    store.keep(&[message(7)]).await;
    let began = Instant::now();
    let asking = store.sync.synchronise(raw.peer());
    let lying = async {
        let mut stream = raw.accept().await.stream;
        assert!(hear(&mut stream).await.is_some());
        say(&mut stream, &raw::naming(&[message(1), message(2)])).await;
        hear(&mut stream).await;
        stream
    };
    let (ended, _stream) = tokio::join!(asking, lying);
    assert!(
        matches!(ended, Err(SyncFailure::Withheld { count: 2 })),
        "{ended:?}"
    );
    assert!(began.elapsed() >= Duration::from_millis(300));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn bytes_that_are_no_message_end_the_session() {
    for garbage in [b"\xff\xff\xff".to_vec(), vec![0; 3_000_000]] {
        let store = Store::start().await;
        let raw = RawPeer::of(&store).await;
        let _stream = raw.name(&store, &[message(0)]).await;
        let mut transfer = raw.transfer(&store).await;
        say(&mut transfer, &garbage).await;
        until("the session has ended", async || {
            store.sync.totals().sessions["failed"] == 1
        })
        .await;
        let refused = store.sync.synchronise(raw.peer()).await;
        assert!(matches!(refused, Err(SyncFailure::Banned)), "{refused:?}");
    }
}

/// A message that comes in two parts, with more than the idle time between them, is one message still.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_message_that_comes_slowly_is_read_whole_while_its_session_lasts() {
    let idle = Duration::from_secs(2);
    let bounds = SyncBounds {
        idle,
        ..SyncBounds::default()
    };
    let store = Store::within(bounds, Duration::ZERO).await;
    let raw = RawPeer::of(&store).await;
    let all: Vec<_> = (0..8).map(message).collect();
    let _stream = raw.name(&store, &all).await;
    let (slow, quick) = all.split_first().unwrap();
    let mut framed = Cursor::new(Vec::new());
    write_frame(&mut framed, &frame(slow)).await.unwrap();
    let framed = framed.into_inner();
    let (begin, rest) = framed.split_at(framed.len() / 2);
    let mut slow_stream = raw.transfer(&store).await;
    slow_stream.write_all(begin).await.unwrap();
    slow_stream.flush().await.unwrap();
    let mut quick_stream = raw.transfer(&store).await;
    // The others keep the session alive.
    for one in quick {
        say(&mut quick_stream, &frame(one)).await;
        tokio::time::sleep(idle / 4).await;
    }
    slow_stream.write_all(rest).await.unwrap();
    slow_stream.flush().await.unwrap();
    until("all are kept", async || {
        store.hashes().await == hashes_of(&all)
    })
    .await;
    assert_eq!(store.sync.totals().sessions["failed"], 0);
}
