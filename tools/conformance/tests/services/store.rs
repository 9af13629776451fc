//! Light clients read the history in pages, in both directions, with nothing missing and nothing twice.

use std::collections::BTreeMap;
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use crate::client::{Client, Message};
use crate::test_network::{At, Sharding, TOPIC, TestNetwork};

/// On the same shard, never asked for.
const NEIGHBOUR: &str = "/interop/1/neighbour/proto";
/// Messages published by relay and by lightpush.
const RELAYED: usize = 240;
const PUSHED: usize = 60;
/// Size of a page for which nobody asked.
const PAGE_DEFAULT: usize = 20;
/// Time limit for the store to have all messages.
const STORED: Duration = Duration::from_secs(30);

/// Pages that a query returned: the messages, with their times.
type Pages = Vec<Vec<(i64, Message)>>;

async fn query(client: &mut Client, step: &str, options: Value) -> Pages {
    let mut command = json!({"cmd": "query", "topics": [TOPIC]});
    let (Value::Object(fields), Value::Object(options)) = (&mut command, options) else {
        panic!("{step}: options are fields");
    };
    fields.extend(options);
    read_pages(client, step, command).await
}

async fn read_pages(client: &mut Client, step: &str, command: Value) -> Pages {
    let result = client.must(step, command).await;
    let page = |page: &Value| {
        let messages = page.as_array().unwrap().iter();
        let read = messages.map(|m| (m["timestamp_ms"].as_i64().unwrap(), Message::read(m)));
        read.collect()
    };
    result["pages"]
        .as_array()
        .unwrap()
        .iter()
        .map(page)
        .collect()
}

/// The texts of all messages, each once; fails if one comes twice.
fn texts(step: &str, pages: &Pages) -> Vec<String> {
    let mut counts = BTreeMap::new();
    for (_, message) in pages.iter().flatten() {
        *counts.entry(message.hash.clone()).or_insert(0) += 1;
    }
    let twice: Vec<_> = counts.iter().filter(|(_, count)| **count > 1).collect();
    assert!(twice.is_empty(), "{step}: twice: {twice:?}");
    let mut texts: Vec<_> = pages
        .iter()
        .flatten()
        .filter_map(|(_, m)| m.text.clone())
        .collect();
    texts.sort();
    texts
}

/// Asserts that every page is in the order of time, the older message first, and so are the pages, or in the
/// other order if `is_forward` is false.
fn in_order(step: &str, pages: &Pages, is_forward: bool) {
    for page in pages {
        assert!(
            page.is_sorted_by_key(|(time, _)| *time),
            "{step}: a page is out of order"
        );
    }
    let mut spans: Vec<_> = pages
        .iter()
        .map(|page| (page[0].0, page[page.len() - 1].0))
        .collect();
    if !is_forward {
        spans.reverse();
    }
    let is_sorted = spans.is_sorted_by(|before, after| before.1 <= after.0);
    assert!(is_sorted, "{step}: pages are out of order: {spans:?}");
}

/// Publishes the messages and waits until the store of `edge` has them; returns their texts.
async fn fill(stage: &TestNetwork, client: &mut Client) -> Vec<String> {
    let mut sent = Vec::new();
    for number in 0..RELAYED {
        let text = format!("relayed {number}");
        stage.publish(At::Far, TOPIC, &text).await;
        if number % 10 == 0 {
            stage.publish(At::Far, NEIGHBOUR, &text).await;
        }
        sent.push(text);
    }
    for number in 0..PUSHED {
        let text = format!("pushed {number}");
        client.lightpush(TOPIC, &text).await;
        sent.push(text);
    }
    sent.sort();
    let until = Instant::now() + STORED;
    loop {
        let pages = query(
            client,
            "wait for the store",
            json!({"forward": true, "page_size": 100}),
        );
        let count = pages.await.iter().map(Vec::len).sum::<usize>();
        if count == sent.len() {
            return sent;
        }
        let (all, now) = (sent.len(), Instant::now());
        assert!(
            now < until,
            "{count} of {all} messages are in the store after {STORED:?}"
        );
        tokio::time::sleep(Duration::from_millis(500)).await;
    }
}

#[tokio::test]
async fn history_is_read_in_both_directions_until_it_ends() {
    let stage = TestNetwork::start(Sharding::Automatic).await;
    let mut client = stage.client(At::Edge, "client").await;
    let sent = fill(&stage, &mut client).await;

    for is_forward in [true, false] {
        for page_size in [None, Some(7), Some(100)] {
            let step = format!("page by {page_size:?}, forward {is_forward}");
            let mut options = json!({"forward": is_forward});
            if let Some(size) = page_size {
                options["page_size"] = json!(size);
            }
            let pages = query(&mut client, &step, options).await;
            assert_eq!(texts(&step, &pages), sent, "{step}");
            in_order(&step, &pages, is_forward);
            let full = page_size.unwrap_or(PAGE_DEFAULT);
            let lengths: Vec<_> = pages.iter().map(Vec::len).collect();
            let (last, others) = lengths.split_last().unwrap();
            let is_full = others.iter().all(|length| *length == full) && *last <= full;
            assert!(is_full, "{step}: pages of {lengths:?} messages");
        }
    }
    let topics = [TOPIC, NEIGHBOUR];
    let both = json!({"forward": true, "topics": topics, "page_size": 100});
    let pages = query(&mut client, "two topics", both).await;
    let count = pages.iter().map(Vec::len).sum::<usize>();
    assert_eq!(count, sent.len() + RELAYED / 10, "two topics");
    client.quit().await;
}

#[tokio::test]
async fn history_is_read_by_time_and_by_hash() {
    let stage = TestNetwork::start(Sharding::Automatic).await;
    let mut client = stage.client(At::Edge, "client").await;
    fill(&stage, &mut client).await;
    let pages = query(&mut client, "everything", json!({"forward": true})).await;
    let all: Vec<_> = pages.into_iter().flatten().collect();

    // The store's hashes are those that the client computes.
    let answers = client.answers("store");
    let stored: Vec<_> = answers
        .iter()
        .flat_map(|a| a["hashes"].as_array().unwrap())
        .collect();
    for (_, message) in &all {
        assert!(
            stored.iter().any(|hash| **hash == message.hash),
            "{message:?}"
        );
    }

    let start_ms = all[50].0 + 1;
    // The client tells whole milliseconds, so the range ends at one in which there is no message.
    let is_free = |ms: &i64| all.iter().all(|(time, _)| time != ms);
    let end_ms = (all[200].0..).find(is_free).unwrap();
    let range = json!({"forward": true, "start_ms": start_ms, "end_ms": end_ms});
    let pages = query(&mut client, "by time", range).await;
    let found: Vec<_> = pages.into_iter().flatten().collect();
    let expected: Vec<_> = all
        .iter()
        .filter(|(time, _)| (start_ms..end_ms).contains(time))
        .cloned()
        .collect();
    assert_eq!(found, expected, "by time");

    let mut wanted = [3, 77, 150].map(|index| all[index].1.hash.clone());
    let command = json!({"cmd": "query_hashes", "topic": TOPIC, "hashes": wanted});
    let found = read_pages(&mut client, "by hash", command).await;
    let found = found.into_iter().flatten();
    let mut found: Vec<_> = found.map(|(_, message)| message.hash).collect();
    found.sort();
    wanted.sort();
    assert_eq!(found, wanted, "by hash");
    client.quit().await;
}

/// What its publisher calls ephemeral is not for stores.
#[tokio::test]
async fn ephemeral_messages_are_not_stored() {
    let stage = TestNetwork::start(Sharding::Automatic).await;
    let mut client = stage.client(At::Edge, "client").await;
    client.subscribe(TOPIC).await;
    let push = json!({"cmd": "lightpush", "topic": TOPIC, "text": "fleeting", "ephemeral": true});
    client.must("push", push).await;
    client.lightpush(TOPIC, "lasting").await;
    for text in ["fleeting", "lasting"] {
        client.message("receive by filter", text).await;
    }
    let until = Instant::now() + STORED;
    loop {
        let pages = query(&mut client, "read", json!({"forward": true})).await;
        let found = texts("read", &pages);
        assert!(!found.contains(&"fleeting".to_owned()), "{found:?}");
        if found == ["lasting"] {
            break;
        }
        assert!(
            Instant::now() < until,
            "the message is not in the store after {STORED:?}"
        );
        tokio::time::sleep(Duration::from_millis(200)).await;
    }
    client.quit().await;
}
