//! Ring buffer of the newest messages, from which every client of the event stream reads at its own position. It stays
//! empty until the first client comes.

use std::collections::VecDeque;
use std::sync::Arc;
use std::time::{SystemTime, UNIX_EPOCH};

use bytes::Bytes;
use parking_lot::Mutex;
use serde::Serialize;
use tokio::sync::{OwnedSemaphorePermit, Semaphore, watch};
use undertone_message::PubsubTopic;
use utoipa::ToSchema;

use super::cursor::Cursor;
use crate::shapes::RelayWakuMessage;
use undertone_network::handle::Delivery;

/// Memory that an event takes besides its message, in bytes: its text and the ring's own records.
const EVENT_OVERHEAD_BYTES: usize = 768;

/// Events searched for one client before other tasks get a turn.
const SEARCH_MAX: usize = 256;

const NS_PER_MS: i64 = 1_000_000;

/// Bounds of the event stream.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct EventLimits {
    /// Most messages kept for reconnecting clients.
    pub(super) events_max: usize,
    /// Most bytes of kept messages in their encoded form.
    pub(super) bytes_max: usize,
    /// Most clients at a time.
    pub(super) clients_max: usize,
}

impl Default for EventLimits {
    fn default() -> Self {
        Self {
            events_max: 16_384,
            bytes_max: 32 * 1024 * 1024,
            clients_max: 1024,
        }
    }
}

impl EventLimits {
    /// Returns the default limits, with fewer clients if the process may open few files: clients get at most two
    /// fifths of them.
    pub(crate) fn for_process() -> Self {
        let limits = Self::default();
        match rustix::process::getrlimit(rustix::process::Resource::Nofile).current {
            Some(files_max) => limits.within_files(files_max),
            None => limits,
        }
    }

    pub(super) fn within_files(self, files_max: u64) -> Self {
        let share = usize::try_from(files_max.saturating_mul(2) / 5).unwrap_or(usize::MAX);
        if share >= self.clients_max {
            return self;
        }
        let clients_max = share.max(1);
        tracing::warn!(
            files = files_max,
            clients = clients_max,
            "fewer event streams than {}: the process may not open more files; raise its hard limit (ulimit -Hn, or LimitNOFILE in systemd)",
            self.clients_max
        );
        Self {
            clients_max,
            ..self
        }
    }
}

/// The newest messages, numbered from 1 in the order of their delivery.
pub(crate) struct EventLog {
    instance: u64,
    limits: EventLimits,
    clock_ahead_ms: i64,
    started_ms: i64,
    ring: Mutex<Ring>,
    newest: watch::Sender<u64>,
    places: Arc<Semaphore>,
}

struct Ring {
    events: VecDeque<Arc<LoggedEvent>>,
    bytes: usize,
    /// Number of the oldest kept event, or of the next event if none is kept.
    oldest: u64,
    /// Most events to keep; 0 until the first client connects.
    events_max: usize,
}

/// A delivered message with its number.
pub(super) struct LoggedEvent {
    pub(super) number: u64,
    /// Time of the delivery by the node's clock, Unix milliseconds.
    pub(super) time_ms: i64,
    pub(super) pubsub_topic: PubsubTopic,
    pub(super) content_topic: Arc<str>,
    cost_bytes: usize,
    form: Mutex<Form>,
}

/// Content of an event. It is encoded when the first client gets it, and all clients share the bytes.
enum Form {
    Delivery(Arc<Delivery>),
    Encoded(Bytes),
}

/// Data of an event without a name: a message.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct MessageEvent {
    /// Topic that the message was published on.
    pubsub_topic: String,
    /// Deterministic hash of RFC 14, the key of the message in stores.
    message_hash: String,
    message: RelayWakuMessage,
}

/// Result of a search for a client's next event.
pub(super) enum EventLookup {
    /// The next event that the client wants.
    Event(Arc<LoggedEvent>),
    /// No match so far; all events up to this number have been searched.
    Nothing(u64),
    /// Events after the position are no longer kept.
    Lost,
}

impl EventLog {
    pub(crate) fn new(limits: EventLimits, clock_ahead_ns: i64) -> Self {
        let clock_ahead_ms = clock_ahead_ns / NS_PER_MS;
        let started_ms = now_ms(clock_ahead_ms);
        let mut random = [0; 8];
        let instance = match getrandom::fill(&mut random) {
            Ok(()) => u64::from_le_bytes(random),
            // A fallback that is unique as long as no two runs start in the same millisecond.
            Err(_) => started_ms.unsigned_abs(),
        };
        Self {
            instance,
            limits,
            clock_ahead_ms,
            started_ms,
            ring: Mutex::new(Ring {
                events: VecDeque::new(),
                bytes: 0,
                oldest: 1,
                events_max: 0,
            }),
            newest: watch::Sender::new(0),
            places: Arc::new(Semaphore::new(limits.clients_max)),
        }
    }

    pub(super) fn limits(&self) -> EventLimits {
        self.limits
    }

    /// Takes a client's place; returns `None` if all are taken.
    pub(crate) fn take_place(&self) -> Option<OwnedSemaphorePermit> {
        Arc::clone(&self.places).try_acquire_owned().ok()
    }

    pub(super) fn instance(&self) -> u64 {
        self.instance
    }

    /// Time when the node was started, by its clock, Unix milliseconds.
    pub(super) fn started_ms(&self) -> i64 {
        self.started_ms
    }

    /// The node's clock, Unix milliseconds.
    pub(super) fn now_ms(&self) -> i64 {
        now_ms(self.clock_ahead_ms)
    }

    /// Number of the newest event; 0 before the first.
    pub(super) fn newest(&self) -> u64 {
        *self.newest.borrow()
    }

    /// Returns a receiver that is notified of each new event. Events are kept from the first call on.
    pub(crate) fn follow(&self) -> watch::Receiver<u64> {
        self.ring.lock().events_max = self.limits.events_max;
        self.newest.subscribe()
    }

    /// Cursor of a client that has seen everything up to event `number`.
    pub(super) fn cursor(&self, number: u64, time_ms: i64) -> Cursor {
        Cursor {
            instance: self.instance,
            number,
            time_ms,
        }
    }

    /// Number and time of the oldest event that is kept; `None` if none is.
    pub(super) fn oldest(&self) -> Option<(u64, i64)> {
        let ring = self.ring.lock();
        ring.events
            .front()
            .map(|event| (event.number, event.time_ms))
    }

    /// Finds the first event after number `seen` that is `wanted`. Searches at most [`SEARCH_MAX`] events.
    pub(super) fn find(&self, seen: u64, wanted: impl Fn(&LoggedEvent) -> bool) -> EventLookup {
        let ring = self.ring.lock();
        if seen + 1 < ring.oldest {
            return EventLookup::Lost;
        }
        let skip = usize::try_from(seen + 1 - ring.oldest).unwrap_or(usize::MAX);
        let mut looked_at = seen;
        for event in ring.events.iter().skip(skip).take(SEARCH_MAX) {
            if wanted(event) {
                return EventLookup::Event(Arc::clone(event));
            }
            looked_at = event.number;
        }
        EventLookup::Nothing(looked_at)
    }

    /// Assigns a number to a message and keeps it for clients.
    pub(crate) fn keep(&self, delivery: &Arc<Delivery>) {
        let time_ms = self.now_ms();
        let mut ring = self.ring.lock();
        let number = ring.oldest + ring.events.len() as u64;
        let event = LoggedEvent {
            number,
            time_ms,
            pubsub_topic: delivery.pubsub_topic.clone(),
            content_topic: Arc::clone(&delivery.message.content_topic),
            cost_bytes: cost_bytes(delivery),
            form: Mutex::new(Form::Delivery(Arc::clone(delivery))),
        };
        ring.bytes += event.cost_bytes;
        ring.events.push_back(Arc::new(event));
        while ring.events.len() > ring.events_max || ring.bytes > self.limits.bytes_max {
            let Some(oldest) = ring.events.pop_front() else {
                break;
            };
            ring.bytes -= oldest.cost_bytes;
            ring.oldest += 1;
        }
        // Sent while the lock is held, so that numbers are announced in order.
        self.newest.send_replace(number);
    }

    /// Estimated bytes of the events that are kept.
    #[cfg(test)]
    pub(super) fn kept_bytes(&self) -> usize {
        self.ring.lock().bytes
    }

    /// Returns an event encoded for the stream. Each event is encoded only once.
    pub(super) fn encoded(&self, event: &LoggedEvent) -> Bytes {
        let mut form = event.form.lock();
        let delivery = match &*form {
            Form::Encoded(bytes) => return bytes.clone(),
            Form::Delivery(delivery) => delivery,
        };
        let body = MessageEvent {
            pubsub_topic: delivery.pubsub_topic.to_string(),
            message_hash: delivery.hash().to_string(),
            message: RelayWakuMessage::from(&delivery.message),
        };
        let cursor = self.cursor(event.number, event.time_ms);
        let bytes = frame(None, &cursor, &body);
        *form = Form::Encoded(bytes.clone());
        bytes
    }
}

/// Encodes an event as a server-sent event (WHATWG HTML, section 9.2.5).
pub(super) fn frame(name: Option<&str>, cursor: &Cursor, data: &impl Serialize) -> Bytes {
    let name = name.map_or_else(String::new, |name| format!("event: {name}\n"));
    // The data of events are text and numbers, whose JSON form always exists and is a single line.
    let data = serde_json::to_string(data).unwrap_or_default();
    format!("id: {cursor}\n{name}data: {data}\n\n").into()
}

fn now_ms(clock_ahead_ms: i64) -> i64 {
    let since = SystemTime::now()
        .duration_since(UNIX_EPOCH)
        .unwrap_or_default();
    let now_ms = i64::try_from(since.as_millis()).unwrap_or(i64::MAX);
    now_ms.saturating_add(clock_ahead_ms).max(0)
}

/// Estimate of an event's memory when encoded: base64 lengthens bytes by a third.
fn cost_bytes(delivery: &Delivery) -> usize {
    let message = &delivery.message;
    let proof = message.rate_limit_proof.as_ref().map_or(0, Bytes::len);
    let in_base64 = message.payload.len() + message.meta_bytes().len() + proof;
    // JSON writes a control character of a topic as six bytes.
    let topic = message.content_topic.len() * 6 + message.content_topic.len();
    EVENT_OVERHEAD_BYTES + in_base64 / 3 * 4 + topic
}
