//! Lightpush v3 and v2.

use bytes::Bytes;
use serde_json::json;
use undertone_services::lightpush::legacy::{LegacyRequest, LegacyResponse};
use undertone_services::lightpush::{LightpushCodecLimits, LightpushRequest, LightpushResponse};

use super::{Read, given, message};

pub(super) fn request(frame: &Bytes) -> Result<Read, String> {
    let request = LightpushRequest::decode(frame, &LightpushCodecLimits::default());
    let request = request.map_err(|error| error.to_string())?;
    let fields = given([
        ("requestId", json!(request.request_id)),
        ("pubsubTopic", json!(request.pubsub_topic.as_deref())),
        ("message", message(&request.message)),
    ]);
    Ok(Read {
        fields,
        again: request.encode(),
    })
}

pub(super) fn response(frame: &Bytes) -> Result<Read, String> {
    let response = LightpushResponse::decode(frame, &LightpushCodecLimits::default());
    let response = response.map_err(|error| error.to_string())?;
    let fields = given([
        ("requestId", json!(response.request_id)),
        ("statusCode", json!(response.status.0)),
        ("statusDesc", json!(response.status_desc)),
        ("relayPeerCount", json!(response.relay_peer_count)),
    ]);
    Ok(Read {
        fields,
        again: response.encode(),
    })
}

pub(super) fn legacy_request(frame: &Bytes) -> Result<Read, String> {
    let request = LegacyRequest::decode(frame, &LightpushCodecLimits::default());
    let request = request.map_err(|error| error.to_string())?;
    let inner = given([
        ("pubsubTopic", json!(request.pubsub_topic.as_deref())),
        ("message", message(&request.message)),
    ]);
    let fields = given([("requestId", json!(request.request_id)), ("request", inner)]);
    Ok(Read {
        fields,
        again: request.encode(),
    })
}

pub(super) fn legacy_response(frame: &Bytes) -> Result<Read, String> {
    let response = LegacyResponse::decode(frame, &LightpushCodecLimits::default());
    let response = response.map_err(|error| error.to_string())?;
    let inner = given([
        ("isSuccess", json!(response.is_success)),
        ("info", json!(response.info)),
    ]);
    let fields = given([
        ("requestId", json!(response.request_id)),
        ("response", inner),
    ]);
    Ok(Read {
        fields,
        again: response.encode(),
    })
}
