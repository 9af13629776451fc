//! OTLP requests (OpenTelemetry protocol 1.x, `ExportTraceServiceRequest`) in protobuf, and their responses.

use std::time::{Instant, SystemTime, UNIX_EPOCH};

use libp2p::PeerId;
use undertone_wire::{
    FieldReader, FieldValue, put_bytes_field, put_fixed64_field, put_varint_field,
};

use super::{SpanValue, TraceSpan};

/// Status of a span that failed.
const STATUS_ERROR: u64 = 2;

/// Wall clock and monotonic clock, read at the same time.
#[derive(Clone, Copy, Debug)]
pub(super) struct ClockPair {
    pub(super) moment: Instant,
    pub(super) unix_ns: u64,
}

impl ClockPair {
    pub(super) fn read() -> Self {
        let since_1970 = SystemTime::now().duration_since(UNIX_EPOCH);
        let since_1970 = since_1970.unwrap_or_default();
        Self {
            moment: Instant::now(),
            unix_ns: u64::try_from(since_1970.as_nanos()).unwrap_or(u64::MAX),
        }
    }

    fn unix_ns(self, moment: Instant) -> u64 {
        let ns = |time: std::time::Duration| u64::try_from(time.as_nanos()).unwrap_or(u64::MAX);
        match moment.checked_duration_since(self.moment) {
            Some(later) => self.unix_ns.saturating_add(ns(later)),
            None => {
                let earlier = self.moment.saturating_duration_since(moment);
                self.unix_ns.saturating_sub(ns(earlier))
            }
        }
    }
}

/// Encodes a request with spans of the node `own`.
pub(super) fn request(own: &PeerId, spans: &[TraceSpan], clock: ClockPair) -> Vec<u8> {
    let mut resource = Vec::new();
    let id = own.to_string();
    for (key, value) in [
        ("service.name", "undertone"),
        ("service.version", env!("CARGO_PKG_VERSION")),
        ("service.instance.id", &id),
    ] {
        put_message(&mut resource, 1, |out| put_text(out, key, value));
    }
    let mut resource_spans = Vec::new();
    put_bytes_field(&mut resource_spans, 1, &resource);
    put_bytes_field(&mut resource_spans, 2, &scope_spans(spans, clock));
    let mut request = Vec::new();
    put_bytes_field(&mut request, 1, &resource_spans);
    request
}

/// Encodes spans with their instrumentation scope (`ScopeSpans`).
fn scope_spans(spans: &[TraceSpan], clock: ClockPair) -> Vec<u8> {
    let mut out = Vec::new();
    put_message(&mut out, 1, |out| {
        put_bytes_field(out, 1, b"undertone-node");
    });
    for span in spans {
        put_message(&mut out, 2, |out| put_span(out, span, clock));
    }
    out
}

/// Returns the number of spans that the collector refused, read from its `ExportTraceServiceResponse`; 0 if the
/// response is unreadable.
pub(super) fn refused(answer: &[u8]) -> u64 {
    let partial = |(number, value)| match (number, value) {
        (1, FieldValue::Bytes(partial)) => Some(partial),
        _ => None,
    };
    let count = |(number, value)| match (number, value) {
        (1, FieldValue::Varint(count)) => Some(count),
        _ => None,
    };
    fields(answer)
        .find_map(partial)
        .and_then(|partial| fields(partial).find_map(count))
        .unwrap_or(0)
}

/// Returns the fields of a message, up to the first unreadable one.
fn fields(message: &[u8]) -> impl Iterator<Item = (u32, FieldValue<'_>)> {
    let mut reader = FieldReader::new(message);
    std::iter::from_fn(move || reader.field().ok().flatten())
}

fn put_span(out: &mut Vec<u8>, span: &TraceSpan, clock: ClockPair) {
    put_bytes_field(out, 1, &span.trace.0);
    put_bytes_field(out, 2, &span.id.0);
    if let Some(parent) = &span.parent {
        put_bytes_field(out, 4, &parent.0);
    }
    put_bytes_field(out, 5, span.name.as_bytes());
    put_varint_field(out, 6, span.kind as u64);
    put_fixed64_field(out, 7, clock.unix_ns(span.start));
    put_fixed64_field(out, 8, clock.unix_ns(span.end));
    for (key, value) in &span.attributes {
        put_message(out, 9, |out| match value {
            SpanValue::Text(text) => put_text(out, key, text),
            SpanValue::Number(number) => put_number(out, key, *number),
        });
    }
    if let Some(failure) = &span.failure {
        put_message(out, 15, |out| {
            put_bytes_field(out, 2, failure.as_bytes());
            put_varint_field(out, 3, STATUS_ERROR);
        });
    }
}

fn put_text(out: &mut Vec<u8>, key: &str, text: &str) {
    put_bytes_field(out, 1, key.as_bytes());
    put_message(out, 2, |out| put_bytes_field(out, 1, text.as_bytes()));
}

fn put_number(out: &mut Vec<u8>, key: &str, number: u64) {
    put_bytes_field(out, 1, key.as_bytes());
    put_message(out, 2, |out| put_varint_field(out, 3, number));
}

/// Appends an embedded message.
fn put_message(out: &mut Vec<u8>, number: u32, fill: impl FnOnce(&mut Vec<u8>)) {
    let mut message = Vec::new();
    fill(&mut message);
    put_bytes_field(out, number, &message);
}

#[cfg(test)]
#[path = "tests/otlp.rs"]
mod tests;
