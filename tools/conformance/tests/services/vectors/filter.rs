//! Filter v2.

use bytes::Bytes;
use serde_json::json;
use undertone_services::filter::{
    FilterCodecLimits, MessagePush, SubscribeKind, SubscribeRequest, SubscribeResponse,
};

use super::{Read, given, message, texts};

pub(super) fn request(frame: &Bytes) -> Result<Read, String> {
    let request = SubscribeRequest::decode(frame, &FilterCodecLimits::default());
    let request = request.map_err(|error| error.to_string())?;
    let kind = match request.kind {
        SubscribeKind::Ping => "SUBSCRIBER_PING",
        SubscribeKind::Subscribe => "SUBSCRIBE",
        SubscribeKind::Unsubscribe => "UNSUBSCRIBE",
        SubscribeKind::UnsubscribeAll => "UNSUBSCRIBE_ALL",
    };
    let fields = given([
        ("requestId", json!(request.request_id)),
        ("filterSubscribeType", json!(kind)),
        ("pubsubTopic", json!(request.pubsub_topic.as_deref())),
        ("contentTopics", texts(&request.content_topics)),
    ]);
    Ok(Read {
        fields,
        again: request.encode(),
    })
}

pub(super) fn response(frame: &Bytes) -> Result<Read, String> {
    let response = SubscribeResponse::decode(frame, &FilterCodecLimits::default());
    let response = response.map_err(|error| error.to_string())?;
    let fields = given([
        ("requestId", json!(response.request_id)),
        ("statusCode", json!(response.status.0)),
        ("statusDesc", json!(response.status_desc)),
    ]);
    Ok(Read {
        fields,
        again: response.encode(),
    })
}

pub(super) fn push(frame: &Bytes) -> Result<Read, String> {
    let push = MessagePush::decode(frame, &FilterCodecLimits::default());
    let push = push.map_err(|error| error.to_string())?;
    let fields = given([
        ("wakuMessage", message(&push.message)),
        ("pubsubTopic", json!(push.pubsub_topic.as_deref())),
    ]);
    Ok(Read {
        fields,
        again: push.encode(),
    })
}
