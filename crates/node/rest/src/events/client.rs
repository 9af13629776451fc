//! One client of the event stream: its position, its filter, and what it is sent next.

use std::collections::{BTreeSet, VecDeque};
use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use serde::Serialize;
use tokio::sync::{OwnedSemaphorePermit, watch};
use tokio::time::{Instant, sleep_until};
use undertone_message::PubsubTopic;
use utoipa::ToSchema;

use super::cursor::Cursor;
use super::log::{EventLog, EventLookup, LoggedEvent, frame};
use crate::long::LongAnswer;
use undertone_provider::services::ServicesHandle;

/// Longest silence on a stream.
pub(crate) const HEARTBEAT: Duration = Duration::from_secs(15);

/// Delay before a client reconnects, milliseconds.
const RETRY_MS: u32 = 1000;

/// Margin added at both ends of a gap's time span, milliseconds, because stores search by the publishers' clocks.
const GAP_MARGIN_MS: i64 = 30_000;

/// Messages that a client wants.
#[derive(Debug, Default)]
pub(super) struct EventFilter {
    pub(super) pubsub_topic: Option<PubsubTopic>,
    /// Content topics; empty for any.
    pub(super) content_topics: BTreeSet<String>,
}

impl EventFilter {
    fn wants(&self, event: &LoggedEvent) -> bool {
        let topics = &self.content_topics;
        let is_of = |topic: &PubsubTopic| *topic == event.pubsub_topic;
        self.pubsub_topic.as_ref().is_none_or(is_of)
            && (topics.is_empty() || topics.contains(&*event.content_topic))
    }
}

/// Data of the event `gap`: messages that were delivered after the client's cursor are no longer kept.
#[derive(Debug, PartialEq, Eq, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct GapEvent {
    /// `overflow`: more messages came than are kept. `restart`: the cursor is of an earlier run of the node.
    reason: GapReason,
    /// Upper bound on the lost messages of all topics; null after a restart, when it is not known.
    lost_at_most: Option<u64>,
    /// Start of the time span to query a store for, Unix nanoseconds.
    start_time: i64,
    /// End of that time span, Unix nanoseconds.
    end_time: i64,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, ToSchema)]
#[serde(rename_all = "lowercase")]
pub(crate) enum GapReason {
    Overflow,
    Restart,
}

/// Data of the event `closed`, the last of its stream.
#[derive(Debug, PartialEq, Eq, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct ClosedEvent {
    /// `slow`: the client reads slower than messages come. `shutdown`: the node stops.
    reason: ClosedReason,
    /// Messages of all topics that are waiting behind the cursor.
    behind: u64,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, ToSchema)]
#[serde(rename_all = "lowercase")]
pub(crate) enum ClosedReason {
    Slow,
    Shutdown,
}

/// Data of the event `strangers`: the services for which only strangers, peers that dialled this node, were asked.
#[derive(Debug, PartialEq, Eq, Serialize, ToSchema)]
pub(crate) struct StrangersEvent {
    /// Services whose last request was answered by strangers alone, such as `store`; empty once there are none.
    services: BTreeSet<&'static str>,
}

/// Stream of one client. It holds no messages: it reads them from the ring when the client has room for more.
pub(super) struct EventStream {
    log: Arc<EventLog>,
    filter: EventFilter,
    /// Number of the last event that was sent or skipped.
    seen: u64,
    /// Lag, in messages, beyond which the client is disconnected as too slow.
    behind_max: u64,
    greeting: VecDeque<Bytes>,
    services: Option<ServicesHandle>,
    /// Services for which only strangers were asked, as last reported to the client.
    strangers: BTreeSet<&'static str>,
    newest: watch::Receiver<u64>,
    ending: watch::Receiver<bool>,
    answer: LongAnswer,
    heartbeat: Instant,
    is_over: bool,
    _place: OwnedSemaphorePermit,
}

impl EventStream {
    /// Begins after `cursor`, or without one with the next message.
    pub(super) fn new(
        log: Arc<EventLog>,
        filter: EventFilter,
        cursor: Option<Cursor>,
        services: Option<ServicesHandle>,
        answer: LongAnswer,
        place: OwnedSemaphorePermit,
    ) -> Self {
        let newest = log.follow();
        let Beginning { position, gap } = begin(&log, cursor);
        let seen = position.number;
        // An id without data is not an event, but sets the cursor with which the client reconnects.
        let hello = format!("retry: {RETRY_MS}\nid: {position}\n\n");
        let mut greeting = VecDeque::from([Bytes::from(hello)]);
        greeting.extend(gap.map(|gap| frame(Some("gap"), &position, &gap)));
        let behind = log.newest().saturating_sub(seen);
        let half = log.limits().events_max as u64 / 2;
        Self {
            behind_max: behind + half.max(1),
            ending: answer.ending(),
            heartbeat: Instant::now() + HEARTBEAT,
            is_over: false,
            _place: place,
            log,
            filter,
            seen,
            greeting,
            services,
            strangers: BTreeSet::new(),
            newest,
            answer,
        }
    }

    /// Waits for the next piece of the stream; `None` when it is over.
    pub(super) async fn next(&mut self) -> Option<Bytes> {
        self.answer.touch();
        let piece = self.find().await;
        self.heartbeat = Instant::now() + HEARTBEAT;
        self.answer.touch();
        piece
    }

    async fn find(&mut self) -> Option<Bytes> {
        if let Some(piece) = self.greeting.pop_front() {
            return Some(piece);
        }
        if self.is_over {
            return None;
        }
        loop {
            // Read before the search, so that events arriving during the search wake the wait below.
            let newest = *self.newest.borrow_and_update();
            let behind = newest.saturating_sub(self.seen);
            if *self.ending.borrow() {
                return Some(self.close(ClosedReason::Shutdown));
            }
            if behind > self.behind_max {
                return Some(self.close(ClosedReason::Slow));
            }
            match self.log.find(self.seen, |event| self.filter.wants(event)) {
                EventLookup::Event(event) => {
                    self.seen = event.number;
                    return Some(self.log.encoded(&event));
                }
                EventLookup::Lost => return Some(self.close(ClosedReason::Slow)),
                EventLookup::Nothing(looked_at) => self.seen = looked_at,
            }
            if let Some(piece) = self.report_strangers() {
                return Some(piece);
            }
            if Instant::now() >= self.heartbeat {
                return Some(self.beat(newest));
            }
            if self.seen < newest {
                tokio::task::yield_now().await;
                continue;
            }
            tokio::select! {
                // Cannot fail: the sender is in the log, which this stream holds.
                _ = self.newest.changed() => {}
                _ = self.ending.wait_for(|ending| *ending) => {}
                () = sleep_until(self.heartbeat) => {}
            }
        }
    }

    /// Returns a heartbeat comment, with the position once all events were searched. Otherwise a client whose topics
    /// are quiet would reconnect with an outdated position.
    fn beat(&self, newest: u64) -> Bytes {
        if self.seen < newest {
            return Bytes::from_static(b": heartbeat\n\n");
        }
        let position = self.log.cursor(self.seen, self.log.now_ms());
        format!(": heartbeat\nid: {position}\n\n").into()
    }

    /// Reports the services for which only strangers were asked, if the set has changed.
    fn report_strangers(&mut self) -> Option<Bytes> {
        let services = self.services.as_ref()?.light_status().strangers_alone;
        if services == self.strangers {
            return None;
        }
        self.strangers.clone_from(&services);
        Some(bare_frame("strangers", &StrangersEvent { services }))
    }

    fn close(&mut self, reason: ClosedReason) -> Bytes {
        self.is_over = true;
        let body = ClosedEvent {
            reason,
            behind: self.log.newest().saturating_sub(self.seen),
        };
        bare_frame("closed", &body)
    }
}

/// Encodes an event without an id, so that the client's cursor stays at the last event that had one.
fn bare_frame(name: &str, data: &impl Serialize) -> Bytes {
    let data = serde_json::to_string(data).unwrap_or_default();
    format!("event: {name}\ndata: {data}\n\n").into()
}

/// Start of a client's stream.
struct Beginning {
    /// Position from which the client reads on.
    position: Cursor,
    /// Gap to report if the client has missed events.
    gap: Option<GapEvent>,
}

fn begin(log: &EventLog, cursor: Option<Cursor>) -> Beginning {
    let Some(cursor) = cursor else {
        let position = log.cursor(log.newest(), log.now_ms());
        return Beginning {
            position,
            gap: None,
        };
    };
    let (before_oldest, kept_from_ms) = match log.oldest() {
        Some((number, time_ms)) => (number - 1, time_ms),
        None => (log.newest(), log.now_ms()),
    };
    let (reason, lost_at_most, end_ms) = if cursor.instance != log.instance() {
        let is_all_kept = before_oldest == 0;
        let end_ms = if is_all_kept {
            log.started_ms()
        } else {
            kept_from_ms
        };
        (GapReason::Restart, None, end_ms)
    } else if cursor.number < before_oldest {
        let lost = before_oldest - cursor.number;
        (GapReason::Overflow, Some(lost), kept_from_ms)
    } else {
        return Beginning {
            position: cursor,
            gap: None,
        };
    };
    let gap = GapEvent {
        reason,
        lost_at_most,
        start_time: in_ns(cursor.time_ms.saturating_sub(GAP_MARGIN_MS).max(0)),
        end_time: in_ns(end_ms.saturating_add(GAP_MARGIN_MS)),
    };
    Beginning {
        position: log.cursor(before_oldest, end_ms),
        gap: Some(gap),
    }
}

fn in_ns(time_ms: i64) -> i64 {
    time_ms.saturating_mul(1_000_000)
}
