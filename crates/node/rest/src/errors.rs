//! Error responses: a status code and a text.

use std::collections::BTreeMap;

use axum::{
    http::{StatusCode, header::WWW_AUTHENTICATE},
    response::{IntoResponse, Response},
};

use utoipa::{
    IntoResponses,
    openapi::{
        Content, RefOr, ResponseBuilder,
        schema::{ObjectBuilder, Type},
    },
};

use undertone_network::{
    command::{PublishFailure, SubscribeFailure},
    handle::Stopped,
};

/// Reason why a request failed; determines the status code of the response.
#[derive(Debug)]
pub(super) enum ApiError {
    /// The request is invalid: 400.
    BadRequest(String),
    /// The requested resource does not exist: 404.
    NotFound(String),
    /// A web page of another origin asks, or the request names a host that is not this node: 403.
    Forbidden(String),
    /// The token is missing or wrong: 401.
    Unauthorized(String),
    /// The body is declared to be something other than JSON: 415.
    MediaType(String),
    /// The body did not arrive in time: 408.
    Slow(String),
    /// No peer offers the service: 412.
    NoPeer(String),
    /// The body is longer than any message: 413.
    TooLarge(String),
    /// A peer gets more requests than it answers: 429.
    TooMany(String),
    /// The node failed: 500.
    Internal(String),
    /// The node cannot answer at present; another try may succeed: 503.
    Unavailable(String),
}

impl IntoResponse for ApiError {
    fn into_response(self) -> Response {
        let (status, text) = match self {
            Self::BadRequest(text) => (StatusCode::BAD_REQUEST, text),
            Self::NotFound(text) => (StatusCode::NOT_FOUND, text),
            Self::Forbidden(text) => (StatusCode::FORBIDDEN, text),
            Self::Unauthorized(text) => {
                let scheme = [(WWW_AUTHENTICATE, "Bearer")];
                return (StatusCode::UNAUTHORIZED, scheme, text).into_response();
            }
            Self::MediaType(text) => (StatusCode::UNSUPPORTED_MEDIA_TYPE, text),
            Self::Slow(text) => (StatusCode::REQUEST_TIMEOUT, text),
            Self::NoPeer(text) => (StatusCode::PRECONDITION_FAILED, text),
            Self::TooMany(text) => (StatusCode::TOO_MANY_REQUESTS, text),
            Self::TooLarge(text) => (StatusCode::PAYLOAD_TOO_LARGE, text),
            Self::Internal(text) => (StatusCode::INTERNAL_SERVER_ERROR, text),
            Self::Unavailable(text) => (StatusCode::SERVICE_UNAVAILABLE, text),
        };
        (status, text).into_response()
    }
}

impl From<PublishFailure> for ApiError {
    fn from(failure: PublishFailure) -> Self {
        let text = format!("Failed to publish: {failure}");
        match failure {
            PublishFailure::Duplicate
            | PublishFailure::NotRelaying
            | PublishFailure::NotSubscribed { .. }
            | PublishFailure::TooLarge { .. }
            | PublishFailure::InvalidMessage { .. }
            | PublishFailure::InvalidProof { .. }
            | PublishFailure::NoPeers => Self::BadRequest(text),
            PublishFailure::RlnProof { .. } | PublishFailure::Timeout => Self::Internal(text),
            // Not the node's fault; a retry succeeds in the next epoch.
            PublishFailure::RateLimit { .. } => Self::TooMany(text),
            PublishFailure::Busy { .. }
            | PublishFailure::Bandwidth { .. }
            | PublishFailure::Stopped(Stopped) => Self::Unavailable(text),
        }
    }
}

impl From<SubscribeFailure> for ApiError {
    fn from(failure: SubscribeFailure) -> Self {
        match failure {
            SubscribeFailure::Stopped(Stopped) => Self::Unavailable(failure.to_string()),
            _ => Self::Internal(failure.to_string()),
        }
    }
}

impl From<Stopped> for ApiError {
    fn from(stopped: Stopped) -> Self {
        Self::Unavailable(stopped.to_string())
    }
}

/// OpenAPI response of any path that queries a node that has stopped.
pub(super) enum NodeStopped {}

impl IntoResponses for NodeStopped {
    fn responses() -> BTreeMap<String, RefOr<utoipa::openapi::Response>> {
        let response = text_response(format!("`{Stopped}`"));
        BTreeMap::from([("503".to_owned(), RefOr::T(response))])
    }
}

/// Describes a plain-text response in OpenAPI.
pub(super) fn text_response(description: impl Into<String>) -> utoipa::openapi::Response {
    let text = ObjectBuilder::new().schema_type(Type::String).build();
    ResponseBuilder::new()
        .description(description)
        .content("text/plain", Content::new(Some(text)))
        .build()
}
