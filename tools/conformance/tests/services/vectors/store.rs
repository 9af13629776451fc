//! Store v3.

use bytes::Bytes;
use serde_json::{Value, json};
use undertone_services::history::{HistoryCriteria, HistoryEntry, PAGE_DEFAULT, PageDirection};
use undertone_services::store::{StoreLimits, StoreRequest, StoreResponse};

use super::{Read, given, message, texts};

pub(super) fn request(frame: &Bytes) -> Result<Read, String> {
    let request = StoreRequest::decode(frame, &StoreLimits::default());
    let request = request.map_err(|error| error.to_string())?;
    let query = &request.query;
    let (content, hashes) = match &query.criteria {
        HistoryCriteria::Content(content) => (content.clone(), Vec::new()),
        HistoryCriteria::Hashes(hashes) => (Default::default(), hashes.clone()),
    };
    let time = |time: Option<i64>| json!(time.map(|time| time.to_string()));
    let hashes: Vec<_> = hashes.iter().map(|hash| hex::encode(hash.0)).collect();
    let fields = given([
        ("requestId", json!(*request.request_id)),
        ("includeData", json!(query.include_data)),
        ("pubsubTopic", json!(content.pubsub_topic.as_deref())),
        ("contentTopics", texts(&content.content_topics)),
        ("timeStart", time(content.start_ns)),
        ("timeEnd", time(content.end_ns)),
        ("messageHashes", json!(hashes)),
        (
            "paginationCursor",
            json!(query.cursor.map(|cursor| hex::encode(cursor.0))),
        ),
        (
            "paginationForward",
            json!(query.direction == PageDirection::Forward),
        ),
        ("paginationLimit", limit(query.limit)),
    ]);
    Ok(Read {
        fields,
        again: request.encode(),
    })
}

/// The number of messages of a page; js-waku names none to get the usual one.
fn limit(limit: u32) -> Value {
    match limit {
        PAGE_DEFAULT => Value::Null,
        limit => json!(limit.to_string()),
    }
}

pub(super) fn response(frame: &Bytes) -> Result<Read, String> {
    let response = StoreResponse::decode(frame, &StoreLimits::default());
    let response = response.map_err(|error| error.to_string())?;
    let page = &response.page;
    let description = Some(&*response.description).filter(|text| !text.is_empty());
    let fields = given([
        ("requestId", json!(*response.request_id)),
        ("statusCode", json!(response.status.code())),
        ("statusDesc", json!(description)),
        ("messages", page.entries.iter().map(entry).collect()),
        (
            "paginationCursor",
            json!(page.next.map(|cursor| hex::encode(cursor.0))),
        ),
    ]);
    Ok(Read {
        fields,
        again: response.encode(),
    })
}

fn entry(entry: &HistoryEntry) -> Value {
    let data = entry.data.as_ref();
    given([
        ("messageHash", json!(hex::encode(entry.hash.0))),
        (
            "message",
            data.map_or(Value::Null, |data| message(&data.message)),
        ),
        ("pubsubTopic", json!(data.map(|data| &*data.pubsub_topic))),
    ])
}
