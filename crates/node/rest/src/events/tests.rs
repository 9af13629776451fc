use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::{Duration, Instant};

use bytes::Bytes;
use serde_json::{Value, json};
use undertone_gossip::MessageId;
use undertone_message::{PubsubTopic, Shard, WakuMessage};

use super::*;
use crate::fake::services_with;
use undertone_network::handle::Delivery;
use undertone_provider::services::{LightStatus, ServicesHandle};

mod bounds;

const TOPIC: &str = "/app/1/chat/proto";
const OTHER: &str = "/app/1/other/proto";

fn shard(index: u16) -> PubsubTopic {
    Shard { cluster: 66, index }.into()
}

fn limits(events_max: usize) -> EventLimits {
    EventLimits {
        events_max,
        ..EventLimits::default()
    }
}

/// A log that keeps events, as if a client had come before.
fn log(limits: EventLimits) -> Arc<EventLog> {
    let log = EventLog::new(limits, 0);
    log.follow();
    Arc::new(log)
}

fn deliver(log: &EventLog, content_topic: &str, payload: impl Into<Bytes>) {
    let now = Instant::now();
    let message = WakuMessage::new(payload, content_topic);
    log.keep(&Arc::new(Delivery {
        pubsub_topic: shard(0),
        message,
        id: MessageId([0; 32]),
        from: None,
        received: now,
        validated: now,
    }));
}

fn deliver_numbered(log: &EventLog, numbers: impl IntoIterator<Item = u8>) {
    for number in numbers {
        deliver(log, TOPIC, vec![number; 3]);
    }
}

/// An event as a client reads it.
#[derive(Clone, Debug, PartialEq)]
struct Read {
    id: Option<String>,
    name: Option<String>,
    data: Option<Value>,
}

fn read(piece: &[u8]) -> Read {
    let text = std::str::from_utf8(piece).unwrap();
    assert!(text.ends_with("\n\n"), "{text:?}");
    let mut fields = BTreeMap::new();
    for line in text.trim_end().lines() {
        let (name, value) = line.split_once(": ").unwrap();
        fields.insert(name, value);
    }
    let field = |name| fields.get(name).map(|value| (*value).to_owned());
    Read {
        id: field("id"),
        name: field("event"),
        data: field("data").map(|data| serde_json::from_str(&data).unwrap()),
    }
}

/// A client that remembers its cursor, as a browser does.
struct Client {
    stream: EventStream,
    cursor: String,
}

impl Client {
    fn new(log: &Arc<EventLog>, filter: EventFilter, cursor: Option<&str>) -> Self {
        Self::with_services(log, filter, cursor, None)
    }

    fn with_services(
        log: &Arc<EventLog>,
        filter: EventFilter,
        cursor: Option<&str>,
        services: Option<ServicesHandle>,
    ) -> Self {
        let cursor = cursor.map(|text| known(log, text).unwrap());
        let place = log.take_place().unwrap();
        let answer = LongAnswer::new();
        Self {
            stream: EventStream::new(Arc::clone(log), filter, cursor, services, answer, place),
            cursor: String::new(),
        }
    }

    async fn next(&mut self) -> Option<Read> {
        let read = read(&self.stream.next().await?);
        if let Some(id) = &read.id {
            self.cursor = id.clone();
        }
        Some(read)
    }

    /// The next event that has data.
    async fn event(&mut self) -> Read {
        loop {
            let read = self.next().await.expect("the stream goes on");
            if read.data.is_some() {
                return read;
            }
        }
    }

    /// Payloads of the next messages.
    async fn payloads(&mut self, count: usize) -> Vec<u8> {
        let mut payloads = Vec::new();
        for _ in 0..count {
            let event = self.event().await;
            assert_eq!(event.name, None, "{event:?}");
            payloads.push(first_byte(&event));
        }
        payloads
    }

    async fn is_quiet(&mut self) -> bool {
        let wait = Duration::from_secs(60);
        tokio::time::timeout(wait, self.event()).await.is_err()
    }
}

fn first_byte(event: &Read) -> u8 {
    use base64::Engine as _;
    let payload = event.data.as_ref().unwrap()["message"]["payload"]
        .as_str()
        .unwrap();
    base64::engine::general_purpose::STANDARD
        .decode(payload)
        .unwrap()[0]
}

#[tokio::test(start_paused = true)]
async fn each_client_gets_every_message_and_the_bytes_are_shared() {
    let log = log(EventLimits::default());
    let mut clients = [(); 2].map(|()| Client::new(&log, EventFilter::default(), None));
    deliver_numbered(&log, 1..=5);
    for client in &mut clients {
        assert_eq!(client.payloads(5).await, [1, 2, 3, 4, 5]);
        assert!(client.is_quiet().await);
    }
    deliver_numbered(&log, [6]);
    let [a, b] = &mut clients;
    let (a, b) = (
        a.stream.next().await.unwrap(),
        b.stream.next().await.unwrap(),
    );
    assert_eq!(a.as_ptr(), b.as_ptr());
}

#[tokio::test(start_paused = true)]
async fn a_message_event_has_what_a_store_knows_it_by() {
    let log = log(EventLimits::default());
    let mut client = Client::new(&log, EventFilter::default(), None);
    deliver(&log, TOPIC, "hi");
    let event = client.event().await;
    let hash = undertone_message::message_hash("/waku/2/rs/66/0", &WakuMessage::new("hi", TOPIC));
    let data = event.data.unwrap();
    assert_eq!(data["messageHash"], hash.to_string());
    assert_eq!(data["pubsubTopic"], "/waku/2/rs/66/0");
    assert_eq!(data["message"]["payload"], "aGk=");
    assert_eq!(data["message"]["contentTopic"], TOPIC);
}

#[tokio::test(start_paused = true)]
async fn a_client_that_comes_back_misses_nothing_and_gets_nothing_twice() {
    let log = log(EventLimits::default());
    let mut first = Client::new(&log, EventFilter::default(), None);
    deliver_numbered(&log, 1..=4);
    assert_eq!(first.payloads(2).await, [1, 2]);
    let cursor = first.cursor.clone();
    drop(first);
    deliver_numbered(&log, 5..=6);
    let mut again = Client::new(&log, EventFilter::default(), Some(&cursor));
    assert_eq!(again.payloads(4).await, [3, 4, 5, 6]);
    assert!(again.is_quiet().await);
}

/// The first piece has a cursor, so that a client that is cut off before the first message misses none.
#[tokio::test(start_paused = true)]
async fn a_client_has_a_cursor_before_the_first_message() {
    let log = log(EventLimits::default());
    deliver_numbered(&log, [1]);
    let mut client = Client::new(&log, EventFilter::default(), None);
    assert_eq!(client.next().await.unwrap().data, None);
    let cursor = client.cursor.clone();
    deliver_numbered(&log, [2]);
    let mut again = Client::new(&log, EventFilter::default(), Some(&cursor));
    assert_eq!(again.payloads(1).await, [2]);
}

#[tokio::test(start_paused = true)]
async fn a_cursor_older_than_the_ring_is_told_how_many_were_lost_and_when() {
    let log = log(limits(3));
    let mut client = Client::new(&log, EventFilter::default(), None);
    deliver_numbered(&log, [1]);
    client.payloads(1).await;
    let before_ns = log.now_ms() * 1_000_000;
    deliver_numbered(&log, 2..=9);
    let mut again = Client::new(&log, EventFilter::default(), Some(&client.cursor));
    let gap = again.event().await;
    assert_eq!(gap.name.as_deref(), Some("gap"));
    let data = gap.data.unwrap();
    assert_eq!(data["reason"], "overflow");
    assert_eq!(data["lostAtMost"], 5, "2 to 6");
    let [start, end] = ["startTime", "endTime"].map(|name| data[name].as_i64().unwrap());
    let margin_ns = 30_000_000_000;
    assert!(start <= before_ns - margin_ns + 1_000_000_000, "{data}");
    assert!(end >= before_ns + margin_ns, "{data}");
    // Its id is a position behind the gap.
    let mut third = Client::new(&log, EventFilter::default(), Some(&again.cursor));
    for client in [&mut again, &mut third] {
        assert_eq!(client.payloads(3).await, [7, 8, 9]);
    }
}

/// The first client of a run may come from the run before: what came meanwhile is in its gap.
#[tokio::test(start_paused = true)]
async fn a_cursor_of_an_earlier_run_leads_to_a_gap_up_to_the_first_client() {
    let log = Arc::new(EventLog::new(limits(3), 0));
    deliver_numbered(&log, 1..=2);
    let before_ns = log.now_ms() * 1_000_000;
    let cursor = format!("{:016x}-1-0", log.instance() ^ 1);
    let mut client = Client::new(&log, EventFilter::default(), Some(&cursor));
    let data = client.event().await.data.unwrap();
    assert_eq!(data["reason"], "restart");
    let end = data["endTime"].as_i64().unwrap();
    assert!(end >= before_ns + 30_000_000_000, "{data}");
    deliver_numbered(&log, [3]);
    assert_eq!(client.payloads(1).await, [3]);
}

#[tokio::test(start_paused = true)]
async fn a_cursor_of_an_earlier_run_is_recognised() {
    let before = log(EventLimits::default());
    let mut client = Client::new(&before, EventFilter::default(), None);
    deliver_numbered(&before, [1]);
    client.payloads(1).await;
    let log = log(EventLimits::default());
    deliver_numbered(&log, 2..=3);
    let mut again = Client::new(&log, EventFilter::default(), Some(&client.cursor));
    let gap = again.event().await;
    let data = gap.data.unwrap();
    assert_eq!(
        (&data["reason"], &data["lostAtMost"]),
        (&"restart".into(), &Value::Null)
    );
    assert_eq!(again.payloads(2).await, [2, 3]);
}

#[tokio::test(start_paused = true)]
async fn a_client_that_falls_behind_is_told_so_and_comes_back_by_its_cursor() {
    let log = log(limits(8));
    let mut slow = Client::new(&log, EventFilter::default(), None);
    deliver_numbered(&log, 1..=4);
    assert_eq!(slow.payloads(2).await, [1, 2]);
    // Half of the ring is too much.
    deliver_numbered(&log, 5..=7);
    let closed = slow.event().await;
    assert_eq!(closed.name.as_deref(), Some("closed"));
    let data = closed.data.unwrap();
    assert_eq!(
        (&data["reason"], &data["behind"]),
        (&"slow".into(), &5.into())
    );
    assert!(slow.next().await.is_none(), "it was the last");
    // The rest is still there, and catching up is not slowness.
    let mut again = Client::new(&log, EventFilter::default(), Some(&slow.cursor));
    deliver_numbered(&log, [8]);
    assert_eq!(again.payloads(6).await, [3, 4, 5, 6, 7, 8]);
}

#[tokio::test(start_paused = true)]
async fn silence_is_broken_by_comments_that_carry_the_cursor() {
    let log = log(limits(2));
    let filter = EventFilter {
        content_topics: [TOPIC.to_owned()].into(),
        ..EventFilter::default()
    };
    let mut client = Client::new(&log, filter, None);
    let start = tokio::time::Instant::now();
    client.next().await.unwrap();
    // Others' messages pass; the client's position follows them, so that they leave no gap later.
    for number in 0..6 {
        deliver(&log, OTHER, vec![number]);
        let wait = Duration::from_secs(4);
        if let Ok(beat) = tokio::time::timeout(wait, client.next()).await {
            assert_eq!(beat.unwrap().data, None);
        }
    }
    let beats = start.elapsed().as_secs() / HEARTBEAT.as_secs();
    assert_eq!(beats, 1, "24 s");
    assert!(client.cursor.contains("-4-"), "{}", client.cursor);
}

#[tokio::test(start_paused = true)]
async fn only_wanted_topics_come() {
    let log = log(EventLimits::default());
    let filter = |pubsub: Option<u16>, content: &[&str]| EventFilter {
        pubsub_topic: pubsub.map(shard),
        content_topics: content.iter().map(|topic| (*topic).to_owned()).collect(),
    };
    let mut chat = Client::new(&log, filter(None, &[TOPIC]), None);
    let mut both = Client::new(&log, filter(Some(0), &[TOPIC, OTHER]), None);
    let mut none = Client::new(&log, filter(Some(1), &[]), None);
    deliver(&log, OTHER, vec![1]);
    deliver(&log, TOPIC, vec![2]);
    assert_eq!(chat.payloads(1).await, [2]);
    assert_eq!(both.payloads(2).await, [1, 2]);
    assert!(none.is_quiet().await);
}

/// More messages than are searched at a time, none of which is wanted but the last.
#[tokio::test(start_paused = true)]
async fn a_wanted_message_is_found_behind_many_others() {
    let log = log(EventLimits::default());
    let filter = EventFilter {
        content_topics: [TOPIC.to_owned()].into(),
        ..EventFilter::default()
    };
    let mut client = Client::new(&log, filter, None);
    for _ in 0..3000 {
        deliver(&log, OTHER, vec![1]);
    }
    deliver(&log, TOPIC, vec![2]);
    assert_eq!(client.payloads(1).await, [2]);
}

#[tokio::test(start_paused = true)]
async fn a_thousand_clients_follow_and_places_come_back() {
    let log = log(EventLimits::default());
    let open = || Client::new(&log, EventFilter::default(), None);
    let mut clients: Vec<_> = (0..1024).map(|_| open()).collect();
    assert!(log.take_place().is_none());
    deliver_numbered(&log, 1..=3);
    for client in &mut clients {
        assert_eq!(client.payloads(3).await, [1, 2, 3]);
    }
    clients.pop();
    assert!(log.take_place().is_some());
}

/// What one client costs beside its connection, so that a thousand are cheap.
#[test]
fn a_client_is_small() {
    let size = size_of::<EventStream>();
    assert!(size <= 512, "{size}");
}

#[tokio::test(start_paused = true)]
async fn a_stopping_server_ends_streams() {
    let log = log(EventLimits::default());
    let place = log.take_place().unwrap();
    let answer = LongAnswer::new();
    let filter = EventFilter::default();
    let mut stream = EventStream::new(log, filter, None, None, answer.clone(), place);
    stream.next().await.unwrap();
    let ending = tokio::spawn(async move {
        let last = stream.next().await.unwrap();
        (read(&last), stream.next().await)
    });
    tokio::time::sleep(Duration::from_secs(1)).await;
    answer.end();
    let (last, nothing) = ending.await.unwrap();
    assert_eq!(last.name.as_deref(), Some("closed"));
    assert_eq!(last.data.unwrap()["reason"], "shutdown");
    assert_eq!(nothing, None);
}

/// A quiet client hears of it by the time of a heartbeat, and each that begins while it lasts hears of it at once.
#[tokio::test(start_paused = true)]
async fn a_client_is_told_when_strangers_alone_are_asked_and_when_that_ends() {
    let log = log(EventLimits::default());
    let light = Arc::<parking_lot::Mutex<LightStatus>>::default();
    let services = services_with(light.clone());
    let begin = || {
        let services = Some(services.clone());
        Client::with_services(&log, EventFilter::default(), None, services)
    };
    let mut first = begin();
    assert!(first.is_quiet().await);
    light.lock().strangers_alone = ["store", "lightpush"].into();
    let start = tokio::time::Instant::now();
    let mut second = begin();
    for (client, within) in [(&mut second, Duration::ZERO), (&mut first, HEARTBEAT)] {
        let event = client.event().await;
        assert_eq!(event.name.as_deref(), Some("strangers"));
        assert_eq!(
            event.data.unwrap()["services"],
            json!(["lightpush", "store"])
        );
        assert_eq!(event.id, None);
        assert!(start.elapsed() <= within, "{:?}", start.elapsed());
    }
    light.lock().strangers_alone.clear();
    deliver_numbered(&log, [1]);
    for client in [&mut first, &mut second] {
        assert_eq!(client.payloads(1).await, [1]);
        assert_eq!(client.event().await.data.unwrap(), json!({"services": []}));
        assert!(client.is_quiet().await, "it is told once");
    }
}

#[test]
fn cursors_of_no_event_are_refused() {
    let log = log(EventLimits::default());
    let own = log.cursor(1, 0).to_string();
    let long = format!("{:016x}-18446744073709551616-0", log.instance());
    for text in [
        "",
        "x",
        "1-2-3",
        "-0-0",
        &own,
        &long,
        "0000000000000001--1",
        "+000000000000001-1-1",
    ] {
        assert!(known(&log, text).is_err(), "{text:?}");
    }
    deliver_numbered(&log, [1]);
    assert!(known(&log, &own).is_ok());
}

/// A cursor is text that a client sends: no number in it may lead to a panic or to a loop.
#[tokio::test(start_paused = true)]
async fn extreme_cursors_of_other_runs_only_lead_to_a_gap() {
    let log = log(EventLimits::default());
    deliver_numbered(&log, [1]);
    let numbers = ["0".to_owned(), u64::MAX.to_string()];
    let times = ["0".to_owned(), i64::MAX.to_string()];
    for (number, time) in numbers.iter().zip(&times) {
        let cursor = format!("{:016x}-{number}-{time}", log.instance() ^ 1);
        let mut client = Client::new(&log, EventFilter::default(), Some(&cursor));
        let gap = client.event().await;
        assert_eq!(gap.data.unwrap()["reason"], "restart");
        assert_eq!(client.payloads(1).await, [1]);
    }
    let own = format!("{:016x}-0-{}", log.instance(), i64::MAX);
    let mut client = Client::new(&log, EventFilter::default(), Some(&own));
    assert_eq!(client.payloads(1).await, [1]);
}
