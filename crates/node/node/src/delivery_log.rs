//! Log of a node's deliveries and proofs for measurements, one line of JSON each.
//!
//! Times are nanoseconds of the system's monotonic clock. All processes of a machine share that clock and
//! nobody sets it, so the logs of several nodes can be compared. Each line is written at once: a node that is
//! killed has logged everything it delivered.

use std::fs::{File, OpenOptions};
use std::io::{self, Write};
use std::path::Path;
use std::sync::Arc;
use std::time::Instant;

use parking_lot::Mutex;
use rustix::time::{ClockId, clock_gettime};
use serde::{Deserialize, Serialize};
use tokio::sync::mpsc;

use undertone_network::driver::{NodeEvent, TimedEvent};
use undertone_network::handle::{Delivery, MessageSink};

/// One line of the log.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "event", rename_all = "snake_case")]
pub enum DeliveryLine {
    /// Delivery of a valid message of a subscribed topic.
    Delivered {
        /// Gossip message id in hex: the hash of the encoded message, the same at every node. If the message
        /// came in parts, the id of the part that completed it.
        id: String,
        /// Content topic of the message.
        content_topic: String,
        /// Length of the payload, bytes.
        payload_bytes: usize,
        /// Peer that sent the first copy; `None` for an own message.
        from: Option<String>,
        /// Time when the first copy had arrived in full, or when an own message was sent.
        received_ns: u64,
        /// Time when the message was found valid.
        validated_ns: u64,
    },
    /// Proof generated for an own message; it belongs to the next own message that is delivered.
    Proved {
        /// Time when the proof was requested.
        asked_ns: u64,
        /// Time when the proof was ready.
        made_ns: u64,
    },
}

/// Log file, shared by all its writers.
#[derive(Clone, Debug)]
pub struct DeliveryLog {
    file: Arc<Mutex<File>>,
    clock: MonotonicNs,
}

impl DeliveryLog {
    /// Opens a file for appending and creates it if it does not exist.
    ///
    /// # Errors
    /// The error of the operating system if the file cannot be opened.
    pub fn open(path: &Path) -> io::Result<Self> {
        let file = OpenOptions::new().create(true).append(true).open(path)?;
        Ok(Self {
            file: Arc::new(Mutex::new(file)),
            clock: MonotonicNs::now(),
        })
    }

    /// Returns a channel that accepts a node's events and logs those of kind `Proved`. Must be called on a
    /// tokio runtime.
    pub(crate) fn follow(&self) -> mpsc::UnboundedSender<TimedEvent> {
        let (sender, mut events) = mpsc::unbounded_channel::<TimedEvent>();
        let log = self.clone();
        tokio::spawn(async move {
            while let Some(event) = events.recv().await {
                if let NodeEvent::Proved { asked, made } = event.event {
                    let (asked_ns, made_ns) = (log.clock.of(asked), log.clock.of(made));
                    log.write(&DeliveryLine::Proved { asked_ns, made_ns });
                }
            }
        });
        sender
    }

    fn write(&self, line: &DeliveryLine) {
        let mut text = serde_json::to_string(line).expect("numbers, texts and fixed keys only");
        text.push('\n');
        let mut file = self.file.lock();
        if let Err(error) = file.write_all(text.as_bytes()) {
            tracing::error!(%error, "cannot write to the log of deliveries");
        }
    }
}

impl MessageSink for DeliveryLog {
    fn deliver(&self, delivery: &Delivery) -> bool {
        self.write(&DeliveryLine::Delivered {
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

/// Converts instants of this process to monotonic nanoseconds shared by all processes of the machine.
#[derive(Clone, Copy, Debug)]
pub struct MonotonicNs {
    moment: Instant,
    moment_ns: u64,
}

impl MonotonicNs {
    /// Reads both clocks in succession; the conversion is off by at most the time between the reads.
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

    /// Returns the monotonic time of `moment`, nanoseconds. It may lie before or after the time when this
    /// clock was read.
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

    /// Returns the monotonic time at which this clock was read, nanoseconds.
    pub fn as_ns(self) -> u64 {
        self.moment_ns
    }
}

#[cfg(test)]
#[path = "tests/delivery_log.rs"]
mod tests;
