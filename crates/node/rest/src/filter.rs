//! The routes under `/filter/v2`: subscriptions at a filter peer, and the messages that it pushes.

use std::future::Future;
use undertone_network::handle::Stopped;

use axum::{
    Json,
    extract::{Path, State},
    http::StatusCode,
    response::{IntoResponse as _, Response},
};
use serde::{Deserialize, Deserializer, Serialize, de};
use tokio::time::timeout;
use undertone_message::PubsubTopic;
use utoipa::ToSchema;
use utoipa_axum::{router::OpenApiRouter, routes};

use super::{
    ANSWER_TIMEOUT, App, body::JsonBody, cache::MAX_CONTENT_TOPICS, errors::ApiError,
    relay::topic_in_path, shapes::RelayWakuMessage,
};
use undertone_provider::services::ServiceFailure;

#[cfg(test)]
#[path = "tests/filter.rs"]
mod tests;

/// Request id in the answer to an unreadable request.
const UNKNOWN_ID: &str = "unknown";

pub(super) fn routes() -> OpenApiRouter<App> {
    OpenApiRouter::new()
        .routes(routes!(subscribe, change, unsubscribe))
        .routes(routes!(unsubscribe_all))
        .routes(routes!(ping))
        .routes(routes!(messages))
}

/// Topics to subscribe to or unsubscribe from.
#[derive(Deserialize, ToSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
#[schema(as = FilterRequest)]
struct FilterBody {
    /// Text that the answer repeats.
    request_id: String,
    /// Content topics, at least one.
    #[schema(min_items = 1, example = json!(["/my-app/1/chat/proto"]))]
    #[serde(deserialize_with = "not_empty")]
    content_filters: Vec<String>,
    /// Topic that the messages are published on; derived from the content topics if missing.
    #[schema(example = "/waku/2/rs/66/0")]
    #[serde(default)]
    pubsub_topic: Option<String>,
}

/// Request to unsubscribe from everything.
#[derive(Deserialize, ToSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct FilterAllRequest {
    /// Text that the answer repeats.
    request_id: String,
}

/// Answer of the filter peer.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub(super) struct FilterAnswer {
    request_id: String,
    /// `OK`, or the reason.
    status_desc: String,
}

/// Failure of a subscription, with the HTTP status of the answer.
struct FilterRefusal {
    status: StatusCode,
    text: String,
}

impl FilterRefusal {
    fn new(status: StatusCode, text: impl Into<String>) -> Self {
        let text = text.into();
        Self { status, text }
    }

    fn bad_request(text: &str) -> Self {
        Self::new(StatusCode::BAD_REQUEST, format!("BAD_REQUEST: {text}"))
    }

    fn unavailable(text: &str) -> Self {
        let text = format!("SERVICE_UNAVAILABLE: {text}");
        Self::new(StatusCode::SERVICE_UNAVAILABLE, text)
    }
}

impl From<ServiceFailure> for FilterRefusal {
    fn from(failure: ServiceFailure) -> Self {
        let text = failure.to_string();
        match failure {
            ServiceFailure::NoPeer { .. } => {
                Self::unavailable("No suitable service peer & none discovered")
            }
            ServiceFailure::Dial { peer, .. } => {
                Self::new(StatusCode::GATEWAY_TIMEOUT, peer.to_string())
            }
            ServiceFailure::Refused {
                status,
                description,
            } => {
                let status = match status {
                    400 => StatusCode::BAD_REQUEST,
                    404 => StatusCode::NOT_FOUND,
                    429 => StatusCode::TOO_MANY_REQUESTS,
                    503 => StatusCode::SERVICE_UNAVAILABLE,
                    504 => StatusCode::GATEWAY_TIMEOUT,
                    _ => StatusCode::INTERNAL_SERVER_ERROR,
                };
                Self::new(status, description)
            }
            ServiceFailure::Topic(_) | ServiceFailure::TooManySubscriptions { .. } => {
                Self::bad_request(&text)
            }
            ServiceFailure::TimedOut { .. } | ServiceFailure::Stopped(Stopped) => {
                Self::unavailable(&text)
            }
            _ => Self::new(StatusCode::INTERNAL_SERVER_ERROR, text),
        }
    }
}

/// Answers with the protocol's status, as nwaku does.
fn answer(request_id: String, outcome: Result<(), FilterRefusal>) -> Response {
    let (status, status_desc) = match outcome {
        Ok(()) => (StatusCode::OK, "OK".to_owned()),
        Err(refusal) => (refusal.status, refusal.text),
    };
    let body = FilterAnswer {
        request_id,
        status_desc,
    };
    (status, Json(body)).into_response()
}

/// Returns the decoded request, or the answer to send if it cannot be read.
fn read<T>(body: Result<JsonBody<T>, ApiError>) -> Result<T, Box<Response>> {
    match body {
        Ok(JsonBody(request)) => Ok(request),
        Err(ApiError::BadRequest(text)) => {
            let refusal = FilterRefusal::bad_request(&format!("Failed to decode request: {text}"));
            Err(Box::new(answer(UNKNOWN_ID.into(), Err(refusal))))
        }
        Err(error) => Err(Box::new(error.into_response())),
    }
}

/// Waits for the filter peer, at most as long as nwaku does.
async fn within(
    asked: impl Future<Output = Result<(), ServiceFailure>>,
    too_late: &str,
) -> Result<(), FilterRefusal> {
    match timeout(ANSWER_TIMEOUT, asked).await {
        Ok(outcome) => outcome.map_err(FilterRefusal::from),
        Err(_) => Err(FilterRefusal::unavailable(too_late)),
    }
}

fn not_empty<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Vec<String>, D::Error> {
    let topics = Vec::deserialize(deserializer)?;
    if topics.is_empty() {
        return Err(de::Error::custom("Field `contentFilters` is empty"));
    }
    Ok(topics)
}

impl FilterBody {
    fn topics(&self) -> Result<Option<PubsubTopic>, FilterRefusal> {
        let topic = self.pubsub_topic.as_ref().filter(|topic| !topic.is_empty());
        let bad =
            |topic| FilterRefusal::bad_request(&format!("Invalid pubsub topic(s): @[{topic:?}]"));
        topic
            .map(|topic| topic_in_path(topic).ok_or_else(|| bad(topic)))
            .transpose()
    }
}

/// Subscribes to content topics at a filter peer
///
/// Messages that the peer pushes are kept for `/filter/v2/messages`.
#[utoipa::path(
    post,
    path = "/filter/v2/subscriptions",
    operation_id = "filterSubscribe",
    tag = "filter",
    request_body = FilterBody,
    responses(FilterAnswers),
)]
async fn subscribe(
    State(app): State<App>,
    body: Result<JsonBody<FilterBody>, ApiError>,
) -> Result<Response, ApiError> {
    let services = app.services()?;
    let request = match read(body) {
        Ok(request) => request,
        Err(answer) => return Ok(*answer),
    };
    let outcome = async {
        let pubsub_topic = request.topics()?;
        let asked = services.subscribe(pubsub_topic, request.content_filters.clone());
        within(asked, "Subscription request timed out").await?;
        for topic in &request.content_filters {
            app.filtered.subscribe_content(topic, None).map_err(|_| {
                let max = MAX_CONTENT_TOPICS;
                ServiceFailure::TooManySubscriptions { max }
            })?;
        }
        Ok(())
    };
    let outcome = outcome.await;
    Ok(answer(request.request_id, outcome))
}

/// Changes a subscription at a filter peer
///
/// The same as POST: topics are added.
#[utoipa::path(
    put,
    path = "/filter/v2/subscriptions",
    operation_id = "filterChange",
    tag = "filter",
    request_body = FilterBody,
    responses(FilterAnswers),
)]
async fn change(
    state: State<App>,
    body: Result<JsonBody<FilterBody>, ApiError>,
) -> Result<Response, ApiError> {
    subscribe(state, body).await
}

/// Unsubscribes from content topics
///
/// Kept messages of the topics are forgotten, whatever the filter peer says.
#[utoipa::path(
    delete,
    path = "/filter/v2/subscriptions",
    operation_id = "filterUnsubscribe",
    tag = "filter",
    request_body = FilterBody,
    responses(FilterAnswers),
)]
async fn unsubscribe(
    State(app): State<App>,
    body: Result<JsonBody<FilterBody>, ApiError>,
) -> Result<Response, ApiError> {
    let services = app.services()?;
    let request = match read(body) {
        Ok(request) => request,
        Err(answer) => return Ok(*answer),
    };
    let outcome = async {
        let pubsub_topic = request.topics()?;
        for topic in &request.content_filters {
            app.filtered.unsubscribe_content(topic);
        }
        let asked = services.unsubscribe(pubsub_topic, request.content_filters.clone());
        let too_late = "Failed to unsubscribe from contentFilters due to timeout!";
        within(asked, too_late).await
    };
    let outcome = outcome.await;
    Ok(answer(request.request_id, outcome))
}

/// Unsubscribes from everything
///
/// Kept messages are forgotten, whatever the filter peer says.
#[utoipa::path(
    delete,
    path = "/filter/v2/subscriptions/all",
    operation_id = "filterUnsubscribeAll",
    tag = "filter",
    request_body = FilterAllRequest,
    responses(FilterAnswers),
)]
async fn unsubscribe_all(
    State(app): State<App>,
    body: Result<JsonBody<FilterAllRequest>, ApiError>,
) -> Result<Response, ApiError> {
    let services = app.services()?;
    let request = match read(body) {
        Ok(request) => request,
        Err(answer) => return Ok(*answer),
    };
    app.filtered.clear();
    let too_late = "Failed to unsubscribe from all contentFilters due to timeout!";
    let outcome = within(services.unsubscribe_all(), too_late).await;
    Ok(answer(request.request_id, outcome))
}

/// Asks the filter peer whether subscriptions are alive
///
/// 404 if it knows of none.
#[utoipa::path(
    get,
    path = "/filter/v2/subscriptions/{requestId}",
    operation_id = "filterPing",
    tag = "filter",
    params(("requestId" = String, Path, description = "Text that the answer repeats")),
    responses(FilterAnswers),
)]
async fn ping(
    State(app): State<App>,
    Path(request_id): Path<String>,
) -> Result<Response, ApiError> {
    let outcome = within(app.services()?.ping(), "Ping timed out").await;
    Ok(answer(request_id, outcome))
}

/// Kept messages of a content topic
///
/// Removes them.
#[utoipa::path(
    get,
    path = "/filter/v2/messages/{contentTopic}",
    operation_id = "filterMessages",
    tag = "filter",
    params(("contentTopic" = String, Path, description = "Content topic, percent-encoded", example = "/my-app/1/chat/proto")),
    responses(
        (status = 200, description = "Messages without proof, the oldest first", body = Vec<RelayWakuMessage>),
        (status = 400, description = "`Not subscribed to topic: …`", content_type = "text/plain", body = String),
    ),
)]
async fn messages(
    State(app): State<App>,
    Path(topic): Path<String>,
) -> Result<Json<Vec<RelayWakuMessage>>, ApiError> {
    let messages = app
        .filtered
        .take_content(&topic)
        .ok_or_else(|| ApiError::BadRequest(format!("Not subscribed to topic: {topic}")))?;
    let messages = messages.iter();
    let messages = messages.map(|one| RelayWakuMessage::pushed(&one.message));
    Ok(Json(messages.collect()))
}

/// OpenAPI responses of requests to a filter peer.
#[derive(utoipa::IntoResponses)]
#[expect(dead_code, reason = "describes answers; they are made by `answer`")]
enum FilterAnswers {
    #[response(status = 200, description = "`OK`")]
    Done(FilterAnswer),
    #[response(status = 400, description = "`BAD_REQUEST: …`, or the peer's reason")]
    Bad(FilterAnswer),
    #[response(status = 404, description = "The peer knows of no such subscription")]
    Missing(FilterAnswer),
    #[response(status = 429, description = "The peer gets too many requests")]
    TooMany(FilterAnswer),
    #[response(
        status = 500,
        description = "The peer gave another answer than the protocol's"
    )]
    Invalid(FilterAnswer),
    #[response(
        status = 503,
        description = "`SERVICE_UNAVAILABLE: No suitable service peer & none discovered`, a time-out, or the \
                       peer's reason"
    )]
    Unavailable(FilterAnswer),
    #[response(
        status = 504,
        description = "The peer, named by its id, cannot be reached"
    )]
    Unreachable(FilterAnswer),
}
