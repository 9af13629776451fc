//! Validation times of the last messages of peers: from arrival until found valid.

use std::collections::VecDeque;
use std::time::{Duration, Instant};

use parking_lot::Mutex;
use serde::Serialize;
use utoipa::ToSchema;

use undertone_network::handle::{Delivery, MessageSink};

#[cfg(test)]
#[path = "tests/validation_times.rs"]
mod tests;

/// Number of messages whose times are kept.
const KEPT_MAX: usize = 512;

/// Validation times of the last messages of peers.
pub(super) struct ValidationTimes {
    started: Instant,
    last: Mutex<VecDeque<Duration>>,
}

/// Validation times of the last messages of peers, microseconds.
#[derive(Debug, Serialize, ToSchema, PartialEq, Eq)]
#[schema(as = ValidationTimes)]
#[serde(rename_all = "camelCase")]
pub(super) struct ValidationSummary {
    /// Number of messages measured, at most 512.
    messages: usize,
    median_us: u64,
    p95_us: u64,
    max_us: u64,
}

impl ValidationTimes {
    pub(super) fn new() -> Self {
        Self {
            started: Instant::now(),
            last: Mutex::default(),
        }
    }

    /// Returns the time since the API was created, milliseconds; the time base for rates of the totals.
    pub(super) fn uptime_ms(&self) -> u64 {
        u64::try_from(self.started.elapsed().as_millis()).unwrap_or(u64::MAX)
    }

    /// Summarises the times; returns `None` before the first message of a peer.
    pub(super) fn summary(&self) -> Option<ValidationSummary> {
        let mut times: Vec<_> = self.last.lock().iter().copied().collect();
        times.sort_unstable();
        let us = |time: Duration| u64::try_from(time.as_micros()).unwrap_or(u64::MAX);
        // Nearest-rank percentile: the smallest time that at least `percent` of all times do not exceed.
        let rank = |percent: usize| {
            let at = (times.len() * percent).div_ceil(100).saturating_sub(1);
            times.get(at).copied().map(us)
        };
        Some(ValidationSummary {
            messages: times.len(),
            median_us: rank(50)?,
            p95_us: rank(95)?,
            max_us: rank(100)?,
        })
    }
}

impl MessageSink for ValidationTimes {
    fn deliver(&self, delivery: &Delivery) -> bool {
        // Own messages are validated when published, which says nothing about the network.
        if delivery.from.is_some() {
            let mut last = self.last.lock();
            if last.len() == KEPT_MAX {
                last.pop_front();
            }
            last.push_back(
                delivery
                    .validated
                    .saturating_duration_since(delivery.received),
            );
        }
        true
    }
}
