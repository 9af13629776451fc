//! Traces by OpenTelemetry: spans of what the node does, given to a collector by OTLP over HTTP. Off by default.
//!
//! The id of a message's trace follows from its gossip id, and the id of the span that a node makes of it from that and the
//! node's identity. So all nodes give their spans of one message to one trace, each below the span of the peer that sent the
//! first copy, and nothing of it is on the wire; and all of them sample the same messages.

mod exporter;
mod otlp;
mod queue;
mod request;
mod span;

use std::sync::Arc;

use libp2p::PeerId;
use parking_lot::Mutex;
use rand_chacha::ChaCha8Rng;
use rand_chacha::rand_core::{RngCore as _, SeedableRng as _};
use undertone_gossip::MessageId;

pub use exporter::TraceExporter;
use queue::SpanQueue;
pub use queue::TraceTotals;
pub use request::RequestSpan;
pub use span::SpanKind;
pub(crate) use span::{SpanId, SpanValue, TraceId, TraceSpan};

/// Settings of traces.
#[derive(Clone, Debug, PartialEq)]
pub struct TraceConfig {
    /// URL to which spans are posted, `http` or `https`.
    pub url: String,
    /// Share of traces that are given, 0 to 1.
    pub sampled_share: f64,
}

/// Giver of spans; clones share one queue. A span that finds the queue full is dropped and counted.
#[derive(Clone)]
pub struct Tracer {
    queue: Arc<SpanQueue>,
    own: PeerId,
    /// Traces whose id, as a number, is below this are given.
    sampled_below: u64,
    ids: Arc<Mutex<ChaCha8Rng>>,
}

impl Tracer {
    /// Starts the thread that posts spans of the node `own`.
    ///
    /// # Errors
    /// The error of the operating system, without random numbers or a further thread.
    pub fn start(config: &TraceConfig, own: PeerId) -> std::io::Result<(Self, TraceExporter)> {
        let mut seed = [0; 32];
        getrandom::fill(&mut seed)?;
        let tracer = Self::new(config, own, seed);
        let exporter = TraceExporter::start(config.url.clone(), own, tracer.queue.clone())?;
        Ok((tracer, exporter))
    }

    pub(crate) fn new(config: &TraceConfig, own: PeerId, seed: [u8; 32]) -> Self {
        // The cast saturates, so that a share of 1 takes all ids but one.
        let sampled_below = (config.sampled_share * u64::MAX as f64) as u64;
        Self {
            queue: Arc::default(),
            own,
            sampled_below,
            ids: Arc::new(Mutex::new(ChaCha8Rng::from_seed(seed))),
        }
    }

    /// Identity of the node.
    pub(crate) fn own(&self) -> PeerId {
        self.own
    }

    /// Trace of a message, if it is sampled.
    pub(crate) fn of_message(&self, id: &MessageId) -> Option<TraceId> {
        self.sampled(TraceId::of_message(id))
    }

    /// Trace with a new id, if it is sampled.
    pub(crate) fn of_its_own(&self) -> Option<TraceId> {
        let mut id = [0; 16];
        self.ids.lock().fill_bytes(&mut id);
        self.sampled(TraceId(id))
    }

    /// Id of a span that nothing else refers to.
    pub(crate) fn span_id(&self) -> SpanId {
        SpanId(self.ids.lock().next_u64().to_be_bytes())
    }

    /// Gives a span to the exporter; never waits.
    pub(crate) fn give(&self, span: TraceSpan) {
        self.queue.push(span);
    }

    /// Spans that have been given, where nothing takes them.
    #[cfg(test)]
    pub(crate) fn waiting(&self) -> Vec<TraceSpan> {
        self.queue.waiting()
    }

    /// Totals of spans, for metrics.
    pub(crate) fn totals(&self) -> TraceTotals {
        self.queue.totals()
    }

    fn sampled(&self, trace: TraceId) -> Option<TraceId> {
        (trace.as_number() < self.sampled_below).then_some(trace)
    }
}

#[cfg(test)]
#[path = "tests/traces.rs"]
mod tests;
