//! Request bodies: JSON, declared as `application/json`, within a length and a time.

use std::time::Duration;

use axum::{
    body::Body,
    extract::{FromRequest, Request},
    http::header::CONTENT_TYPE,
};
use futures::StreamExt as _;
use serde::de::DeserializeOwned;
use tokio::time::timeout;

use super::{App, errors::ApiError};

/// Time limit for receiving a whole body.
const BODY_TIMEOUT: Duration = Duration::from_secs(20);

/// Bytes of an overlong body that are read and discarded, so that the client has finished sending before it
/// is answered.
const DISCARDED_BYTES_MAX: usize = 16 * 1024 * 1024;

/// Request body decoded from JSON.
pub(super) struct JsonBody<T>(pub(super) T);

impl<T: DeserializeOwned> FromRequest<App> for JsonBody<T> {
    type Rejection = ApiError;

    async fn from_request(request: Request, app: &App) -> Result<Self, ApiError> {
        let media_type = request
            .headers()
            .get(CONTENT_TYPE)
            .and_then(|value| value.to_str().ok())
            .and_then(|value| value.split(';').next())
            .map(|value| value.trim().to_ascii_lowercase());
        let read = read(request.into_body(), app.max_body_bytes);
        let bytes = timeout(BODY_TIMEOUT, read)
            .await
            .map_err(|_| ApiError::Slow("The request body took too long".into()))??;
        if bytes.is_empty() {
            return Err(ApiError::BadRequest("Missing content body".into()));
        }
        // A web page may send text and forms to any origin without a preflight request, but not JSON.
        if media_type.as_deref() != Some("application/json") {
            return Err(ApiError::MediaType(
                "Wrong Content-Type, expected application/json".into(),
            ));
        }
        serde_json::from_slice(&bytes).map(Self).map_err(|e| {
            ApiError::BadRequest(format!(
                "Invalid content body, could not decode: Unable to deserialize data: {e}"
            ))
        })
    }
}

/// Returns the body if it has at most `max_bytes`. A longer one is read up to a limit and discarded, because
/// a client that is still sending when the connection closes gets a reset instead of the answer.
async fn read(body: Body, max_bytes: usize) -> Result<Vec<u8>, ApiError> {
    let mut chunks = body.into_data_stream();
    let mut bytes = Vec::new();
    let mut discarded = 0;
    while let Some(chunk) = chunks.next().await {
        let chunk = chunk.map_err(|_| ApiError::BadRequest("Invalid content body".into()))?;
        if discarded == 0 && bytes.len() + chunk.len() <= max_bytes {
            bytes.extend_from_slice(&chunk);
            continue;
        }
        discarded += bytes.len() + chunk.len();
        bytes = Vec::new();
        if discarded > DISCARDED_BYTES_MAX {
            break;
        }
    }
    if discarded > 0 {
        return Err(ApiError::TooLarge(
            "Request body is longer than any message of the network".into(),
        ));
    }
    Ok(bytes)
}
