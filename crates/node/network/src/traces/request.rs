//! Spans of service requests, from peers and to peers.

use std::error::Error;
use std::time::Instant;

use libp2p::PeerId;

use super::{SpanKind, TraceId, TraceSpan, Tracer};

/// Maximum length of a failure reason, characters.
const FAILURE_CHARS_MAX: usize = 256;

/// Span of a request in progress. It is empty without traces or outside the sample.
pub struct RequestSpan(Option<Begun>);

struct Begun {
    tracer: Tracer,
    trace: TraceId,
    kind: SpanKind,
    peer: PeerId,
    protocol: String,
    request_bytes: usize,
    start: Instant,
}

impl RequestSpan {
    /// Begins the span of a request by `protocol`, from or to `peer`.
    pub fn begin(
        tracer: Option<&Tracer>,
        kind: SpanKind,
        peer: PeerId,
        protocol: impl AsRef<str>,
    ) -> Self {
        let sampled = tracer.and_then(|tracer| Some((tracer, tracer.of_its_own()?)));
        Self(sampled.map(|(tracer, trace)| Begun {
            tracer: tracer.clone(),
            trace,
            kind,
            peer,
            protocol: protocol.as_ref().to_owned(),
            request_bytes: 0,
            start: Instant::now(),
        }))
    }

    /// Sets the length of the request, bytes.
    pub fn with_request(mut self, request_bytes: usize) -> Self {
        if let Some(begun) = &mut self.0 {
            begun.request_bytes = request_bytes;
        }
        self
    }

    /// Ends the span and exports it.
    pub fn end(self, failure: Option<&impl Error>) {
        let Some(begun) = self.0 else {
            return;
        };
        let reason = failure.map(|failure| {
            let reason: String = failure
                .to_string()
                .chars()
                .take(FAILURE_CHARS_MAX)
                .collect();
            reason.into()
        });
        begun.tracer.give(TraceSpan {
            trace: begun.trace,
            id: begun.tracer.span_id(),
            parent: None,
            name: "request",
            kind: begun.kind,
            start: begun.start,
            end: Instant::now(),
            attributes: vec![
                ("rpc.system", "waku".into()),
                ("rpc.service", begun.protocol.into()),
                ("network.peer.id", begun.peer.into()),
                ("rpc.request.size", begun.request_bytes.into()),
            ],
            failure: reason,
        });
    }
}
