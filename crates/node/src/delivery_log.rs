//! What a node delivered and when, a line of JSON for each message, for measurements.
//!
//! Times are nanoseconds of the system's monotonic clock, which all processes of a machine share and
//! which nobody sets: the logs of several nodes can be laid beside each other. A line is written at
//! once, so that a node that is killed has logged what it delivered.

use std::fs::{File, OpenOptions};
use std::io::{self, Write};
use std::path::Path;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Instant;

use rustix::time::{ClockId, clock_gettime};
use serde::{Deserialize, Serialize};
use tokio::sync::mpsc;

use crate::driver::{NodeEvent, TimedEvent};
use crate::handle::{Delivery, MessageSink};

/// One line.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "event", rename_all = "snake_case")]
pub enum Line {
    /// A valid message of a topic that the node takes part in.
    Delivered {
        /// Gossip id: the hash of its bytes on the wire, hex. The same at every node.
        id: String,
        /// Where it was published.
        content_topic: String,
        /// Bytes of its payload.
        payload_bytes: usize,
        /// The peer that sent the first copy; none for our own.
        from: Option<String>,
        /// When the first copy was complete here; for our own, when it was sent.
        received_ns: u64,
        /// When it was found valid.
        validated_ns: u64,
    },
    /// A proof for a message of our own. It is the one of the next own message that is delivered.
    Proved {
        /// When it was asked for.
        asked_ns: u64,
        /// When it was there.
        made_ns: u64,
    },
}

/// The file, shared by who writes to it.
#[derive(Clone, Debug)]
pub struct DeliveryLog {
    file: Arc<Mutex<File>>,
    clock: MonotonicNs,
}

impl DeliveryLog {
    /// Appends to a file, which is made if it is not there.
    ///
    /// # Errors
    /// What the system says.
    pub fn open(path: &Path) -> io::Result<Self> {
        let file = OpenOptions::new().create(true).append(true).open(path)?;
        Ok(Self {
            file: Arc::new(Mutex::new(file)),
            clock: MonotonicNs::now(),
        })
    }

    /// Where a node's events go, of which those about proofs are written. Needs a runtime.
    pub(crate) fn follow(&self) -> mpsc::UnboundedSender<TimedEvent> {
        let (sender, mut events) = mpsc::unbounded_channel::<TimedEvent>();
        let log = self.clone();
        tokio::spawn(async move {
            while let Some(event) = events.recv().await {
                if let NodeEvent::Proved { asked, made } = event.event {
                    let (asked_ns, made_ns) = (log.clock.of(asked), log.clock.of(made));
                    log.write(&Line::Proved { asked_ns, made_ns });
                }
            }
        });
        sender
    }

    fn write(&self, line: &Line) {
        let mut text = serde_json::to_string(line).expect("numbers, texts and fixed keys only");
        text.push('\n');
        // A writer that panicked wrote its line or did not.
        let mut file = self.file.lock().unwrap_or_else(PoisonError::into_inner);
        if let Err(error) = file.write_all(text.as_bytes()) {
            tracing::error!(%error, "cannot write to the log of deliveries");
        }
    }
}

impl MessageSink for DeliveryLog {
    fn deliver(&self, delivery: &Delivery) -> bool {
        self.write(&Line::Delivered {
            id: hex::encode(delivery.id.0),
            content_topic: delivery.message.content_topic.to_string(),
            payload_bytes: delivery.message.payload.len(),
            from: delivery.from.map(|peer| peer.to_string()),
            received_ns: self.clock.of(delivery.received),
            validated_ns: self.clock.of(delivery.validated),
        });
        true
    }
}

/// Turns moments of this process into nanoseconds that all processes of the machine understand.
#[derive(Clone, Copy, Debug)]
pub struct MonotonicNs {
    moment: Instant,
    moment_ns: u64,
}

impl MonotonicNs {
    /// Reads both clocks, so that moments are as exact as two reads are close.
    pub fn now() -> Self {
        let moment = Instant::now();
        let time = clock_gettime(ClockId::Monotonic);
        let seconds = u64::try_from(time.tv_sec).unwrap_or(0);
        let ns = u64::try_from(time.tv_nsec).unwrap_or(0);
        Self {
            moment,
            moment_ns: seconds.saturating_mul(1_000_000_000).saturating_add(ns),
        }
    }

    /// A moment before or after.
    pub fn of(self, moment: Instant) -> u64 {
        let ns = |time: std::time::Duration| u64::try_from(time.as_nanos()).unwrap_or(u64::MAX);
        match moment.checked_duration_since(self.moment) {
            Some(later) => self.moment_ns.saturating_add(ns(later)),
            None => {
                let earlier = self.moment.saturating_duration_since(moment);
                self.moment_ns.saturating_sub(ns(earlier))
            }
        }
    }

    /// The moment at which this was made.
    pub fn as_ns(self) -> u64 {
        self.moment_ns
    }
}

#[cfg(test)]
mod tests;
