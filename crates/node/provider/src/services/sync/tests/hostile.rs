//! Peers that stall, flood, or never come to an end.

use futures::AsyncWriteExt as _;
use undertone_services::sync::{Fingerprint, RangeContent, SyncError, SyncId, SyncRange};

use super::raw::{RawPeer, hear, say};
use super::*;

/// Payload with a fingerprint that no set has.
fn strange(seed: u8) -> Vec<u8> {
    let now_ns = u64::try_from(unix_now_ns()).unwrap();
    raw::payload(SyncRange {
        lower: SyncId::at(now_ns - 3_000_000_000_000),
        upper: SyncId::at(now_ns - 30_000_000_000),
        content: RangeContent::Fingerprint(Fingerprint([seed; 32])),
    })
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_peer_that_stalls_holds_up_nobody_for_long() {
    let bounds = SyncBounds {
        turn: Duration::from_millis(300),
        inbound_sessions: 1,
        ..SyncBounds::default()
    };
    let store = Store::within(bounds, Duration::ZERO).await;
    let mut silent = RawPeer::of(&store).await;
    let asking = store.sync.synchronise(silent.peer());
    let (ended, _stream) = tokio::join!(asking, silent.accept());
    assert!(
        matches!(ended, Err(SyncFailure::TimedOut { .. })),
        "{ended:?}"
    );

    // A session that a peer begins and abandons also times out; until then, other sessions are
    // refused.
    let _left = silent.begin(&store).await;
    let other = Store::start().await;
    other.keep(&[message(1)]).await;
    other.connect(&store.node).await;
    until("the place is free again", async || {
        other.sync.synchronise(store.peer()).await.is_ok()
    })
    .await;
    until("the message is kept", async || {
        store.hashes().await.len() == 1
    })
    .await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_peer_that_begins_session_after_session_is_refused_after_some() {
    let bounds = SyncBounds {
        sessions_per_minute: 5,
        ..SyncBounds::default()
    };
    let store = Store::within(bounds, Duration::ZERO).await;
    store.keep(&[message(1)]).await;
    let raw = RawPeer::of(&store).await;
    let mut answered = 0;
    for _ in 0..20 {
        let mut stream = raw.begin(&store).await;
        say(&mut stream, &strange(1)).await;
        answered += usize::from(hear(&mut stream).await.is_some());
        drop(stream);
        until("the session has ended", async || {
            let sessions = store.sync.totals().sessions;
            sessions["failed"] + sessions["refused"] > 0
                && store.sync.context.sessions.of(raw.peer()).is_empty()
        })
        .await;
    }
    assert_eq!(answered, 5);
    assert!(store.sync.totals().sessions["refused"] >= 1);
    // Another peer is served.
    let other = Store::start().await;
    other.connect(&store.node).await;
    let outcome = other.sync.synchronise(store.peer()).await.unwrap();
    assert_eq!(outcome.kept, 1);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_peer_has_one_session_at_a_time() {
    let store = Store::start().await;
    store.keep(&[message(1)]).await;
    let raw = RawPeer::of(&store).await;
    let mut first = raw.begin(&store).await;
    say(&mut first, &strange(1)).await;
    assert!(hear(&mut first).await.is_some());
    let mut second = raw.begin(&store).await;
    say(&mut second, &strange(1)).await;
    assert_eq!(hear(&mut second).await, None, "the second is refused");
    say(&mut first, &strange(2)).await;
    assert!(hear(&mut first).await.is_some(), "the first goes on");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn endless_rounds_end() {
    let mut bounds = SyncBounds::default();
    bounds.limits.max_rounds = 6;
    let store = Store::within(bounds, Duration::ZERO).await;
    let many: Vec<_> = (0..50).map(message).collect();
    store.keep(&many).await;
    let mut raw = RawPeer::of(&store).await;
    let asking = store.sync.synchronise(raw.peer());
    let answering = async {
        let mut stream = raw.accept().await.stream;
        let mut rounds = 0_u8;
        while hear(&mut stream).await.is_some() {
            rounds += 1;
            say(&mut stream, &strange(rounds)).await;
        }
        rounds
    };
    let (ended, rounds) = tokio::join!(asking, answering);
    let failure = ended.unwrap_err();
    assert!(
        matches!(
            failure,
            SyncFailure::Session(SyncError::TooManyRounds { max: 6 })
        ),
        "{failure:?}"
    );
    assert_eq!(rounds, 7);
    let again = store.sync.synchronise(raw.peer()).await;
    assert!(matches!(again, Err(SyncFailure::Banned)), "{again:?}");
}

/// A peer that never reads must not make the store wait for ever, nor fill its memory.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_peer_that_does_not_read_messages_is_given_up() {
    let bounds = SyncBounds {
        turn: Duration::from_millis(500),
        ..SyncBounds::default()
    };
    let store = Store::within(bounds, Duration::ZERO).await;
    let large: Vec<_> = (0..200)
        .map(|number| {
            let mut message = message(number).message;
            message.payload = vec![number as u8; 100_000].into();
            StoredMessage::new(TOPIC, message)
        })
        .collect();
    store.keep(&large).await;
    let mut raw = RawPeer::of(&store).await;
    let mut stream = raw.begin(&store).await;
    // The peer claims to have nothing, and is sent everything.
    let now_ns = u64::try_from(unix_now_ns()).unwrap();
    let nothing = raw::payload(SyncRange {
        lower: SyncId::at(now_ns - 3_000_000_000_000),
        upper: SyncId::at(now_ns - 30_000_000_000),
        content: RangeContent::Fingerprint(Fingerprint::EMPTY),
    });
    say(&mut stream, &nothing).await;
    assert!(hear(&mut stream).await.is_some());
    let _unread = raw.accept().await;
    // The raw peer ends the reconciliation properly.
    let end = undertone_services::sync::RangesPayload::default().encode();
    say(&mut stream, &end).await;
    until("the session has ended", async || {
        store.sync.totals().sessions["failed"] == 1
    })
    .await;
}

/// The payloads that are being read are bounded together, whoever sends them.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn of_many_who_send_half_a_payload_the_first_gives_way() {
    const ANNOUNCED: usize = 1 << 20;
    let bounds = SyncBounds {
        payload_bytes: 2 * ANNOUNCED,
        ..SyncBounds::default()
    };
    let store = Store::within(bounds, Duration::ZERO).await;
    let mut half = Vec::new();
    undertone_wire::put_varint(&mut half, ANNOUNCED as u64);
    half.resize(ANNOUNCED / 2, 0);
    let mut halves = Vec::new();
    for _ in 0..3 {
        let raw = RawPeer::of(&store).await;
        let mut stream = raw.begin(&store).await;
        stream.write_all(&half).await.unwrap();
        stream.flush().await.unwrap();
        halves.push((raw, stream));
    }
    let (_, first) = halves.first_mut().unwrap();
    assert_eq!(hear(first).await, None, "its stream is ended");
    let honest = RawPeer::of(&store).await;
    honest.name(&store, &[message(1)]).await;
}
