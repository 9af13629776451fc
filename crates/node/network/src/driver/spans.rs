//! Spans of messages, made from what the event loop sees. Without traces, every call returns at once.

use std::collections::BTreeMap;
use std::time::Instant;

use libp2p::PeerId;
use undertone_gossip::{Class, MessageId, QueuedFrame, RequestId};
use undertone_message::{PubsubTopic, WakuMessage};
use undertone_relay::{ProofTicket, PublishError, Published};

use crate::handle::Delivery;
use crate::traces::{SpanId, SpanKind, SpanValue, TraceId, TraceSpan, TraceTotals, Tracer};

/// Maximum length of a failure reason, bytes. The reason of a failed dial names every address that was tried.
const FAILURE_BYTES_MAX: usize = 256;

/// Creates the spans of messages.
#[derive(Default)]
pub(crate) struct MessageTraces {
    tracer: Option<Tracer>,
    /// Proofs being checked, each with its start time; the relay bounds their number.
    checking: BTreeMap<ProofTicket, Instant>,
    /// The check whose verdict the relay is handling.
    checked: Option<TimeSpan>,
    /// Own messages being published; the relay bounds their number.
    publishing: BTreeMap<RequestId, PublishingSpan>,
    /// Memory address of the frame queued last, which all copies of a message share, and how often it was queued.
    copies: (usize, usize),
}

#[derive(Clone, Copy)]
struct TimeSpan {
    start: Instant,
    end: Instant,
}

struct PublishingSpan {
    start: Instant,
    topic: String,
    payload_bytes: usize,
    proof: Option<TimeSpan>,
}

impl MessageTraces {
    pub(crate) fn new(tracer: Option<Tracer>) -> Self {
        Self {
            tracer,
            ..Self::default()
        }
    }

    pub(crate) fn totals(&self) -> Option<TraceTotals> {
        self.tracer.as_ref().map(Tracer::totals)
    }

    /// Records that a proof goes to the threads that check proofs.
    pub(crate) fn checking(&mut self, ticket: ProofTicket) {
        if self.tracer.is_some() {
            self.checking.insert(ticket, Instant::now());
        }
    }

    /// Records that a proof no longer needs to be checked.
    pub(crate) fn unchecked(&mut self, ticket: ProofTicket) {
        self.checking.remove(&ticket);
    }

    /// Records that the verdict on a proof has arrived. The relay's next report is about the message with that proof.
    pub(crate) fn verdict(&mut self, ticket: ProofTicket) {
        let started = self.checking.remove(&ticket);
        let end = || Instant::now();
        self.checked = started.map(|start| TimeSpan { start, end: end() });
    }

    /// Records that the relay has handled the verdict.
    pub(crate) fn verdict_settled(&mut self) {
        self.checked = None;
    }

    /// Records that a frame is queued for a peer.
    pub(crate) fn copied(&mut self, frame: &QueuedFrame) {
        if self.tracer.is_none() || frame.class != Class::Forward {
            return;
        }
        let address = frame.frame.as_ptr().addr();
        self.copies = match self.copies {
            (last, copies) if last == address => (address, copies + 1),
            _ => (address, 1),
        };
    }

    /// Creates the span of a valid message of a joined topic. Its copies to other peers were queued just before.
    pub(crate) fn delivered(&mut self, delivery: &Delivery) {
        let (_, copies) = std::mem::take(&mut self.copies);
        let checked = self.checked.take();
        let Some((tracer, trace)) = self.sampled(&delivery.id) else {
            return;
        };
        // An own message has the span of its publication instead.
        let Some(from) = delivery.from else {
            return;
        };
        let (topic, message) = (delivery.pubsub_topic.to_string(), &delivery.message);
        let mut attributes = attributes_of(&delivery.id, topic, message.payload.len());
        attributes.push(("network.peer.id", from.into()));
        attributes.push(("undertone.copies", copies.into()));
        let span = TraceSpan {
            parent: Some(SpanId::of_message(trace, &from)),
            start: delivery.received,
            end: delivery.validated,
            attributes,
            ..message_span(tracer, trace, "message", SpanKind::Consumer)
        };
        give_with(tracer, span, "check proof", checked);
    }

    /// Creates the span of a peer's message that was dropped.
    pub(crate) fn rejected(&mut self, id: &MessageId, from: Option<PeerId>, reason: &'static str) {
        let checked = self.checked.take();
        let Some((tracer, trace)) = self.sampled(id) else {
            return;
        };
        let mut attributes = vec![("messaging.message.id", hex::encode(id.0).into())];
        attributes.extend(from.map(|from| ("network.peer.id", from.into())));
        let mut span = TraceSpan {
            parent: from.map(|from| SpanId::of_message(trace, &from)),
            attributes,
            failure: Some(reason.into()),
            ..message_span(tracer, trace, "message", SpanKind::Consumer)
        };
        span.start = checked.map_or(span.start, |checked| checked.start);
        give_with(tracer, span, "check proof", checked);
    }

    /// Records that an own message is passed to the relay.
    pub(crate) fn publishing(
        &mut self,
        request: RequestId,
        topic: &PubsubTopic,
        message: &WakuMessage,
    ) {
        if self.tracer.is_some() {
            let publishing = PublishingSpan {
                start: Instant::now(),
                topic: topic.to_string(),
                payload_bytes: message.payload.len(),
                proof: None,
            };
            self.publishing.insert(request, publishing);
        }
    }

    /// Records that the proof of an own message, requested at `start`, is ready.
    pub(crate) fn proved(&mut self, request: RequestId, start: Instant) {
        if let Some(publishing) = self.publishing.get_mut(&request) {
            let end = Instant::now();
            publishing.proof = Some(TimeSpan { start, end });
        }
    }

    /// Creates the span of an own message that was sent or refused.
    pub(crate) fn published(
        &mut self,
        request: RequestId,
        outcome: &Result<Published, PublishError>,
    ) {
        let Some(publishing) = self.publishing.remove(&request) else {
            return;
        };
        let Some(tracer) = &self.tracer else {
            return;
        };
        // A message that was refused has no id.
        let trace = match outcome {
            Ok(published) => tracer.of_message(&published.id),
            Err(_) => tracer.of_its_own(),
        };
        let Some(trace) = trace else {
            return;
        };
        let PublishingSpan {
            start,
            topic,
            payload_bytes,
            proof,
        } = publishing;
        let mut span = message_span(tracer, trace, "publish", SpanKind::Producer);
        span.start = start;
        match outcome {
            Ok(Published { id, peers, .. }) => {
                span.attributes = attributes_of(id, topic, payload_bytes);
                span.attributes.push(("undertone.copies", (*peers).into()));
            }
            Err(error) => {
                span.attributes = vec![("messaging.destination.name", topic.into())];
                span.failure = Some(shortened(error.to_string()).into());
            }
        }
        give_with(tracer, span, "make proof", proof);
    }

    fn sampled(&self, id: &MessageId) -> Option<(&Tracer, TraceId)> {
        let tracer = self.tracer.as_ref()?;
        Some((tracer, tracer.of_message(id)?))
    }
}

/// Returns the node's span of a message, which begins and ends now.
fn message_span(tracer: &Tracer, trace: TraceId, name: &'static str, kind: SpanKind) -> TraceSpan {
    let now = Instant::now();
    TraceSpan {
        trace,
        id: SpanId::of_message(trace, &tracer.own()),
        parent: None,
        name,
        kind,
        start: now,
        end: now,
        attributes: Vec::new(),
        failure: None,
    }
}

/// Exports a span and, for its proof, a child span.
fn give_with(tracer: &Tracer, span: TraceSpan, name: &'static str, proof: Option<TimeSpan>) {
    if let Some(TimeSpan { start, end }) = proof {
        tracer.give(TraceSpan {
            trace: span.trace,
            id: tracer.span_id(),
            parent: Some(span.id),
            name,
            kind: SpanKind::Internal,
            start,
            end,
            attributes: Vec::new(),
            failure: None,
        });
    }
    tracer.give(span);
}

/// Returns the attributes of a message, named by OpenTelemetry's messaging conventions.
fn attributes_of(
    id: &MessageId,
    topic: String,
    payload_bytes: usize,
) -> Vec<(&'static str, SpanValue)> {
    vec![
        ("messaging.system", "waku".into()),
        ("messaging.destination.name", topic.into()),
        ("messaging.message.id", hex::encode(id.0).into()),
        ("messaging.message.body.size", payload_bytes.into()),
    ]
}

/// Returns the beginning of a failure reason, at most [`FAILURE_BYTES_MAX`] bytes.
pub(super) fn shortened(mut reason: String) -> String {
    let mut len = reason.len().min(FAILURE_BYTES_MAX);
    while !reason.is_char_boundary(len) {
        len -= 1;
    }
    reason.truncate(len);
    reason
}

#[cfg(test)]
#[path = "tests/spans.rs"]
mod tests;
