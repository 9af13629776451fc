//! OpenTelemetry traces: spans of what the node does, exported to a collector by OTLP over HTTP. Off by default.
//!
//! A message's trace id is derived from its gossip id. The id of a node's span is derived from the trace id and the
//! node's identity. So the spans of all nodes for one message belong to one trace, and each span is a child of the span
//! of the peer that sent the first copy. No trace data goes over the wire, and all nodes sample the same messages.

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
    /// Share of traces that are exported, 0 to 1.
    pub sampled_share: f64,
}

/// Exporter of spans; clones share one queue. A span that finds the queue full is dropped and counted.
#[derive(Clone)]
pub struct Tracer {
    queue: Arc<SpanQueue>,
    own: PeerId,
    /// A trace is exported if its id, as a number, is below this.
    sampled_below: u64,
    ids: Arc<Mutex<ChaCha8Rng>>,
}

impl Tracer {
    /// Starts the thread that posts spans of the node `own`.
    ///
    /// # Errors
    /// The operating system's error if it cannot provide random numbers or another thread.
    pub fn start(config: &TraceConfig, own: PeerId) -> std::io::Result<(Self, TraceExporter)> {
        let mut seed = [0; 32];
        getrandom::fill(&mut seed)?;
        let tracer = Self::new(config, own, seed);
        let exporter = TraceExporter::start(config.url.clone(), own, tracer.queue.clone())?;
        Ok((tracer, exporter))
    }

    pub(crate) fn new(config: &TraceConfig, own: PeerId, seed: [u8; 32]) -> Self {
        // The cast saturates, so that a share of 1 includes every id but one.
        let sampled_below = (config.sampled_share * u64::MAX as f64) as u64;
        Self {
            queue: Arc::default(),
            own,
            sampled_below,
            ids: Arc::new(Mutex::new(ChaCha8Rng::from_seed(seed))),
        }
    }

    /// Returns the identity of the node.
    pub(crate) fn own(&self) -> PeerId {
        self.own
    }

    /// Returns the trace of a message, if it is sampled.
    pub(crate) fn of_message(&self, id: &MessageId) -> Option<TraceId> {
        self.sampled(TraceId::of_message(id))
    }

    /// Returns a trace with a new id, if it is sampled.
    pub(crate) fn of_its_own(&self) -> Option<TraceId> {
        let mut id = [0; 16];
        self.ids.lock().fill_bytes(&mut id);
        self.sampled(TraceId(id))
    }

    /// Returns the id of a span that no other span refers to.
    pub(crate) fn span_id(&self) -> SpanId {
        SpanId(self.ids.lock().next_u64().to_be_bytes())
    }

    /// Queues a span for export; never waits.
    pub(crate) fn give(&self, span: TraceSpan) {
        self.queue.push(span);
    }

    /// Returns the queued spans, where no exporter takes them.
    #[cfg(test)]
    pub(crate) fn waiting(&self) -> Vec<TraceSpan> {
        self.queue.waiting()
    }

    /// Returns the totals of spans, for metrics.
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
