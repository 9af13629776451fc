//! Request bodies: JSON, sent as `application/json` or `text/plain`.

use axum::{
    body::Bytes,
    extract::{FromRequest, Request, rejection::BytesRejection},
    http::{StatusCode, header::CONTENT_TYPE},
};
use serde::de::DeserializeOwned;

use super::errors::ApiError;

/// A decoded body.
pub(super) struct JsonBody<T>(pub(super) T);

impl<T: DeserializeOwned, S: Send + Sync> FromRequest<S> for JsonBody<T> {
    type Rejection = ApiError;

    async fn from_request(request: Request, state: &S) -> Result<Self, ApiError> {
        let media_type = request
            .headers()
            .get(CONTENT_TYPE)
            .and_then(|value| value.to_str().ok())
            .and_then(|value| value.split(';').next())
            .map(|value| value.trim().to_ascii_lowercase());
        let bytes = Bytes::from_request(request, state)
            .await
            .map_err(unreadable)?;
        if bytes.is_empty() {
            return Err(ApiError::BadRequest("Missing content body".into()));
        }
        if !matches!(
            media_type.as_deref(),
            Some("application/json" | "text/plain")
        ) {
            return Err(ApiError::BadRequest(
                "Wrong Content-Type, expected application/json or text/plain".into(),
            ));
        }
        serde_json::from_slice(&bytes).map(Self).map_err(|e| {
            ApiError::BadRequest(format!(
                "Invalid content body, could not decode: Unable to deserialize data: {e}"
            ))
        })
    }
}

fn unreadable(rejection: BytesRejection) -> ApiError {
    if rejection.status() == StatusCode::PAYLOAD_TOO_LARGE {
        return ApiError::TooLarge("Request body is longer than any message of the network".into());
    }
    ApiError::BadRequest("Invalid content body".into())
}
