//! The routes under `/lightpush`: publishing through a peer that relays.

use axum::{
    Json,
    extract::State,
    http::StatusCode,
    response::{IntoResponse as _, Response},
};
use serde::{Deserialize, Serialize};
use tokio::time::timeout;
use undertone_message::{PubsubTopic, WakuMessage};
use undertone_network::handle::Stopped;
use utoipa::ToSchema;
use utoipa_axum::{router::OpenApiRouter, routes};

use super::{
    ANSWER_TIMEOUT, App,
    body::JsonBody,
    errors::ApiError,
    ok,
    relay::{message_of, now_ns, topic_in_path},
    shapes::RelayWakuMessage,
};
use undertone_provider::services::{LightpushVersion, ServiceFailure};

#[cfg(test)]
#[path = "tests/lightpush.rs"]
mod tests;

/// Status of the protocol: too many requests.
const TOO_MANY_REQUESTS: u32 = 429;

const TIMED_OUT: &str = "Push request timed out";
const NO_PEER: &str = "No suitable service peer & none discovered";

pub(super) fn routes() -> OpenApiRouter<App> {
    OpenApiRouter::new()
        .routes(routes!(publish))
        .routes(routes!(publish_legacy))
}

/// A message to publish.
#[derive(Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = PushRequest)]
struct PushBody {
    /// Topic to publish on; derived from the content topic if missing.
    #[schema(example = "/waku/2/rs/66/0")]
    #[serde(default)]
    pubsub_topic: Option<String>,
    message: RelayWakuMessage,
}

/// Outcome of the message: the number of peers, or the reason.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
struct PushAnswer {
    #[schema(nullable = false)]
    #[serde(skip_serializing_if = "Option::is_none")]
    status_desc: Option<String>,
    /// Peers that the relay sent the message to.
    #[schema(nullable = false)]
    #[serde(skip_serializing_if = "Option::is_none")]
    relay_peer_count: Option<u32>,
}

/// Publishes through a peer
///
/// By lightpush v3. Error statuses are those of the protocol.
#[utoipa::path(
    post,
    path = "/lightpush/v3/message",
    operation_id = "lightpush",
    tag = "lightpush",
    request_body = PushBody,
    responses(
        (status = 200, description = "Published", body = PushAnswer),
        (status = 400, description = "`Invalid push request! …` or `Invalid message! …`", body = PushAnswer),
        (status = 413, description = "The message is too long", body = PushAnswer),
        (status = 420, description = "The relay found the message invalid", body = PushAnswer),
        (status = 421, description = "The relay does not take part in the topic", body = PushAnswer),
        (status = 429, description = "Too many requests", body = PushAnswer),
        (status = 500, description = "The peer failed, or gave an invalid answer", body = PushAnswer),
        (status = 503, description = "`No suitable service peer & none discovered` or `Push request timed out`", body = PushAnswer),
        (status = 504, description = "No proof of rate limiting could be made", body = PushAnswer),
        (status = 505, description = "The relay has no peers, or `dial_failure: …`", body = PushAnswer),
    ),
)]
async fn publish(
    State(app): State<App>,
    body: Result<JsonBody<PushBody>, ApiError>,
) -> Result<Response, ApiError> {
    let services = app.services()?;
    let request = match body {
        Ok(JsonBody(request)) => request,
        Err(ApiError::BadRequest(text)) => {
            return Ok(refused(400, format!("Invalid push request! {text}")));
        }
        Err(ApiError::TooLarge(text)) => return Ok(refused(413, text)),
        Err(error) => return Err(error),
    };
    let (topic, message) = match request.into_parts(&app) {
        Ok(parts) => parts,
        Err(text) => return Ok(refused(400, format!("Invalid message! {text}"))),
    };
    let pushed = services.push(LightpushVersion::V3, topic, message);
    let failure = match timeout(ANSWER_TIMEOUT, pushed).await {
        Ok(Ok(count)) => {
            let answer = PushAnswer {
                status_desc: None,
                relay_peer_count: Some(count),
            };
            return Ok(Json(answer).into_response());
        }
        Ok(Err(failure)) => failure,
        Err(_) => return Ok(refused(503, TIMED_OUT.into())),
    };
    Ok(match failure {
        ServiceFailure::Refused {
            status,
            description,
        } => refused(status, description),
        ServiceFailure::NoPeer { .. } => refused(503, NO_PEER.into()),
        ServiceFailure::TimedOut { .. } => refused(503, TIMED_OUT.into()),
        ServiceFailure::Dial { peer, .. } => {
            refused(505, format!("dial_failure: {peer} is not accessible"))
        }
        ServiceFailure::Topic(text) => refused(400, text),
        ServiceFailure::Stopped(Stopped) => refused(503, failure.to_string()),
        _ => refused(500, failure.to_string()),
    })
}

/// Publishes through a peer, legacy
///
/// By lightpush v2.
#[utoipa::path(
    post,
    path = "/lightpush/v1/message",
    operation_id = "legacyLightpush",
    tag = "lightpush",
    request_body = PushBody,
    responses(
        (status = 200, description = "`OK`", content_type = "text/plain", body = String),
        (status = 400, description = "`Invalid content body, …`, `Invalid message: …`, too long, or without a topic", content_type = "text/plain", body = String),
        (status = 429, description = "`Request rate limmit reached`", content_type = "text/plain", body = String),
        (status = 503, description = "`Failed to request a message push: …`, `Push request timed out` or `No suitable service peer & none discovered`", content_type = "text/plain", body = String),
    ),
)]
async fn publish_legacy(
    State(app): State<App>,
    body: Result<JsonBody<PushBody>, ApiError>,
) -> Result<Response, ApiError> {
    let services = app.services()?;
    let (topic, message) = message_of(&app, body)?
        .into_parts(&app)
        .map_err(|text| ApiError::BadRequest(format!("Invalid message: {text}")))?;
    let pushed = services.push(LightpushVersion::V2, topic, message);
    let failure = match timeout(ANSWER_TIMEOUT, pushed).await {
        Ok(Ok(_)) => return Ok(ok()),
        Ok(Err(failure)) => failure,
        Err(_) => return Err(ApiError::Unavailable(TIMED_OUT.into())),
    };
    let failed =
        |reason: &str| ApiError::Unavailable(format!("Failed to request a message push: {reason}"));
    Err(match &failure {
        ServiceFailure::Refused {
            status: TOO_MANY_REQUESTS,
            ..
        } => ApiError::TooMany("Request rate limmit reached".into()),
        ServiceFailure::Refused { description, .. } => failed(description),
        ServiceFailure::NoPeer { .. } => ApiError::Unavailable(NO_PEER.into()),
        ServiceFailure::TimedOut { .. } => ApiError::Unavailable(TIMED_OUT.into()),
        ServiceFailure::Dial { .. } => failed("dial_failure"),
        ServiceFailure::BadAnswer { .. } => failed("decode_rpc_failure"),
        ServiceFailure::Topic(text) => ApiError::BadRequest(text.clone()),
        _ => failed(&failure.to_string()),
    })
}

impl PushBody {
    fn into_parts(self, app: &App) -> Result<(Option<PubsubTopic>, WakuMessage), String> {
        let topic = self.pubsub_topic.filter(|topic| !topic.is_empty());
        let topic = topic.map(|topic| {
            topic_in_path(&topic).ok_or_else(|| format!("Invalid pubsub topic(s): @[{topic:?}]"))
        });
        let message = self.message.into_message(now_ns(app))?;
        Ok((topic.transpose()?, message))
    }
}

/// Returns an answer with a status of the protocol; these are HTTP statuses by design.
fn refused(status: u32, text: String) -> Response {
    let status = u16::try_from(status)
        .ok()
        .filter(|status| (400..600).contains(status))
        .and_then(|status| StatusCode::from_u16(status).ok());
    let answer = PushAnswer {
        status_desc: Some(text),
        relay_peer_count: None,
    };
    let status = status.unwrap_or(StatusCode::INTERNAL_SERVER_ERROR);
    (status, Json(answer)).into_response()
}
