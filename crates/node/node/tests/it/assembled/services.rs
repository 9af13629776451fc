//! Services of whole nodes: what a store keeps, what a light client gets, what is refused.

use std::fs;
use std::time::Duration;

use undertone_message::{PubsubTopic, Shard, WakuMessage};
use undertone_node::assemble::{Assembled, assemble};
use undertone_node::services::{LightpushVersion, ServiceFailure};
use undertone_services::history::{ContentCriteria, HistoryCriteria, HistoryQuery, PageDirection};

use crate::support::{HANG, Place, ask, metrics, metrics_until};

const CONTENT_TOPIC: &str = "/test/1/a/proto";

fn topic() -> PubsubTopic {
    PubsubTopic::Static(Shard::new(66, 0).unwrap())
}

/// A relay and a store without rate limit, in each other's meshes.
struct Pair {
    relay: Assembled,
    store: Assembled,
    places: [Place; 2],
}

impl Pair {
    async fn start() -> Self {
        Self::with(&[]).await
    }

    async fn with(more: &[(&str, &str)]) -> Self {
        let places = [Place::new(), Place::new()];
        let common = [&[("rln", "false"), ("shards", "0")], more].concat();
        let relay = assemble(&places[0].config(&[], &common)).await.unwrap();
        let peers = [relay.node.addresses[0].to_string()];
        let store = [&common[..], &[("store", "true")]].concat();
        let store = assemble(&places[1].config(&peers, &store)).await.unwrap();
        let mesh = format!("undertone_mesh_peers{{topic=\"{}\"}}", topic());
        for node in [&relay, &store] {
            metrics_until(node, |now| now[&mesh] >= 1.0).await;
        }
        Self {
            relay,
            store,
            places,
        }
    }

    /// A client without relay, which asks the store for its services.
    async fn client(&self) -> (Assembled, Place) {
        let place = Place::new();
        let flags = [("rln", "false"), ("shards", "0"), ("relay", "false")];
        let peers = [self.store.node.addresses[0].to_string()];
        let client = assemble(&place.config(&peers, &flags)).await;
        (client.unwrap(), place)
    }

    async fn publish(&self, text: &str) {
        let message = WakuMessage::new(text.to_owned().into_bytes(), CONTENT_TOPIC);
        let handle = &self.relay.node.handle;
        handle.publish(topic(), message).await.unwrap();
    }

    /// Texts that the store has, as `asker` learns them from it.
    async fn history(&self, asker: &Assembled) -> Result<Vec<String>, ServiceFailure> {
        let query = HistoryQuery {
            include_data: true,
            criteria: HistoryCriteria::Content(ContentCriteria {
                content_topics: vec![CONTENT_TOPIC.into()],
                ..ContentCriteria::default()
            }),
            cursor: None,
            direction: PageDirection::Forward,
            limit: 100,
        };
        let answer = asker.services.handle.query_store(None, query).await?;
        let data = answer.page.entries.into_iter().filter_map(|one| one.data);
        let text = |payload: &[u8]| String::from_utf8_lossy(payload).into_owned();
        Ok(data.map(|data| text(&data.message.payload)).collect())
    }

    async fn history_until(&self, asker: &Assembled, texts: &[&str]) {
        let arrives = async {
            while self.history(asker).await.is_ok_and(|now| now != texts) {
                tokio::time::sleep(Duration::from_millis(20)).await;
            }
        };
        tokio::time::timeout(HANG, arrives).await.unwrap();
        assert_eq!(self.history(asker).await.unwrap(), texts);
    }
}

async fn until(what: &str, mut is_so: impl AsyncFnMut() -> bool) {
    let waits = async {
        while !is_so().await {
            tokio::time::sleep(Duration::from_millis(50)).await;
        }
    };
    let waited = tokio::time::timeout(HANG, waits).await;
    assert!(waited.is_ok(), "never: {what}");
}

#[tokio::test]
async fn what_is_relayed_is_kept_and_asked_for_by_others() {
    let pair = Pair::start().await;
    pair.publish("one").await;
    pair.publish("two").await;
    pair.history_until(&pair.store, &["one", "two"]).await;
    // The other node has no archive, so that it asks the store; first it learns what its peer offers.
    until("the store is found", async || {
        pair.history(&pair.relay).await.is_ok()
    })
    .await;
    assert_eq!(pair.history(&pair.relay).await.unwrap(), ["one", "two"]);
    drop(pair.places);
}

#[tokio::test]
async fn a_store_that_cannot_write_says_so_and_makes_up_for_it() {
    let pair = Pair::start().await;
    pair.publish("before").await;
    pair.history_until(&pair.store, &["before"]).await;
    let (there, away) = (
        pair.places[1].path("store.sqlite"),
        pair.places[1].path("away"),
    );
    fs::rename(&there, &away).unwrap();
    pair.publish("meanwhile").await;
    let rest = pair.store.rest.unwrap();
    let health = async || ask(rest, "GET", "/health", "").await.1;
    until("the store is in trouble", async || {
        health().await.contains("\"Store\":\"NOT_READY\"")
    })
    .await;
    let said = health().await;
    assert!(said.contains("\"nodeHealth\":\"NOT_READY\""), "{said}");
    assert!(said.contains("store.sqlite"), "{said}");
    let in_trouble = metrics(rest).await;
    assert_eq!(in_trouble["undertone_store_writing"], 0.0);
    assert_eq!(in_trouble["undertone_store_waiting"], 1.0);

    fs::rename(&away, &there).unwrap();
    pair.history_until(&pair.store, &["before", "meanwhile"])
        .await;
    let said = health().await;
    assert!(said.contains("\"Store\":\"READY\""), "{said}");
    let well = metrics(rest).await;
    assert_eq!(well["undertone_store_writing"], 1.0);
    assert_eq!(
        well["undertone_store_messages_total{outcome=\"kept\"}"],
        2.0
    );
    assert_eq!(well["waku_archive_messages{type=\"stored\"}"], 2.0);
}

#[tokio::test]
async fn subscribers_get_messages_and_lightpush_publishes_them() {
    let pair = Pair::start().await;
    let (client, _place) = pair.client().await;
    let light = &client.services.handle;
    let mut pushed = {
        let (sender, receiver) = tokio::sync::mpsc::unbounded_channel();
        light.add_sink(std::sync::Arc::new(Sink(sender)));
        receiver
    };
    let content_topics = vec![CONTENT_TOPIC.to_owned()];
    until("a filter peer is found", async || {
        let topics = content_topics.clone();
        light.subscribe(Some(topic()), topics).await.is_ok()
    })
    .await;
    let message = WakuMessage::new(b"pushed".to_vec(), CONTENT_TOPIC);
    let pushing = light.push(LightpushVersion::V3, Some(topic()), message);
    assert_eq!(pushing.await, Ok(1));
    let got = tokio::time::timeout(HANG, pushed.recv())
        .await
        .unwrap()
        .unwrap();
    assert_eq!(&got[..], b"pushed");

    let subscribers = pair.store.services.handle.subscribers().unwrap();
    assert_eq!(subscribers.unwrap().len(), 1);
    pair.history_until(&pair.relay, &["pushed"]).await;
    let page = metrics_until(&pair.store, |page| {
        page.get("waku_archive_query_duration_seconds_count") >= Some(&1.0)
    })
    .await;
    let served = |service: &str| {
        page[&format!("waku_service_requests_total{{service=\"{service}\",state=\"served\"}}")]
    };
    assert_eq!(served("/vac/waku/lightpush/3.0.0"), 1.0);
    assert!(served("/vac/waku/filter-subscribe/2.0.0-beta1") >= 1.0);
    let queries = served("/vac/waku/store-query/3.0.0");
    assert_eq!(page["waku_store_queries_total"], queries);
    let pushes = "{service=\"/vac/waku/filter-push/2.0.0-beta1\",direction=\"out\"}";
    let pushes = format!("waku_service_network_bytes_total{pushes}");
    for (name, least) in [
        (pushes.as_str(), 6.0),
        ("waku_filter_subscriptions", 1.0),
        ("waku_filter_handle_message_duration_seconds_count", 1.0),
        (
            "waku_lightpush_v3_messages_total{type=\"PushRequest\"}",
            1.0,
        ),
        ("waku_archive_insert_duration_seconds_count", 1.0),
        ("waku_peers_dials_total{outcome=\"successful\"}", 1.0),
        (
            "waku_connected_peers{direction=\"Out\",protocol=\"/vac/waku/relay/2.0.0\"}",
            1.0,
        ),
    ] {
        assert!(
            page.get(name) >= Some(&least),
            "{name}: {:?}",
            page.get(name)
        );
    }
    light.unsubscribe_all().await.unwrap();
    let subscribers = pair.store.services.handle.subscribers().unwrap();
    assert_eq!(subscribers.unwrap(), []);
    let refused = light.ping().await.unwrap_err();
    assert!(
        matches!(refused, ServiceFailure::Refused { status: 404, .. }),
        "{refused}"
    );
}

/// A shard beyond those of autosharding, which the relays were told of while they ran.
#[tokio::test]
async fn lightpush_serves_each_shard_that_the_relay_carries() {
    let pair = Pair::start().await;
    let (client, _place) = pair.client().await;
    let far = PubsubTopic::Static(Shard::new(66, 1000).unwrap());
    let mut relayed = pair.relay.node.handle.messages(10);
    let light = &client.services.handle;
    let push = || {
        let message = WakuMessage::new(b"far".to_vec(), "far");
        light.push(LightpushVersion::V3, Some(far.clone()), message)
    };
    until("a lightpush peer is found", async || {
        matches!(
            push().await,
            Err(ServiceFailure::Refused { status: 421, .. })
        )
    })
    .await;
    for node in [&pair.relay, &pair.store] {
        node.node.handle.subscribe(far.clone()).await.unwrap();
    }
    until("it is published", async || push().await == Ok(1)).await;
    let got = tokio::time::timeout(HANG, relayed.recv()).await.unwrap();
    assert_eq!(got.unwrap().pubsub_topic, far);
}

/// More than a connection may have streams, and far more than are answered at once.
#[tokio::test]
async fn a_client_may_push_two_hundred_messages_at_once() {
    let pair = Pair::with(&[("rate-limit", "lightpush:0/1s")]).await;
    let (client, _place) = pair.client().await;
    let light = &client.services.handle;
    let push = |n: u32| {
        let message = WakuMessage::new(n.to_be_bytes().to_vec(), CONTENT_TOPIC);
        light.push(LightpushVersion::V3, Some(topic()), message)
    };
    until("a lightpush peer is found", async || {
        push(1_000).await.is_ok()
    })
    .await;
    let pushed = futures::future::join_all((0..200).map(push)).await;
    let failed: Vec<_> = pushed.iter().filter(|pushed| pushed.is_err()).collect();
    assert!(
        failed.is_empty(),
        "{} of 200: {:?}",
        failed.len(),
        failed[0]
    );
}

/// Sink that passes payloads on.
struct Sink(tokio::sync::mpsc::UnboundedSender<bytes::Bytes>);

impl undertone_node::handle::MessageSink for Sink {
    fn deliver(&self, delivery: &undertone_node::handle::Delivery) -> bool {
        self.0.send(delivery.message.payload.clone()).is_ok()
    }
}
