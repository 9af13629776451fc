//! The routes `/store/v3/messages` and [`legacy`]: pages of history, from this node's archive or from a store.

use std::sync::Arc;
use undertone_network::handle::Stopped;

use axum::{Json, extract::State};
use libp2p::Multiaddr;
use serde::Serialize;
use tokio::time::timeout;
use undertone_message::MessageHash;
use undertone_services::history::{
    ContentCriteria, HistoryCriteria, HistoryEntry, HistoryError, HistoryQuery, PAGE_DEFAULT,
    PAGE_MAX, PageDirection,
};
use utoipa::ToSchema;
use utoipa_axum::{router::OpenApiRouter, routes};

use super::{ANSWER_TIMEOUT, App, errors::ApiError, params::QueryParams, shapes::RelayWakuMessage};
use undertone_provider::services::{ServiceFailure, ServicesHandle, StoreAnswer};

mod legacy;
#[cfg(test)]
#[path = "tests/store.rs"]
mod tests;

/// Status of the protocol: too many requests.
const TOO_MANY_REQUESTS: u32 = 429;

pub(super) fn routes() -> OpenApiRouter<App> {
    OpenApiRouter::new()
        .routes(routes!(messages))
        .merge(legacy::routes())
}

/// A page of history.
#[derive(Serialize, ToSchema)]
#[schema(as = StoreAnswer)]
#[serde(rename_all = "camelCase")]
struct StoreBody {
    /// Request id sent to the store; empty if this node's archive answered.
    request_id: String,
    /// Status of the store protocol.
    status_code: u32,
    status_desc: String,
    /// Messages, the oldest first.
    messages: Vec<StoreEntry>,
    /// Cursor of the next page; missing on the last one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pagination_cursor: Option<String>,
}

/// A message of the past.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
struct StoreEntry {
    /// Deterministic hash of RFC 14.
    message_hash: String,
    /// Only with `includeData`.
    #[serde(skip_serializing_if = "Option::is_none")]
    message: Option<RelayWakuMessage>,
    /// Only with `includeData`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pubsub_topic: Option<String>,
}

/// A page of history
///
/// From the store at `peerAddr`. Without that parameter, from this node's archive, or, if it has none, from a
/// store that it knows.
#[utoipa::path(
    get,
    path = "/store/v3/messages",
    operation_id = "storeMessages",
    tag = "store",
    params(
        ("peerAddr" = Option<String>, Query, description = "Address of a store, with peer id"),
        ("includeData" = Option<bool>, Query, description = "Whether the page has messages, or hashes alone; false if missing"),
        ("pubsubTopic" = Option<String>, Query, description = "Pubsub topic of the messages"),
        ("contentTopics" = Option<String>, Query, description = "Content topics of the messages, with commas between them"),
        ("startTime" = Option<i64>, Query, description = "Earliest timestamp, Unix nanoseconds"),
        ("endTime" = Option<i64>, Query, description = "Latest timestamp, Unix nanoseconds"),
        ("hashes" = Option<String>, Query, description = "Hashes of the messages, 0x and 64 hexadecimal digits each, with commas between them"),
        ("cursor" = Option<String>, Query, description = "`paginationCursor` of the page before"),
        ("ascending" = Option<bool>, Query, description = "Whether pages go from old to new; true if missing"),
        ("pageSize" = Option<i64>, Query, description = "Most messages of the page; 20 if missing or 0, at most 100"),
    ),
    responses(
        (status = 200, description = "The page", body = StoreBody),
        (status = 400, description = "`… parsing error: …`, `Exception converting hex string to bytes: …`, `Failed parsing remote peer info: …`, or the archive does not have the cursor", content_type = "text/plain", body = String),
        (status = 412, description = "`No suitable service peer & none discovered`", content_type = "text/plain", body = String),
        (status = 429, description = "`Request rate limit reached`", content_type = "text/plain", body = String),
        (status = 500, description = "`No history response received (timeout)`, `Error occurred in queryFut.read() [….]` or `error in handleSelfStoreRequest: …`", content_type = "text/plain", body = String),
        (status = 503, description = "The node is stopping", content_type = "text/plain", body = String),
    ),
)]
async fn messages(
    State(app): State<App>,
    params: QueryParams,
) -> Result<Json<StoreBody>, ApiError> {
    let services = app.services()?;
    let request = HistoryRequest::parse(&params).map_err(ApiError::BadRequest)?;
    let answer = request.send(services).await?;
    Ok(Json(StoreBody {
        request_id: answer.request_id,
        status_code: 200,
        status_desc: "OK".into(),
        messages: answer.page.entries.into_iter().map(entry).collect(),
        pagination_cursor: answer.page.next.map(|hash| hash.to_string()),
    }))
}

fn entry(entry: HistoryEntry) -> StoreEntry {
    let message = entry.data.as_ref();
    let message = message.map(|data| RelayWakuMessage::stored(&data.message));
    StoreEntry {
        message_hash: entry.hash.to_string(),
        message,
        pubsub_topic: entry.data.map(|data| data.pubsub_topic.to_string()),
    }
}

/// A query as a client sends it. nwaku accepts hashes together with other conditions; the protocol does not.
/// Such a query is sent with the hashes alone, and the conditions are applied here.
struct HistoryRequest {
    peer: Option<Multiaddr>,
    include_data: bool,
    hashes: Vec<MessageHash>,
    content: ContentCriteria,
    cursor: Option<MessageHash>,
    direction: PageDirection,
    limit: u32,
}

impl HistoryRequest {
    /// Parses the query, checking in nwaku's order and with its error texts.
    fn parse(params: &QueryParams) -> Result<Self, String> {
        let include_data = params.get("includeData");
        let include_data = include_data.map_or(Ok(false), |text| truth("include data", text))?;
        let topics = params.list("contentTopics").map(Arc::from);
        let content = ContentCriteria {
            pubsub_topic: params.get("pubsubTopic").map(Arc::from),
            content_topics: topics.collect(),
            start_ns: time(params.get("startTime"))?,
            end_ns: time(params.get("endTime"))?,
        };
        let hashes = params.list("hashes").filter(|text| !text.is_empty());
        let hashes = hashes.map(hash).collect::<Result<_, _>>()?;
        let cursor = params.get("cursor").map(hash).transpose()?;
        let ascending = params.get("ascending");
        let direction = match ascending.map_or(Ok(true), |text| truth("ascending", text))? {
            true => PageDirection::Forward,
            false => PageDirection::Backward,
        };
        let limit = params.get("pageSize").map_or(Ok(PAGE_DEFAULT), page_size)?;
        Ok(Self {
            peer: peer_address(params)?,
            include_data,
            hashes,
            content,
            cursor,
            direction,
            limit,
        })
    }

    async fn send(self, services: &ServicesHandle) -> Result<StoreAnswer, ApiError> {
        let is_both = !self.hashes.is_empty() && self.content != ContentCriteria::default();
        let criteria = if self.hashes.is_empty() {
            HistoryCriteria::Content(self.content.clone())
        } else {
            HistoryCriteria::Hashes(self.hashes)
        };
        let query = HistoryQuery {
            include_data: self.include_data || is_both,
            criteria,
            cursor: self.cursor,
            direction: self.direction,
            limit: self.limit,
        };
        let is_local = self.peer.is_none() && services.mounted().store;
        let asked = timeout(ANSWER_TIMEOUT, services.query_store(self.peer, query)).await;
        let mut answer = match asked {
            Ok(answer) => answer.map_err(|failure| refusal(failure, is_local))?,
            Err(_) => return Err(silence()),
        };
        if is_both {
            let entries = &mut answer.page.entries;
            entries.retain(|entry| meets(entry, &self.content));
            if !self.include_data {
                entries.iter_mut().for_each(|entry| entry.data = None);
            }
        }
        Ok(answer)
    }
}

fn meets(entry: &HistoryEntry, content: &ContentCriteria) -> bool {
    let Some(data) = &entry.data else {
        return false;
    };
    let (topics, time) = (&content.content_topics, data.message.timestamp_ns());
    let is_on = |topic: &Arc<str>| *topic == data.pubsub_topic;
    content.pubsub_topic.as_ref().is_none_or(is_on)
        && (topics.is_empty() || topics.contains(&data.message.content_topic))
        && content.start_ns.is_none_or(|start| start <= time)
        && content.end_ns.is_none_or(|end| time <= end)
}

fn silence() -> ApiError {
    ApiError::Internal("No history response received (timeout)".into())
}

/// Returns nwaku's answer to a failure.
fn refusal(failure: ServiceFailure, is_local: bool) -> ApiError {
    let failed =
        |text: String| ApiError::Internal(format!("Error occurred in queryFut.read() [{text}]"));
    match failure {
        ServiceFailure::NoPeer { .. } => {
            ApiError::NoPeer("No suitable service peer & none discovered".into())
        }
        ServiceFailure::Address { .. } => {
            ApiError::BadRequest(format!("Failed parsing remote peer info: {failure}"))
        }
        ServiceFailure::TimedOut { .. } => silence(),
        ServiceFailure::Refused {
            status: TOO_MANY_REQUESTS,
            ..
        } => ApiError::TooMany("Request rate limit reached".into()),
        ServiceFailure::Refused {
            status,
            description,
        } => failed(match status {
            300 => format!("BAD_RESPONSE: {description}"),
            400 => format!("BAD_REQUEST: {description}"),
            503 => "SERVICE_UNAVAILABLE".into(),
            504 => format!("PEER_DIAL_FAILURE: {description}"),
            _ => "UNKNOWN".into(),
        }),
        ServiceFailure::Dial { peer, .. } => failed(format!("PEER_DIAL_FAILURE: {peer}")),
        ServiceFailure::BadAnswer { reason, .. } => failed(format!("BAD_RESPONSE: {reason}")),
        ServiceFailure::Archive(error) => {
            let text =
                format!("error in handleSelfStoreRequest: BAD_RESPONSE: archive error: {error}");
            match error {
                // The client's fault, although nwaku answers with 500.
                HistoryError::UnknownCursor => ApiError::BadRequest(text),
                _ => ApiError::Internal(text),
            }
        }
        ServiceFailure::Stopped(Stopped) => ApiError::Unavailable(failure.to_string()),
        _ if is_local => ApiError::Internal(format!("error in handleSelfStoreRequest: {failure}")),
        _ => failed(failure.to_string()),
    }
}

fn truth(name: &str, text: &str) -> Result<bool, String> {
    match &*text.to_ascii_lowercase() {
        "y" | "yes" | "true" | "1" | "on" => Ok(true),
        "n" | "no" | "false" | "0" | "off" => Ok(false),
        _ => Err(format!(
            "{name} parsing error: cannot interpret as a bool: {text}"
        )),
    }
}

fn peer_address(params: &QueryParams) -> Result<Option<Multiaddr>, String> {
    let address = params.get("peerAddr").map(str::parse::<Multiaddr>);
    let failed = |error| format!("Failed parsing remote peer info: MultiAddress.init [{error}]");
    address.transpose().map_err(failed)
}

fn time(text: Option<&str>) -> Result<Option<i64>, String> {
    let invalid = |text| format!("time parsing error: invalid integer: {text}");
    match text {
        Some(text) => positive(text).ok_or_else(|| invalid(text)),
        None => Ok(None),
    }
}

/// Parses a time; zero or less means no condition. Returns `None` if `text` is not an integer.
fn positive(text: &str) -> Option<Option<i64>> {
    let time = text.parse().ok()?;
    Some((time > 0).then_some(time))
}

fn page_size(text: &str) -> Result<u32, String> {
    let size: i64 = text
        .parse()
        .map_err(|_| format!("page size parsing error: invalid integer: {text}"))?;
    bounded_page_size(size).ok_or_else(|| format!("page size parsing error: {size} is negative"))
}

/// Returns the page size for a requested `size`; `None` if it is negative.
fn bounded_page_size(size: i64) -> Option<u32> {
    match u32::try_from(size) {
        Ok(0) => Some(PAGE_DEFAULT),
        Ok(size) => Some(size.min(PAGE_MAX)),
        Err(_) => (size > 0).then_some(PAGE_MAX),
    }
}

fn hash(text: &str) -> Result<MessageHash, String> {
    let failed = |why| format!("Exception converting hex string to bytes: {why}");
    let digits = text.strip_prefix("0x").or(text.strip_prefix("0X"));
    let bytes = hex::decode(digits.unwrap_or(text)).map_err(|error| match error {
        hex::FromHexError::InvalidHexCharacter { c, .. } => {
            failed(format!("{c} is not a hexadecimal character"))
        }
        _ => failed("hex string must have even length".into()),
    })?;
    let wrong = |bytes: Vec<u8>| {
        let length = bytes.len();
        format!("waku message hash parsing error: invalid hash length: {length}")
    };
    bytes.try_into().map(MessageHash).map_err(wrong)
}
