//! Spans of messages, made from what the event loop sees. Without traces, every call returns at once.

use std::collections::BTreeMap;
use std::time::Instant;

use libp2p::PeerId;
use undertone_gossip::{Class, MessageId, QueuedFrame, RequestId};
use undertone_message::{PubsubTopic, WakuMessage};
use undertone_relay::{ProofTicket, PublishError, Published};

use crate::handle::Delivery;
use crate::traces::{SpanId, SpanKind, SpanValue, TraceId, TraceSpan, TraceTotals, Tracer};

/// Longest reason of a failure, bytes; the reason of a failed dial names every address that was tried.
const FAILURE_BYTES_MAX: usize = 256;

/// Maker of the spans.
#[derive(Default)]
pub(crate) struct MessageTraces {
    tracer: Option<Tracer>,
    /// Proofs that are being checked, with the time since when; the relay bounds their number.
    checking: BTreeMap<ProofTicket, Instant>,
    /// Check whose verdict the relay is handling.
    checked: Option<TimeSpan>,
    /// Own messages that are being published; the relay bounds their number.
    publishing: BTreeMap<RequestId, PublishingSpan>,
    /// Address of the frame that was queued last, which all copies of a message share, and how often it was queued.
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

    /// A proof is given to the threads that check proofs.
    pub(crate) fn checking(&mut self, ticket: ProofTicket) {
        if self.tracer.is_some() {
            self.checking.insert(ticket, Instant::now());
        }
    }

    /// A proof need not be checked any more.
    pub(crate) fn unchecked(&mut self, ticket: ProofTicket) {
        self.checking.remove(&ticket);
    }

    /// The verdict on a proof is there; what the relay says of a message next is about the message with that proof.
    pub(crate) fn verdict(&mut self, ticket: ProofTicket) {
        let started = self.checking.remove(&ticket);
        let end = || Instant::now();
        self.checked = started.map(|start| TimeSpan { start, end: end() });
    }

    /// The relay has handled the verdict.
    pub(crate) fn verdict_settled(&mut self) {
        self.checked = None;
    }

    /// A frame is queued for a peer.
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

    /// A valid message of a joined topic; its copies to other peers were queued just before.
    pub(crate) fn delivered(&mut self, delivery: &Delivery) {
        let (_, copies) = std::mem::take(&mut self.copies);
        let checked = self.checked.take();
        let Some((tracer, trace)) = self.sampled(&delivery.id) else {
            return;
        };
        // The span of an own message is that of its publication.
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

    /// A message of a peer that was dropped.
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

    /// An own message is given to the relay.
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

    /// The proof of an own message is made, which was asked for at `start`.
    pub(crate) fn proved(&mut self, request: RequestId, start: Instant) {
        if let Some(publishing) = self.publishing.get_mut(&request) {
            let end = Instant::now();
            publishing.proof = Some(TimeSpan { start, end });
        }
    }

    /// An own message was sent, or refused.
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

/// The node's span of a message, which begins and ends now.
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

/// Gives a span, and one below it for its proof.
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

/// Attributes of a message, by the names that OpenTelemetry has for messaging.
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

/// The beginning of a reason.
pub(super) fn shortened(mut reason: String) -> String {
    let mut len = reason.len().min(FAILURE_BYTES_MAX);
    while !reason.is_char_boundary(len) {
        len -= 1;
    }
    reason.truncate(len);
    reason
}

#[cfg(test)]
#[path = "tests/traced.rs"]
mod tests;
