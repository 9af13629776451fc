//! The route `/events/v1/messages`: delivered messages as server-sent events, for any number of clients, each
//! with a cursor of its own. nwaku has no such route.

use axum::{
    body::Body,
    extract::State,
    http::{
        HeaderMap, HeaderName, HeaderValue,
        header::{CACHE_CONTROL, CONNECTION, CONTENT_TYPE, RETRY_AFTER},
    },
    response::{IntoResponse as _, Response},
};
use futures::stream;
use utoipa_axum::{router::OpenApiRouter, routes};

mod client;
mod cursor;
mod log;

#[cfg(test)]
mod tests;

pub(super) use client::{ClosedEvent, GapEvent, HEARTBEAT, StrangersEvent};
use client::{EventFilter, EventStream};
use cursor::Cursor;
pub(super) use log::{EventLimits, EventLog, MessageEvent};

use super::{App, errors::ApiError, long::LongAnswer, params::QueryParams, relay::topic_in_path};

/// Most content topics that a client may list.
const CONTENT_TOPICS_MAX: usize = 4096;

/// Header in which a reconnecting client names the last event it received.
const LAST_EVENT_ID: HeaderName = HeaderName::from_static("last-event-id");

pub(super) fn routes() -> OpenApiRouter<App> {
    OpenApiRouter::new().routes(routes!(messages))
}

/// Messages as they are delivered
///
/// A stream of server-sent events that does not end. An event without a name is a message (`MessageEvent`); its id is
/// the cursor behind it. `gap` (`GapEvent`): messages after the cursor are no longer kept. `strangers`
/// (`StrangersEvent`): the set of services for which only strangers could be asked has changed; reported within 15 s.
/// `closed` (`ClosedEvent`) is the last event. A comment comes after 15 s of silence. The node must be subscribed to
/// the topics: this path does not subscribe.
#[utoipa::path(
    get,
    path = "/events/v1/messages",
    operation_id = "events",
    tag = "events",
    params(
        ("contentTopics" = Option<String>, Query, description = "Content topics with commas between them, at most 4096; all if missing"),
        ("pubsubTopic" = Option<String>, Query, description = "Pubsub topic; all if missing"),
        ("cursor" = Option<String>, Query, description = "Id of the last event that the client has seen; the stream begins behind it. Without a cursor it begins with the next message"),
        ("Last-Event-ID" = Option<String>, Header, description = "As `cursor`, and goes before it: browsers send it when they reconnect"),
    ),
    responses(
        (status = 200, description = "The stream", content_type = "text/event-stream", body = String),
        (status = 400, description = "`Invalid cursor: …`, `Invalid pubsub topic(s): …` or `Too many content topics: …`", content_type = "text/plain", body = String),
        (status = 503, description = "`As many event streams are open as this node serves (1024)`; with the header Retry-After", content_type = "text/plain", body = String),
    ),
)]
async fn messages(
    State(app): State<App>,
    params: QueryParams,
    headers: HeaderMap,
) -> Result<Response, ApiError> {
    let filter = filter(&params)?;
    let cursor = cursor_of(&params, &headers)?;
    let cursor = cursor.map(|text| known(&app.events, text)).transpose()?;
    let Some(place) = app.events.take_place() else {
        return Ok(no_place(&app.events));
    };
    let answer = LongAnswer::new();
    let events = EventStream::new(
        app.events,
        filter,
        cursor,
        app.services,
        answer.clone(),
        place,
    );
    let pieces = stream::unfold(events, |mut events| async move {
        let piece = events.next().await?;
        Some((Ok::<_, std::convert::Infallible>(piece), events))
    });
    Ok(stream_response(Body::from_stream(pieces), answer))
}

/// Returns the cursor of a reconnecting client: the header `Last-Event-ID`, or else the parameter `cursor`.
pub(super) fn cursor_of<'a>(
    params: &'a QueryParams,
    headers: &'a HeaderMap,
) -> Result<Option<&'a str>, ApiError> {
    let last = headers.get(LAST_EVENT_ID).map(HeaderValue::to_str);
    let last = last.transpose().map_err(|_| bad_cursor("no text"))?;
    Ok(last
        .filter(|text| !text.is_empty())
        .or(params.get("cursor")))
}

/// Returns the response for a client when all places for streams are taken.
pub(super) fn no_place(events: &EventLog) -> Response {
    let max = events.limits().clients_max;
    let text = format!("As many event streams are open as this node serves ({max})");
    let later = [(RETRY_AFTER, HeaderValue::from_static("10"))];
    (later, ApiError::Unavailable(text)).into_response()
}

/// Returns the response that carries a stream of events.
pub(super) fn stream_response(pieces: Body, answer: LongAnswer) -> Response {
    let mut response = pieces.into_response();
    response.extensions_mut().insert(answer);
    let headers = response.headers_mut();
    headers.insert(CONTENT_TYPE, HeaderValue::from_static("text/event-stream"));
    headers.insert(CACHE_CONTROL, HeaderValue::from_static("no-store"));
    // A stream does not count against the limit on short requests, so its connection must not be reused for them.
    headers.insert(CONNECTION, HeaderValue::from_static("close"));
    // Tells nginx to forward each event at once.
    let unbuffered = HeaderName::from_static("x-accel-buffering");
    headers.insert(unbuffered, HeaderValue::from_static("no"));
    response
}

fn filter(params: &QueryParams) -> Result<EventFilter, ApiError> {
    let mut filter = EventFilter::default();
    if let Some(topic) = params.get("pubsubTopic") {
        let parsed = topic_in_path(topic);
        let bad = || ApiError::BadRequest(format!("Invalid pubsub topic(s): @[{topic:?}]"));
        filter.pubsub_topic = Some(parsed.ok_or_else(bad)?);
    }
    for topic in params.list("contentTopics") {
        filter.content_topics.insert(topic.to_owned());
    }
    if filter.content_topics.len() > CONTENT_TOPICS_MAX {
        return Err(ApiError::BadRequest(format!(
            "Too many content topics: at most {CONTENT_TOPICS_MAX} can be listed"
        )));
    }
    Ok(filter)
}

/// Parses a cursor. A cursor of this run must not lie beyond the newest event.
fn known(log: &EventLog, text: &str) -> Result<Cursor, ApiError> {
    let cursor: Cursor = text.parse().map_err(|_| bad_cursor(text))?;
    if cursor.instance == log.instance() && cursor.number > log.newest() {
        return Err(bad_cursor(text));
    }
    Ok(cursor)
}

fn bad_cursor(text: &str) -> ApiError {
    ApiError::BadRequest(format!(
        "Invalid cursor: {text:?} is not the id of an event"
    ))
}
