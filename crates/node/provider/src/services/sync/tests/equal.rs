//! Honest stores.

use super::raw::RawPeer;
use super::*;

fn messages(numbers: std::ops::Range<u64>) -> Vec<StoredMessage> {
    numbers.map(message).collect()
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn two_stores_with_different_messages_become_equal() {
    let (a, b) = (Store::start().await, Store::start().await);
    let (common, of_a, of_b) = (messages(0..300), messages(300..340), messages(340..370));
    for (store, own) in [(&a, &of_a), (&b, &of_b)] {
        store.keep(&common).await;
        store.keep(own).await;
    }
    a.connect(&b.node).await;
    let outcome = a.sync.synchronise(b.peer()).await.unwrap();
    assert_eq!(
        (outcome.sent, outcome.kept, outcome.differences),
        (40, 30, 70)
    );
    let all = hashes_of(common.iter().chain(&of_a).chain(&of_b));
    assert_eq!(a.hashes().await, all);
    until("the other side has kept what it got", async || {
        b.hashes().await == all
    })
    .await;
    until("the other side has ended its session", async || {
        b.sync.totals().sessions["done"] == 1
    })
    .await;
    let (a_totals, b_totals) = (a.sync.totals(), b.sync.totals());
    assert_eq!(
        (a_totals.sent, a_totals.received, a_totals.kept),
        (40, 30, 30)
    );
    assert_eq!(
        (b_totals.sent, b_totals.received, b_totals.kept),
        (30, 40, 40)
    );
    assert_eq!(a_totals.cached, 370);
    assert_eq!(a_totals.refused.len() + b_totals.refused.len(), 0);
    assert_eq!(a_totals.differences.sum, 70);

    // Proofs are transferred too, and the second session finds no differences.
    let again = b.sync.synchronise(a.peer()).await.unwrap();
    assert_eq!((again.differences, again.roundtrips), (0, 1));
    let got = a.archive.query(undertone_services::history::HistoryQuery {
        include_data: true,
        criteria: undertone_services::history::HistoryCriteria::Hashes(vec![of_b[0].hash]),
        cursor: None,
        direction: Default::default(),
        limit: 1,
    });
    let got = got.await.unwrap().entries.remove(0).data.unwrap();
    assert_eq!(got.message, of_b[0].message);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn both_sides_may_begin_at_once() {
    for round in 0..5 {
        let (a, b) = (Store::start().await, Store::start().await);
        let (of_a, of_b) = (messages(0..120), messages(120..200));
        a.keep(&of_a).await;
        b.keep(&of_b).await;
        a.connect(&b.node).await;
        let (first, second) =
            tokio::join!(a.sync.synchronise(b.peer()), b.sync.synchronise(a.peer()));
        assert!(
            first.is_ok() || second.is_ok(),
            "round {round}: {first:?} {second:?}"
        );
        let all = hashes_of(of_a.iter().chain(&of_b));
        until("both have everything", async || {
            a.hashes().await == all && b.hashes().await == all
        })
        .await;
        for store in [&a, &b] {
            assert_eq!(store.sync.totals().refused.len(), 0, "nothing came twice");
        }
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_store_begins_sessions_by_itself_and_knows_its_archive_after_a_start() {
    let silent = Store::start().await;
    let of_silent = messages(0..20);
    silent.keep(&of_silent).await;
    let active = Store::within(SyncBounds::default(), Duration::from_secs(1)).await;
    active.connect(&silent.node).await;
    let all = hashes_of(&of_silent);
    until("the store has asked", async || active.hashes().await == all).await;

    // Another store starts with the archive of the first, and has nothing to ask for.
    let reader = Store::start().await;
    let headers = active.archive.headers(0, i64::MAX, 100).await.unwrap();
    assert_eq!(headers.len(), 20);
    let now_ns = unix_now_ns();
    let filled = reader
        .index
        .fill(&active.archive, now_ns - 3_600_000_000_000, now_ns);
    assert_eq!(filled.await.unwrap(), 20);
    reader.connect(&silent.node).await;
    let outcome = reader.sync.synchronise(silent.peer()).await.unwrap();
    assert_eq!((outcome.differences, outcome.roundtrips), (0, 1));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_is_too_new_or_too_old_is_left_alone() {
    let (a, b) = (Store::start().await, Store::start().await);
    let now_ns = unix_now_ns();
    let second_ns = 1_000_000_000;
    let [new, old] = [now_ns - second_ns, now_ns - 4000 * second_ns];
    let both = [message_at(1, new), message_at(2, old)];
    a.keep(&both).await;
    a.connect(&b.node).await;
    let outcome = a.sync.synchronise(b.peer()).await.unwrap();
    assert_eq!(outcome.differences, 0);
    until("the other side has ended the session", async || {
        b.sync.totals().sessions["done"] == 1
    })
    .await;
    let outcome = b.sync.synchronise(a.peer()).await.unwrap();
    assert_eq!(outcome.differences, 0);
}

/// A full index lacks the oldest messages of the archive. A session that covered them would transfer them every time.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_full_index_asks_for_nothing_that_the_archive_has() {
    let mut bounds = SyncBounds::default();
    bounds.limits.max_set = 50;
    let small = Store::within(bounds, Duration::ZERO).await;
    let large = Store::start().await;
    let all = messages(0..200);
    small.keep(&all).await;
    large.keep(&all).await;
    small.connect(&large.node).await;
    let outcome = small.sync.synchronise(large.peer()).await.unwrap();
    assert_eq!(outcome.differences, 0);
    assert_eq!(small.sync.totals().cached, 50);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_peer_that_vanishes_is_replaced_by_the_next() {
    let store = Store::start().await;
    let all = messages(0..30);
    let raw = RawPeer::of(&store).await;
    let _stream = raw.name(&store, &all).await;
    let mut transfer = raw.transfer(&store).await;
    for one in &all[..10] {
        raw::say(&mut transfer, &raw::frame(one)).await;
    }
    until("some have arrived", async || {
        store.hashes().await.len() == 10
    })
    .await;
    raw.node.stop().await;
    // A connection that is closed properly looks like a finished transfer.
    until("the session has ended", async || {
        let sessions = store.sync.totals().sessions;
        sessions["failed"] + sessions["done"] == 1
    })
    .await;
    let other = Store::start().await;
    other.keep(&all).await;
    store.connect(&other.node).await;
    let outcome = store.sync.synchronise(other.peer()).await.unwrap();
    assert_eq!(outcome.kept, 20);
    assert_eq!(store.hashes().await, hashes_of(&all));
}
