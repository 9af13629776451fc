//! Routes under `/relay/v1/auto`: as `/relay/v1`, with pubsub topics derived by autosharding.

use axum::{
    Json,
    extract::{Path, State},
    response::Response,
};
use thiserror::Error;
use tokio::time::timeout;
use undertone_message::{
    ContentTopic, ContentTopicError, PubsubTopic, Shard, WakuMessage, shard_of,
};
use undertone_network::handle::Stopped;
use utoipa_axum::{router::OpenApiRouter, routes};

use super::{
    ANSWER_TIMEOUT, App,
    body::JsonBody,
    cache::MAX_CONTENT_TOPICS,
    errors::ApiError,
    ok,
    relay::{leave_unless_wanted, message_of, now_ns, subscribe_error},
    shapes::RelayWakuMessage,
};
use undertone_network::command::{PublishFailure, SenderQuestion};
use undertone_provider::services::ServicesHandle;

pub(super) fn routes() -> OpenApiRouter<App> {
    OpenApiRouter::new()
        .routes(routes!(subscribe, unsubscribe))
        .routes(routes!(messages))
        .routes(routes!(publish))
}

/// Reason why no shard carries a content topic.
#[derive(Debug, Error)]
pub(super) enum NoCarrier {
    /// The text is not a valid content topic.
    #[error(transparent)]
    Topic(#[from] ContentTopicError),
    /// The network uses static sharding.
    #[error("Static sharding is used, autosharding is off (num-shards-in-network = 0)")]
    Static,
}

pub(super) fn carrier(app: &App, content_topic: &str) -> Result<PubsubTopic, NoCarrier> {
    let network = &app.config.network;
    let topic = ContentTopic::parse(content_topic)?;
    if !app.config.autosharding {
        return Err(NoCarrier::Static);
    }
    let index = shard_of(&topic, network.num_shards);
    Ok(Shard {
        cluster: network.cluster_id,
        index,
    }
    .into())
}

/// Returns the carriers of all topics, or the first error, before anything is changed.
fn carriers(app: &App, what: &str, topics: &[String]) -> Result<Vec<PubsubTopic>, ApiError> {
    let find = |topic: &String| {
        carrier(app, topic).map_err(|e| {
            ApiError::Internal(format!(
                "{what} failed:Failed to decode subscription event: Autosharding error: {e}"
            ))
        })
    };
    topics.iter().map(find).collect()
}

/// Subscribes to content topics
///
/// The node subscribes to the shards that carry the topics.
#[utoipa::path(
    post,
    path = "/relay/v1/auto/subscriptions",
    operation_id = "autoSubscribe",
    tag = "relay",
    request_body = Vec<String>,
    responses(
        (status = 200, description = "`OK`", content_type = "text/plain", body = String),
        (status = 400, description = "`Invalid content body, …`", content_type = "text/plain", body = String),
        (status = 500, description = "`Subscribe failed:…`; also for a content topic that is not valid, as nwaku answers", content_type = "text/plain", body = String),
        (status = 503, description = "`Subscribe failed:…`, the node is stopping", content_type = "text/plain", body = String),
    ),
)]
async fn subscribe(
    State(app): State<App>,
    JsonBody(topics): JsonBody<Vec<String>>,
) -> Result<Response, ApiError> {
    let carriers = carriers(&app, "Subscribe", &topics)?;
    for (topic, carrier) in topics.iter().zip(carriers) {
        let is_new = app
            .cache
            .subscribe_content(topic, Some(carrier.clone()))
            .map_err(|_| {
                ApiError::Internal(format!(
                    "Subscribe failed:already subscribed to {MAX_CONTENT_TOPICS} content topics; \
                 unsubscribe from one first"
                ))
            })?;
        if is_new && let Err(failure) = app.handle.subscribe(carrier).await {
            app.cache.unsubscribe_content(topic);
            return Err(subscribe_error("Subscribe", failure));
        }
    }
    Ok(ok())
}

/// Unsubscribes from content topics
#[utoipa::path(
    delete,
    path = "/relay/v1/auto/subscriptions",
    operation_id = "autoUnsubscribe",
    tag = "relay",
    request_body = Vec<String>,
    responses(
        (status = 200, description = "`OK`", content_type = "text/plain", body = String),
        (status = 400, description = "`Invalid content body, …`", content_type = "text/plain", body = String),
        (status = 500, description = "`Unsubscribe failed:…`; also for a content topic that is not valid, as nwaku answers", content_type = "text/plain", body = String),
        (status = 503, description = "`Unsubscribe failed:…`, the node is stopping", content_type = "text/plain", body = String),
    ),
)]
async fn unsubscribe(
    State(app): State<App>,
    JsonBody(topics): JsonBody<Vec<String>>,
) -> Result<Response, ApiError> {
    let carriers = carriers(&app, "Unsubscribe", &topics)?;
    for (topic, carrier) in topics.iter().zip(carriers) {
        app.cache.unsubscribe_content(topic);
        leave_unless_wanted(&app, carrier).await?;
    }
    Ok(ok())
}

/// Kept messages of a content topic
///
/// Removes them.
#[utoipa::path(
    get,
    path = "/relay/v1/auto/messages/{contentTopic}",
    operation_id = "autoMessages",
    tag = "relay",
    params(
        ("contentTopic" = String, Path, description = "Content topic, percent-encoded", example = "/my-app/1/chat/proto"),
    ),
    responses(
        (status = 200, description = "Messages, the oldest first", body = Vec<RelayWakuMessage>),
        (status = 404, description = "Not subscribed to the topic; the text is the topic", content_type = "text/plain", body = String),
    ),
)]
async fn messages(
    State(app): State<App>,
    Path(topic): Path<String>,
) -> Result<Json<Vec<RelayWakuMessage>>, ApiError> {
    let messages = app
        .cache
        .take_content(&topic)
        .ok_or(ApiError::NotFound(topic))?;
    let messages = messages.iter().map(|one| (&one.message).into());
    Ok(Json(messages.collect()))
}

/// Publishes a message on the shard of its content topic
///
/// Without a peer on the shard, the message waits in memory until there is one, or until other nodes would no longer
/// accept it. The outcome is not reported; for that, send with `/messaging/v1/messages`.
#[utoipa::path(
    post,
    path = "/relay/v1/auto/messages",
    operation_id = "autoPublish",
    tag = "relay",
    request_body = RelayWakuMessage,
    responses(
        (status = 200, description = "`OK`", content_type = "text/plain", body = String),
        (status = 400, description = "`Failed to publish. Autosharding error: …`, and as for `/relay/v1/messages`; `Failed to publish: NoPeersToPublish` if too many messages wait", content_type = "text/plain", body = String),
        (status = 429, description = "`Failed to publish: … NonceLimitReached: …`, the epoch's messages are used up", content_type = "text/plain", body = String),
        (status = 500, description = "`Failed to publish: error appending RLN proof to message: …` or `Failed to publish: timedout`", content_type = "text/plain", body = String),
        (status = 503, description = "`Failed to publish: stale RLN proof suspected; …`, or the node is stopping", content_type = "text/plain", body = String),
    ),
)]
async fn publish(
    State(app): State<App>,
    body: Result<JsonBody<RelayWakuMessage>, ApiError>,
) -> Result<Response, ApiError> {
    let body = message_of(&app, body)?;
    let restamp = body.leaves_the_time_to_us();
    let message = body
        .into_message(now_ns(&app))
        .map_err(ApiError::BadRequest)?;
    let pubsub_topic = carrier(&app, &message.content_topic)
        .map_err(|e| ApiError::BadRequest(format!("Failed to publish. Autosharding error: {e}")))?;
    // Spawned, so that publishing goes on if the client disconnects.
    let publishing = tokio::spawn(publish_or_wait(app, pubsub_topic, message, restamp));
    let ended = timeout(ANSWER_TIMEOUT, publishing).await;
    let ended = ended.unwrap_or(Ok(Err(PublishFailure::Timeout)));
    match ended.unwrap_or(Err(PublishFailure::Stopped(Stopped))) {
        // A client that repeats a message wants it sent, and it was.
        Ok(()) | Err(PublishFailure::Duplicate) => Ok(ok()),
        Err(failure) => Err(failure.into()),
    }
}

/// Publishes a message; if no peer can take it, hands it to the sender, which waits for one.
async fn publish_or_wait(
    app: App,
    pubsub_topic: PubsubTopic,
    message: WakuMessage,
    restamp: bool,
) -> Result<(), PublishFailure> {
    let sender = app.services.as_ref().map(ServicesHandle::sender);
    let size_bytes = message.encoded_len();
    let topic = pubsub_topic.clone();
    let first = app.handle.sender(|reply| SenderQuestion::PublishFirst {
        pubsub_topic: topic,
        message,
        may_wait: sender.is_some_and(|sender| sender.may_wait_for_peer(size_bytes)),
        reply,
    });
    let unsent = first.await.map_err(|_| Stopped)??;
    match (unsent, sender) {
        (Some(unsent), Some(sender)) => sender.wait_for_peer(pubsub_topic, unsent, restamp).await,
        _ => Ok(()),
    }
}
