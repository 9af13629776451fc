//! The routes under `/messaging/v1`: reliable sending, and messages of content topics.

use std::time::Duration;
use undertone_network::handle::Stopped;

use axum::{
    Json,
    extract::{Path, State},
    http::{HeaderValue, header::RETRY_AFTER},
    response::{IntoResponse as _, Response},
};
use base64::{Engine as _, engine::general_purpose::STANDARD};
use serde::{Deserialize, Deserializer, Serialize, de};
use tokio::time::timeout;
use undertone_message::{PubsubTopic, WakuMessage, message::MAX_META_BYTES};
use utoipa::ToSchema;
use utoipa_axum::{router::OpenApiRouter, routes};

mod received;
mod stream;
#[cfg(test)]
#[path = "tests/messaging.rs"]
mod tests;

use received::ReceivedEntry;
pub(super) use received::ReceivedMessages;
pub(super) use stream::SentEvent;

use super::{
    App,
    auto::{NoCarrier, carrier},
    body::JsonBody,
    errors::ApiError,
    ok,
    relay::{leave_unless_wanted, message_of, subscribe_error},
    shapes::RelayWakuMessage,
};
use undertone_provider::services::{SendError, SendFailure, SendId, SendReport, SendStep};

/// Longest wait until a message is in the queue.
const ACCEPT_TIMEOUT: Duration = Duration::from_secs(5);

/// Answer if content topics do not map to shards, in nwaku's words.
const NO_AUTOSHARDING: &str = "autosharding is not configured: content-topic subscriptions and sends need \
                               --preset or --num-shards-in-network";

pub(super) fn routes() -> OpenApiRouter<App> {
    OpenApiRouter::new()
        .routes(routes!(subscriptions, subscribe, unsubscribe))
        .routes(routes!(send))
        .routes(routes!(sent))
        .routes(routes!(sent_one))
        .routes(routes!(received))
        .routes(routes!(stream::sent_stream))
}

/// Message to send.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct MessagingMessage {
    /// Bytes of the application, base64.
    #[schema(
        pattern = "^([A-Za-z0-9+/]{4})*([A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=)?$",
        min_length = 4
    )]
    #[serde(deserialize_with = "payload")]
    payload: String,
    #[schema(min_length = 1, pattern = "\\S", example = "/my-app/1/chat/proto")]
    #[serde(deserialize_with = "content_topic")]
    content_topic: String,
    /// Whether stores should not keep the message.
    #[schema(nullable = false)]
    #[serde(default, deserialize_with = "given")]
    ephemeral: Option<bool>,
    /// At most 64 bytes, base64.
    #[schema(
        nullable = false,
        pattern = "^([A-Za-z0-9+/]{4})*([A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=)?$",
        max_length = 88
    )]
    #[serde(default, deserialize_with = "given")]
    meta: Option<String>,
}

fn not_blank<'de, D: Deserializer<'de>>(
    deserializer: D,
    name: &'static str,
) -> Result<String, D::Error> {
    let text = String::deserialize(deserializer)?;
    match text.trim().is_empty() {
        true => Err(de::Error::custom(format!(
            "Field `{name}` is missing or empty"
        ))),
        false => Ok(text),
    }
}

fn payload<'de, D: Deserializer<'de>>(deserializer: D) -> Result<String, D::Error> {
    not_blank(deserializer, "payload")
}

fn content_topic<'de, D: Deserializer<'de>>(deserializer: D) -> Result<String, D::Error> {
    not_blank(deserializer, "contentTopic")
}

/// Deserializes a field that may be missing but must not be `null`.
fn given<'de, T: Deserialize<'de>, D: Deserializer<'de>>(
    deserializer: D,
) -> Result<Option<T>, D::Error> {
    T::deserialize(deserializer).map(Some)
}

impl MessagingMessage {
    fn into_message(self) -> Result<WakuMessage, String> {
        let decode = |text: &str| {
            let decoded = STANDARD.decode(text);
            decoded.map_err(|_| "Incorrect base64 string".to_owned())
        };
        let meta = self.meta.filter(|meta| !meta.is_empty());
        let meta = meta.as_deref().map(decode).transpose()?;
        if let Some(len) = meta
            .as_ref()
            .map(Vec::len)
            .filter(|len| *len > MAX_META_BYTES)
        {
            return Err(format!(
                "meta has {len} bytes; at most {MAX_META_BYTES} are accepted"
            ));
        }
        Ok(WakuMessage {
            version: Some(0),
            meta: meta.map(Into::into),
            ephemeral: Some(self.ephemeral.unwrap_or(false)),
            ..WakuMessage::new(decode(&self.payload)?, self.content_topic)
        })
    }
}

/// Id of an accepted message.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
struct SendAccepted {
    /// Id by which `/messaging/v1/events/send` refers to the message.
    request_id: String,
}

/// State changes of one message since the last request.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
struct SendStatus {
    request_id: String,
    /// State changes, the oldest first.
    events: Vec<SendEventBody>,
}

/// State change of a message.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
struct SendEventBody {
    /// `queued`: accepted. `propagated`: another node has it. `sent`: a store has it. `error`: it failed.
    kind: &'static str,
    /// Deterministic hash of RFC 14; empty before the message has a timestamp.
    message_hash: String,
    /// Reason of a failure, or why no store will confirm a propagated message.
    #[serde(skip_serializing_if = "Option::is_none")]
    error: Option<&'static str>,
    /// Time of the state change, Unix nanoseconds.
    timestamp: u64,
    /// Whether the state is final.
    is_end: bool,
}

impl SendEventBody {
    /// Converts a report; returns `None` for a state that nwaku does not report.
    fn of(report: &SendReport) -> Option<Self> {
        let kind = match report.step {
            SendStep::Queued => "queued",
            SendStep::Sent => return None,
            SendStep::Propagated | SendStep::PropagatedOnly(_) => "propagated",
            SendStep::Stored => "sent",
            SendStep::Failed(_) => "error",
        };
        Some(Self {
            kind,
            message_hash: report.hash.map(|hash| hash.to_string()).unwrap_or_default(),
            error: report.step.reason(),
            timestamp: report.at_ns,
            is_end: report.step.is_end(),
        })
    }
}

fn request_id(id: SendId) -> String {
    format!("{:016x}", id.0)
}

fn parsed(request_id: &str) -> Option<SendId> {
    let is_plain = request_id.len() == 16 && request_id.bytes().all(|b| b.is_ascii_hexdigit());
    let number = u64::from_str_radix(request_id, 16).ok();
    number.filter(|_| is_plain).map(SendId)
}

/// Groups reports by message, in the order of the messages' first reports.
fn statuses(reports: &[SendReport]) -> Vec<SendStatus> {
    let mut statuses: Vec<(SendId, SendStatus)> = Vec::new();
    let mut places = std::collections::BTreeMap::new();
    for report in reports {
        let place = *places.entry(report.id).or_insert_with(|| {
            let status = SendStatus {
                request_id: request_id(report.id),
                events: Vec::new(),
            };
            statuses.push((report.id, status));
            statuses.len() - 1
        });
        statuses[place].1.events.extend(SendEventBody::of(report));
    }
    let with_events = statuses.into_iter().map(|(_, status)| status);
    with_events
        .filter(|status| !status.events.is_empty())
        .collect()
}

fn failure(failure: SendFailure) -> Response {
    let text = failure.to_string();
    match failure {
        SendFailure::Queue(SendError::QueueFull { .. } | SendError::QueueBytes { .. }) => {
            let later = [(RETRY_AFTER, HeaderValue::from_static("1"))];
            let full = ApiError::TooMany(format!("Send queue full, retry later: {text}"));
            (later, full).into_response()
        }
        SendFailure::Queue(_) | SendFailure::Message(_) | SendFailure::Topic(_) => {
            ApiError::BadRequest(format!("Invalid message: {text}")).into_response()
        }
        SendFailure::Unwritable { .. } | SendFailure::Stopped(Stopped) => {
            ApiError::Unavailable(format!("Send failed: {text}")).into_response()
        }
    }
}

/// Returns the shards that carry content topics, or the first error, before anything is changed.
fn carriers(app: &App, topics: &[String], what: &str) -> Result<Vec<PubsubTopic>, ApiError> {
    let find = |topic: &String| {
        carrier(app, topic).map_err(|error| match error {
            NoCarrier::Static => ApiError::Unavailable(NO_AUTOSHARDING.into()),
            NoCarrier::Topic(error) => {
                ApiError::BadRequest(format!("{what}invalid content topic: '{topic}': {error}"))
            }
        })
    };
    topics.iter().map(find).collect()
}

/// Content topics whose messages are kept
#[utoipa::path(
    get,
    path = "/messaging/v1/subscriptions",
    operation_id = "messagingSubscriptions",
    tag = "messaging",
    responses((status = 200, description = "Content topics, sorted", body = Vec<String>)),
)]
async fn subscriptions(State(app): State<App>) -> Json<Vec<String>> {
    Json(app.received.topics())
}

/// Subscribes to content topics
///
/// By relay, or at a filter peer if the node does not relay. Messages are kept for
/// `/messaging/v1/events/received`.
#[utoipa::path(
    post,
    path = "/messaging/v1/subscriptions",
    operation_id = "messagingSubscribe",
    tag = "messaging",
    request_body = Vec<String>,
    responses(
        (status = 200, description = "`OK`", content_type = "text/plain", body = String),
        (status = 400, description = "`invalid content topic: …` or `Invalid content body, …`", content_type = "text/plain", body = String),
        (status = 500, description = "`Subscribe failed:…`", content_type = "text/plain", body = String),
        (status = 503, description = "`autosharding is not configured: …`, no filter peer, or the node is stopping", content_type = "text/plain", body = String),
    ),
)]
async fn subscribe(
    State(app): State<App>,
    JsonBody(topics): JsonBody<Vec<String>>,
) -> Result<Response, ApiError> {
    let carriers = carriers(&app, &topics, "")?;
    for (topic, carrier) in topics.iter().zip(carriers) {
        let is_new = app.received.subscribe(topic, carrier.clone());
        let is_new = is_new.map_err(|max| {
            ApiError::Internal(format!(
                "Subscribe failed: already subscribed to {max} content topics; unsubscribe from one first"
            ))
        })?;
        if !is_new {
            continue;
        }
        let subscribed = match app.config.relay {
            true => {
                let joined = app.handle.subscribe(carrier).await;
                joined.map_err(|failure| subscribe_error("Subscribe", failure))
            }
            false => {
                let content_topics = vec![topic.clone()];
                let asked = app.services()?.subscribe(Some(carrier), content_topics);
                let asked = timeout(ACCEPT_TIMEOUT, asked).await;
                match asked {
                    Ok(Ok(())) => Ok(()),
                    Ok(Err(failure)) => Err(ApiError::Unavailable(format!(
                        "Subscribe failed: {failure}"
                    ))),
                    Err(_) => Err(ApiError::Unavailable("Subscribe failed: timed out".into())),
                }
            }
        };
        if let Err(error) = subscribed {
            app.received.unsubscribe(topic);
            return Err(error);
        }
    }
    Ok(ok())
}

/// Unsubscribes from content topics
#[utoipa::path(
    delete,
    path = "/messaging/v1/subscriptions",
    operation_id = "messagingUnsubscribe",
    tag = "messaging",
    request_body = Vec<String>,
    responses(
        (status = 200, description = "`OK`", content_type = "text/plain", body = String),
        (status = 400, description = "`invalid content topic: …` or `Invalid content body, …`", content_type = "text/plain", body = String),
        (status = 500, description = "`Unsubscribe failed:…`", content_type = "text/plain", body = String),
        (status = 503, description = "`autosharding is not configured: …`, or the node is stopping", content_type = "text/plain", body = String),
    ),
)]
async fn unsubscribe(
    State(app): State<App>,
    JsonBody(topics): JsonBody<Vec<String>>,
) -> Result<Response, ApiError> {
    let carriers = carriers(&app, &topics, "")?;
    for (topic, carrier) in topics.iter().zip(carriers) {
        if !app.received.unsubscribe(topic) {
            continue;
        }
        if app.config.relay {
            leave_unless_wanted(&app, carrier).await?;
            continue;
        }
        let content_topics = vec![topic.clone()];
        let asked = app.services()?.unsubscribe(Some(carrier), content_topics);
        // The local subscription is gone, whatever the peer says; at the peer it expires.
        let _ = timeout(ACCEPT_TIMEOUT, asked).await;
    }
    Ok(ok())
}

/// Sends a message
///
/// The answer comes once the message is in the node's send queue, which survives a restart.
/// `/messaging/v1/events/send` reports its state.
#[utoipa::path(
    post,
    path = "/messaging/v1/messages",
    operation_id = "messagingSend",
    tag = "messaging",
    request_body = MessagingMessage,
    responses(
        (status = 200, description = "Accepted", body = SendAccepted),
        (status = 400, description = "`Invalid message: …` or `Invalid content body, …`", content_type = "text/plain", body = String),
        (status = 429, description = "`Send queue full, retry later: …`; with the header Retry-After", content_type = "text/plain", body = String),
        (status = 503, description = "`autosharding is not configured: …`, or `Send failed: …`: the queue cannot be written, or the node is stopping", content_type = "text/plain", body = String),
    ),
)]
async fn send(
    State(app): State<App>,
    body: Result<JsonBody<MessagingMessage>, ApiError>,
) -> Result<Response, ApiError> {
    let body = message_of(&app, body)?;
    let invalid = |reason| ApiError::BadRequest(format!("Invalid message: {reason}"));
    let topics = [body.content_topic.clone()];
    let message = body.into_message().map_err(invalid)?;
    let carrier = carriers(&app, &topics, "Invalid message: ")?.pop();
    let sending = app.services()?.sender().send(carrier, message);
    match timeout(ACCEPT_TIMEOUT, sending).await {
        Ok(Ok(id)) => {
            let request_id = request_id(id);
            Ok(Json(SendAccepted { request_id }).into_response())
        }
        Ok(Err(refused)) => Ok(failure(refused)),
        Err(_) => Err(ApiError::Unavailable(
            "Send failed: timed out; the message may have been accepted".into(),
        )),
    }
}

/// State changes of all messages
///
/// Removes those returned. The newest 40,000 are kept, also across restarts.
#[utoipa::path(
    get,
    path = "/messaging/v1/events/send",
    operation_id = "messagingSent",
    tag = "messaging",
    responses(
        (status = 200, description = "Messages that have made a step since the last question", body = Vec<SendStatus>),
        (status = 503, description = "The node is stopping", content_type = "text/plain", body = String),
    ),
)]
async fn sent(State(app): State<App>) -> Result<Json<Vec<SendStatus>>, ApiError> {
    let fetched = app.services()?.sender().fetch_reports(None).await;
    let fetched = fetched.map_err(|failure| ApiError::Unavailable(failure.to_string()))?;
    Ok(Json(statuses(&fetched)))
}

/// State changes of one message
///
/// Removes those returned.
#[utoipa::path(
    get,
    path = "/messaging/v1/events/send/{requestId}",
    operation_id = "messagingSentOne",
    tag = "messaging",
    params(("requestId" = String, Path, description = "Id from the answer to the message")),
    responses(
        (status = 200, description = "Steps since the last question", body = SendStatus),
        (status = 404, description = "`No send events for requestId: …`", content_type = "text/plain", body = String),
        (status = 503, description = "The node is stopping", content_type = "text/plain", body = String),
    ),
)]
async fn sent_one(
    State(app): State<App>,
    Path(text): Path<String>,
) -> Result<Json<SendStatus>, ApiError> {
    let missing = || ApiError::NotFound(format!("No send events for requestId: {text}"));
    let id = parsed(&text).ok_or_else(missing)?;
    let fetched = app.services()?.sender().fetch_reports(Some(id)).await;
    let fetched = fetched.map_err(|failure| ApiError::Unavailable(failure.to_string()))?;
    let status = statuses(&fetched).pop();
    status.map(Json).ok_or_else(missing)
}

/// Message received on a content topic.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
struct MessagingReceived {
    /// Deterministic hash of RFC 14.
    message_hash: String,
    message: RelayWakuMessage,
}

impl From<ReceivedEntry> for MessagingReceived {
    fn from(received: ReceivedEntry) -> Self {
        Self {
            message_hash: received.hash.to_string(),
            message: RelayWakuMessage::stored(&received.delivery.message),
        }
    }
}

/// Messages of the subscribed content topics
///
/// Removes them. At most `rest-relay-cache-capacity` are kept, the newest.
#[utoipa::path(
    get,
    path = "/messaging/v1/events/received",
    operation_id = "messagingReceived",
    tag = "messaging",
    responses((status = 200, description = "Messages, the oldest first", body = Vec<MessagingReceived>)),
)]
async fn received(State(app): State<App>) -> Json<Vec<MessagingReceived>> {
    let taken = app.received.take();
    Json(taken.into_iter().map(Into::into).collect())
}
