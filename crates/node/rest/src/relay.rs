//! The routes under `/relay/v1`: subscriptions, messages and publishing by pubsub topic.

use std::time::{SystemTime, UNIX_EPOCH};
use undertone_network::handle::Stopped;

use axum::{
    Json,
    extract::{Path, State},
    response::Response,
};
use tokio::time::timeout;
use undertone_message::{PubsubTopic, Shard, WakuMessage};
use utoipa_axum::{router::OpenApiRouter, routes};

use super::{ANSWER_TIMEOUT, App, body::JsonBody, errors::ApiError, ok, shapes::RelayWakuMessage};
use undertone_network::command::{PublishFailure, Published, SubscribeFailure};

pub(super) fn routes() -> OpenApiRouter<App> {
    OpenApiRouter::new()
        .routes(routes!(subscribe, unsubscribe))
        .routes(routes!(messages, publish))
}

/// Subscribes to pubsub topics
///
/// Messages are kept for fetching from then on.
#[utoipa::path(
    post,
    path = "/relay/v1/subscriptions",
    operation_id = "subscribe",
    tag = "relay",
    request_body = Vec<String>,
    responses(
        (status = 200, description = "`OK`", content_type = "text/plain", body = String),
        (status = 400, description = "`Invalid pubsub topic(s): …` or `Invalid content body, …`", content_type = "text/plain", body = String),
        (status = 500, description = "`Subscribe failed:…`", content_type = "text/plain", body = String),
        (status = 503, description = "`Subscribe failed:…`, the node is stopping", content_type = "text/plain", body = String),
    ),
)]
async fn subscribe(
    State(app): State<App>,
    JsonBody(topics): JsonBody<Vec<String>>,
) -> Result<Response, ApiError> {
    for topic in static_shards(&topics)? {
        if !app.cache.subscribe_pubsub(topic.clone()) {
            continue;
        }
        match app.handle.subscribe(topic.clone()).await {
            Ok(()) => {}
            // As nwaku answers. nwaku and this node both disconnect peers of another cluster, so nothing ever
            // arrives.
            Err(failure @ SubscribeFailure::NotInNetwork { .. }) => {
                tracing::warn!(%failure, "subscribed over REST, but no message will come");
            }
            Err(failure) => {
                app.cache.unsubscribe_pubsub(&topic);
                return Err(subscribe_error("Subscribe", failure));
            }
        }
    }
    Ok(ok())
}

/// Unsubscribes from pubsub topics
///
/// Kept messages are forgotten.
#[utoipa::path(
    delete,
    path = "/relay/v1/subscriptions",
    operation_id = "unsubscribe",
    tag = "relay",
    request_body = Vec<String>,
    responses(
        (status = 200, description = "`OK`", content_type = "text/plain", body = String),
        (status = 400, description = "`Invalid pubsub topic(s): …` or `Invalid content body, …`", content_type = "text/plain", body = String),
        (status = 500, description = "`Unsubscribe failed:…`", content_type = "text/plain", body = String),
        (status = 503, description = "`Unsubscribe failed:…`, the node is stopping", content_type = "text/plain", body = String),
    ),
)]
async fn unsubscribe(
    State(app): State<App>,
    JsonBody(topics): JsonBody<Vec<String>>,
) -> Result<Response, ApiError> {
    for topic in static_shards(&topics)? {
        app.cache.unsubscribe_pubsub(&topic);
        leave_unless_wanted(&app, topic).await?;
    }
    Ok(ok())
}

/// Leaves a pubsub topic that no pubsub or content subscription needs any more.
pub(super) async fn leave_unless_wanted(app: &App, topic: PubsubTopic) -> Result<(), ApiError> {
    if app.cache.wants(&topic) || app.received.wants(&topic) {
        return Ok(());
    }
    app.handle
        .unsubscribe(topic)
        .await
        .map_err(|failure| subscribe_error("Unsubscribe", failure))
}

/// Returns nwaku's error text for a failure to join or leave a topic.
pub(super) fn subscribe_error(what: &str, failure: SubscribeFailure) -> ApiError {
    let text = format!("{what} failed:{failure}");
    match failure {
        SubscribeFailure::Stopped(Stopped) => ApiError::Unavailable(text),
        _ => ApiError::Internal(text),
    }
}

fn static_shards(topics: &[String]) -> Result<Vec<PubsubTopic>, ApiError> {
    let mut parsed = Vec::with_capacity(topics.len());
    let mut bad = Vec::new();
    for topic in topics {
        match any_shard(topic) {
            Some(topic) => parsed.push(topic),
            None => bad.push(format!("{topic:?}")),
        }
    }
    if bad.is_empty() {
        return Ok(parsed);
    }
    // The bracket form is how Nim, nwaku's language, prints a list.
    Err(ApiError::BadRequest(format!(
        "Invalid pubsub topic(s): @[{}]",
        bad.join(", ")
    )))
}

/// Parses a static shard of any number, because nwaku accepts numbers beyond the specified 1023.
fn any_shard(topic: &str) -> Option<PubsubTopic> {
    if let Ok(topic) = PubsubTopic::parse(topic) {
        return Some(topic);
    }
    let (cluster, index) = topic.strip_prefix("/waku/2/rs/")?.split_once('/')?;
    let number = |text: &str| {
        let number: u16 = text.parse().ok()?;
        // Only the canonical spelling is accepted, so that one topic has one name.
        (number.to_string() == text).then_some(number)
    };
    let (cluster, index) = (number(cluster)?, number(index)?);
    Some(Shard { cluster, index }.into())
}

/// Parses a pubsub topic in a path or query.
pub(super) fn topic_in_path(text: &str) -> Option<PubsubTopic> {
    any_shard(text).or_else(|| PubsubTopic::parse_any(text).ok())
}

/// Kept messages of a pubsub topic
///
/// Removes them.
#[utoipa::path(
    get,
    path = "/relay/v1/messages/{pubsubTopic}",
    operation_id = "messages",
    tag = "relay",
    params(
        ("pubsubTopic" = String, Path, description = "Pubsub topic, percent-encoded", example = "/waku/2/rs/66/0"),
    ),
    responses(
        (status = 200, description = "Messages, the oldest first", body = Vec<RelayWakuMessage>),
        (status = 404, description = "Not subscribed to the topic", content_type = "text/plain", body = String),
    ),
)]
async fn messages(
    State(app): State<App>,
    Path(topic): Path<String>,
) -> Result<Json<Vec<RelayWakuMessage>>, ApiError> {
    let messages = topic_in_path(&topic)
        .and_then(|topic| app.cache.take_pubsub(&topic))
        .ok_or_else(|| ApiError::NotFound(String::new()))?;
    let messages = messages.iter().map(|one| (&one.message).into());
    Ok(Json(messages.collect()))
}

/// Publishes a message on a pubsub topic
#[utoipa::path(
    post,
    path = "/relay/v1/messages/{pubsubTopic}",
    operation_id = "publish",
    tag = "relay",
    params(
        ("pubsubTopic" = String, Path, description = "Pubsub topic, percent-encoded", example = "/waku/2/rs/66/0"),
    ),
    request_body = RelayWakuMessage,
    responses(
        (status = 200, description = "`OK`", content_type = "text/plain", body = String),
        (status = 400, description = "`Invalid content body, …`, `Incorrect base64 string`, or `Failed to publish: …`: not subscribed to the topic, too long, a timestamp that receivers do not accept, not valid", content_type = "text/plain", body = String),
        (status = 429, description = "`Failed to publish: … NonceLimitReached: …`, the epoch's messages are used up", content_type = "text/plain", body = String),
        (status = 500, description = "`Failed to publish: error appending RLN proof to message: …` or `Failed to publish: timedout`", content_type = "text/plain", body = String),
        (status = 503, description = "`Failed to publish: stale RLN proof suspected; …`, or the node is stopping", content_type = "text/plain", body = String),
    ),
)]
async fn publish(
    State(app): State<App>,
    Path(topic): Path<String>,
    body: Result<JsonBody<RelayWakuMessage>, ApiError>,
) -> Result<Response, ApiError> {
    let message = message_of(&app, body)?;
    let pubsub_topic = topic_in_path(&topic).ok_or_else(|| {
        ApiError::BadRequest(format!(
            "Failed to publish: Node not subscribed to topic: {topic}"
        ))
    })?;
    let message = message
        .into_message(now_ns(&app))
        .map_err(ApiError::BadRequest)?;
    match send(&app, pubsub_topic, message).await {
        // A client that repeats a message wants it sent, and it was.
        Ok(_) | Err(PublishFailure::Duplicate) => Ok(ok()),
        // nwaku ignores this outcome, and its clients publish before peers connect.
        Err(PublishFailure::NoPeers) => {
            tracing::warn!(%topic, "published over REST, but there is no peer to send it to");
            Ok(ok())
        }
        Err(failure) => Err(failure.into()),
    }
}

/// Returns the decoded body, a message or the request to publish one. An overlong body gets the error of an
/// overlong message.
pub(super) fn message_of<T>(app: &App, body: Result<JsonBody<T>, ApiError>) -> Result<T, ApiError> {
    match body {
        Ok(JsonBody(message)) => Ok(message),
        Err(ApiError::TooLarge(_)) => {
            let max = app.config.network.max_message_bytes;
            Err(ApiError::BadRequest(format!(
                "Failed to publish: Message size exceeded maximum of {max} bytes"
            )))
        }
        Err(error) => Err(error),
    }
}

/// Publishes a message; a client waits at most as long as with nwaku.
async fn send(
    app: &App,
    topic: PubsubTopic,
    message: WakuMessage,
) -> Result<Published, PublishFailure> {
    timeout(ANSWER_TIMEOUT, app.handle.publish(topic, message))
        .await
        .unwrap_or(Err(PublishFailure::Timeout))
}

/// Unix time in nanoseconds, by the node's clock.
pub(super) fn now_ns(app: &App) -> i64 {
    let since = SystemTime::now()
        .duration_since(UNIX_EPOCH)
        .unwrap_or_default();
    let now_ns = i64::try_from(since.as_nanos()).unwrap_or(i64::MAX);
    now_ns.saturating_add(app.config.clock_ahead_ns)
}
