//! One direction of a host's link: a queue and the packet being sent.

use super::config::{LinkConfig, Rate};
use super::queue::PacketQueue;
use super::rate::Pacer;

#[derive(Clone, Debug)]
pub(super) struct Shaper<T> {
    queue: PacketQueue<T>,
    /// Rate limiter; `None` if the link has no rate, so that no packet ever waits.
    pacer: Option<Pacer>,
    burst_bytes: u32,
    sending: Option<T>,
}

/// Result of offering a packet to a shaper.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Offered<T> {
    /// The packet leaves at once.
    Through(T),
    /// The packet is being sent and will have left at `until_ns`.
    Sending { until_ns: u64 },
    /// The packet waits in the queue.
    Waits,
    /// The queue is full; the packet is returned.
    Full(T),
}

impl<T> Shaper<T> {
    pub(super) fn new(config: &LinkConfig) -> Self {
        Self {
            queue: PacketQueue::new(config),
            pacer: Pacer::new(config),
            burst_bytes: config.burst_bytes,
            sending: None,
        }
    }

    pub(super) fn offer(&mut self, now_ns: u64, len_bytes: u32, item: T) -> Offered<T> {
        let Some(pacer) = &mut self.pacer else {
            return Offered::Through(item);
        };
        if self.sending.is_none() {
            // The queue is empty: the end of a transmission always starts the next one.
            self.sending = Some(item);
            let until_ns = pacer.take(now_ns, len_bytes);
            return Offered::Sending { until_ns };
        }
        match self.queue.push(now_ns, len_bytes, item) {
            Ok(()) => Offered::Waits,
            Err(item) => Offered::Full(item),
        }
    }

    /// Ends the transmission that was due at `now_ns` and begins the next one. Returns the packet that
    /// left and the time at which the next one will have left.
    pub(super) fn sent(&mut self, now_ns: u64, dropped: impl FnMut(T)) -> (Option<T>, Option<u64>) {
        let left = self.sending.take();
        let until_ns = match (&mut self.pacer, self.queue.pop(now_ns, dropped)) {
            (Some(pacer), Some((len_bytes, item))) => {
                self.sending = Some(item);
                Some(pacer.take(now_ns, len_bytes))
            }
            _ => None,
        };
        (left, until_ns)
    }

    /// Changes the rate for later packets; the packet being sent ends at its time. Returns the packets
    /// that leave at once, because no packet waits on a link without a rate.
    pub(super) fn set_rate(&mut self, rate: Option<Rate>) -> Vec<T> {
        match (rate, &mut self.pacer) {
            (None, _) => {
                self.pacer = None;
                return self.queue.drain();
            }
            (Some(rate), Some(pacer)) => pacer.set_rate(rate, self.burst_bytes),
            (Some(rate), none) => *none = Some(Pacer::of(rate, self.burst_bytes)),
        }
        Vec::new()
    }

    /// Packets in the queue or being sent.
    pub(super) fn len(&self) -> usize {
        self.queue.len() + usize::from(self.sending.is_some())
    }
}
