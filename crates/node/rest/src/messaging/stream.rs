//! The route `/events/v1/sent`: state changes of sent messages as server-sent events. nwaku has no such route.

use std::collections::VecDeque;

use axum::{
    extract::State,
    http::HeaderMap,
    response::{IntoResponse as _, Response},
};
use bytes::Bytes;
use futures::stream;
use serde::Serialize;
use tokio::sync::{OwnedSemaphorePermit, watch};
use tokio::time::{Instant, sleep_until};
use utoipa::ToSchema;

use super::{App, SendEventBody, request_id};
use crate::errors::ApiError;
use crate::events::{HEARTBEAT, cursor_of, no_place, stream_response};
use crate::long::LongAnswer;
use crate::params::QueryParams;
use undertone_provider::services::{
    SendFailure, SendNews, SendNewsStream, SendReport, SenderHandle,
};

/// Data of an event: a state change of a sent message.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct SentEvent {
    request_id: String,
    #[serde(flatten)]
    step: SendEventBody,
}

/// State changes of sent messages as they happen
///
/// A stream of server-sent events that does not end. The data of each event is a `SentEvent`, its id is the cursor
/// behind it. Changes that were fetched under `/messaging/v1/events/send` are not repeated to a reconnecting client.
/// A comment comes after 15 s of silence.
#[utoipa::path(
    get,
    path = "/events/v1/sent",
    operation_id = "sentEvents",
    tag = "events",
    params(
        ("cursor" = Option<String>, Query, description = "Id of the last event that the client has seen; the stream begins behind it. Without a cursor it begins with the next step"),
        ("Last-Event-ID" = Option<String>, Header, description = "As `cursor`, and goes before it: browsers send it when they reconnect"),
    ),
    responses(
        (status = 200, description = "The stream", content_type = "text/event-stream", body = String),
        (status = 400, description = "`Invalid cursor: …`", content_type = "text/plain", body = String),
        (status = 503, description = "`As many event streams are open as this node serves (1024)`; with the header Retry-After. Or the node is stopping", content_type = "text/plain", body = String),
    ),
)]
pub(super) async fn sent_stream(
    State(app): State<App>,
    params: QueryParams,
    headers: HeaderMap,
) -> Result<Response, ApiError> {
    let bad = |text: &str| {
        ApiError::BadRequest(format!(
            "Invalid cursor: {text:?} is not the id of an event"
        ))
    };
    let cursor = match cursor_of(&params, &headers)? {
        Some(text) => Some(text.parse::<u64>().map_err(|_| bad(text))?),
        None => None,
    };
    let Some(place) = app.events.take_place() else {
        return Ok(no_place(&app.events));
    };
    let sender = app.services()?.sender().clone();
    // Subscribes before reading the kept reports, so that none falls in between.
    let news = sender.news();
    let stopping = |failure: SendFailure| ApiError::Unavailable(failure.to_string());
    let kept = sender.reports(None).await.map_err(stopping)?;
    let newest = kept.last().map_or(0, |report| report.number);
    let answer = LongAnswer::new();
    let events = SentStream {
        sender,
        news,
        waiting: kept.into(),
        seen: cursor.unwrap_or(newest),
        has_greeted: false,
        is_over: false,
        ending: answer.ending(),
        heartbeat: Instant::now() + HEARTBEAT,
        answer: answer.clone(),
        _place: place,
    };
    let pieces = stream::unfold(events, |mut events| async move {
        let piece = events.next().await?;
        Some((Ok::<_, std::convert::Infallible>(piece), events))
    });
    Ok(stream_response(axum::body::Body::from_stream(pieces), answer).into_response())
}

/// Stream of one client.
struct SentStream {
    sender: SenderHandle,
    news: SendNewsStream,
    waiting: VecDeque<SendReport>,
    /// Number of the last report that was sent or skipped.
    seen: u64,
    has_greeted: bool,
    is_over: bool,
    ending: watch::Receiver<bool>,
    heartbeat: Instant,
    answer: LongAnswer,
    _place: OwnedSemaphorePermit,
}

impl SentStream {
    /// Waits for the next piece of the stream; `None` when it is over.
    async fn next(&mut self) -> Option<Bytes> {
        self.answer.touch();
        let piece = self.find().await;
        self.heartbeat = Instant::now() + HEARTBEAT;
        self.answer.touch();
        piece
    }

    async fn find(&mut self) -> Option<Bytes> {
        if self.is_over {
            return None;
        }
        if !std::mem::replace(&mut self.has_greeted, true) {
            // An id without data is not an event, but sets the cursor with which the client reconnects.
            return Some(format!("retry: 1000\nid: {}\n\n", self.seen).into());
        }
        loop {
            while let Some(report) = self.waiting.pop_front() {
                if report.number <= self.seen {
                    continue;
                }
                self.seen = report.number;
                if let Some(piece) = piece(&report) {
                    return Some(piece);
                }
            }
            if *self.ending.borrow() {
                return Some(self.close());
            }
            let news = tokio::select! {
                news = self.news.next() => news,
                _ = self.ending.wait_for(|ending| *ending) => None,
                () = sleep_until(self.heartbeat) => {
                    return Some(format!(": heartbeat\nid: {}\n\n", self.seen).into());
                }
            };
            match news {
                Some(SendNews::Report(report)) => self.waiting.push_back(report),
                Some(SendNews::Missed { .. }) => {
                    // If the sender has stopped, the news end as well.
                    let kept = self.sender.reports(None).await.unwrap_or_default();
                    self.waiting.extend(kept);
                }
                None => return Some(self.close()),
            }
        }
    }

    fn close(&mut self) -> Bytes {
        self.is_over = true;
        Bytes::from_static(b"event: closed\ndata: {\"reason\":\"shutdown\",\"behind\":0}\n\n")
    }
}

fn piece(report: &SendReport) -> Option<Bytes> {
    let event = SentEvent {
        request_id: request_id(report.id),
        step: SendEventBody::of(report)?,
    };
    // The body is text and numbers, whose JSON form always exists and is a single line.
    let data = serde_json::to_string(&event).unwrap_or_default();
    Some(format!("id: {}\ndata: {data}\n\n", report.number).into())
}
