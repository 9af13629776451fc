//! The route `/store/v1/messages`, which the reference node had until 2026. It serves the same history in the shapes
//! of the legacy store protocol, for clients that still use it. The legacy protocol itself is not supported.

use axum::{Json, extract::State};
use base64::{Engine as _, engine::general_purpose::STANDARD};
use serde::Serialize;
use undertone_message::MessageHash;
use undertone_services::history::{
    ContentCriteria, HistoryEntry, HistoryPage, PAGE_DEFAULT, PageDirection,
};
use utoipa::ToSchema;
use utoipa_axum::{router::OpenApiRouter, routes};

use super::super::{App, errors::ApiError, params::QueryParams, shapes::RelayWakuMessage};
use super::{HistoryRequest, bounded_page_size, peer_address, positive, truth};

#[cfg(test)]
#[path = "tests/legacy.rs"]
mod tests;

pub(super) fn routes() -> OpenApiRouter<App> {
    OpenApiRouter::new().routes(routes!(legacy_messages))
}

/// A page of history in the legacy shape.
#[derive(Serialize, ToSchema)]
#[schema(as = LegacyStoreAnswer)]
struct LegacyBody {
    /// Messages, the oldest first, without proofs.
    messages: Vec<RelayWakuMessage>,
    /// Position of the next page; missing on the last one.
    #[serde(skip_serializing_if = "Option::is_none")]
    cursor: Option<LegacyCursor>,
}

/// Position in the history. Only `digest` determines where the next page begins.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
struct LegacyCursor {
    pubsub_topic: String,
    /// Timestamp of the message at this position, Unix nanoseconds.
    sender_time: i64,
    /// Same as `sender_time`: arrival times are not kept.
    store_time: i64,
    digest: LegacyDigest,
}

/// Hash of a message.
#[derive(Serialize, ToSchema)]
struct LegacyDigest {
    /// Deterministic hash of RFC 14, base64.
    data: String,
}

/// A page of history, in the legacy shape
///
/// From the same stores as `/store/v3/messages`.
#[utoipa::path(
    get,
    path = "/store/v1/messages",
    operation_id = "legacyStoreMessages",
    tag = "store",
    params(
        ("peerAddr" = Option<String>, Query, description = "Address of a store, with peer id"),
        ("pubsubTopic" = Option<String>, Query, description = "Pubsub topic of the messages"),
        ("contentTopics" = Option<String>, Query, description = "Content topics of the messages, with commas between them"),
        ("senderTime" = Option<i64>, Query, description = "`senderTime` of the cursor; not used"),
        ("storeTime" = Option<i64>, Query, description = "`storeTime` of the cursor; not used"),
        ("digest" = Option<String>, Query, description = "`digest.data` of the cursor of the page before"),
        ("startTime" = Option<i64>, Query, description = "Earliest timestamp, Unix nanoseconds"),
        ("endTime" = Option<i64>, Query, description = "Latest timestamp, Unix nanoseconds"),
        ("pageSize" = Option<i64>, Query, description = "Most messages of the page; 20 if missing or 0, at most 100"),
        ("ascending" = Option<bool>, Query, description = "Whether pages go from old to new; true if missing"),
    ),
    responses(
        (status = 200, description = "The page", body = LegacyBody),
        (status = 400, description = "`Problem parsing … […]`, `ascending parsing error: …`, `Failed parsing remote peer info: …`, or the archive does not have the cursor", content_type = "text/plain", body = String),
        (status = 412, description = "`No suitable service peer & none discovered`", content_type = "text/plain", body = String),
        (status = 429, description = "`Request rate limit reached`", content_type = "text/plain", body = String),
        (status = 500, description = "`No history response received (timeout)`, `Error occurred in queryFut.read() [….]` or `error in handleSelfStoreRequest: …`", content_type = "text/plain", body = String),
        (status = 503, description = "The node is stopping", content_type = "text/plain", body = String),
    ),
)]
async fn legacy_messages(
    State(app): State<App>,
    params: QueryParams,
) -> Result<Json<LegacyBody>, ApiError> {
    let services = app.services()?;
    let request = parse(&params).map_err(ApiError::BadRequest)?;
    let HistoryPage { entries, next } = request.send(services).await?.page;
    let cursor = next.map(|hash| cursor(hash, &entries));
    let data = entries.into_iter().filter_map(|entry| entry.data);
    let messages = data.map(|data| RelayWakuMessage::pushed(&data.message));
    Ok(Json(LegacyBody {
        messages: messages.collect(),
        cursor,
    }))
}

fn cursor(hash: MessageHash, entries: &[HistoryEntry]) -> LegacyCursor {
    let entry = entries.iter().find(|entry| entry.hash == hash);
    let data = entry.and_then(|entry| entry.data.as_ref());
    let time = data.map_or(0, |data| data.message.timestamp_ns());
    LegacyCursor {
        pubsub_topic: data.map_or_else(String::new, |data| data.pubsub_topic.to_string()),
        sender_time: time,
        store_time: time,
        digest: LegacyDigest {
            data: STANDARD.encode(hash.0),
        },
    }
}

/// Parses the query, checking in the reference node's order and with its error texts.
fn parse(params: &QueryParams) -> Result<HistoryRequest, String> {
    time(params, "senderTime")?;
    time(params, "storeTime")?;
    let cursor = params.get("digest").map(digest).transpose()?;
    let limit = params.get("pageSize").map_or(Ok(PAGE_DEFAULT), page_size)?;
    let content = ContentCriteria {
        pubsub_topic: params.get("pubsubTopic").map(Into::into),
        content_topics: params.list("contentTopics").map(Into::into).collect(),
        start_ns: time(params, "startTime")?,
        end_ns: time(params, "endTime")?,
    };
    let ascending = params.get("ascending");
    let direction = match ascending.map_or(Ok(true), |text| truth("ascending", text))? {
        true => PageDirection::Forward,
        false => PageDirection::Backward,
    };
    Ok(HistoryRequest {
        peer: peer_address(params)?,
        include_data: true,
        hashes: Vec::new(),
        content,
        cursor,
        direction,
        limit,
    })
}

fn time(params: &QueryParams, name: &str) -> Result<Option<i64>, String> {
    let invalid = |text| format!("Problem parsing time [invalid integer: {text}]");
    match params.get(name) {
        Some(text) => positive(text).ok_or_else(|| invalid(text)),
        None => Ok(None),
    }
}

fn page_size(text: &str) -> Result<u32, String> {
    let size = text.parse().ok().and_then(bounded_page_size);
    size.ok_or_else(|| format!("Problem parsing page size [invalid integer: {text}]"))
}

/// Parses base64 that may be percent-encoded a second time, as the reference node accepted. A plus sign that was not
/// encoded at all arrives as a space.
fn digest(text: &str) -> Result<MessageHash, String> {
    let plain = text.replace(' ', "+");
    let plain = ["%2B", "%2F", "%3D"].into_iter().zip(["+", "/", "="]).fold(
        plain,
        |text, (encoded, sign)| {
            text.replace(encoded, sign)
                .replace(&encoded.to_lowercase(), sign)
        },
    );
    let bytes = STANDARD.decode(&plain).ok();
    let hash = bytes.and_then(|bytes| bytes.try_into().ok());
    hash.map(MessageHash)
        .ok_or_else(|| format!("Problem parsing digest [not 32 bytes in base64: {text}]"))
}
