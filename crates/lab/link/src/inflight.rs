//! Packets in flight and the congestion window that limits them.

use std::num::NonZeroU32;

use crate::flights::{Flight, Flights};
use crate::profile::{Idle, Profile};

/// Congestion window of one direction of a connection.
///
/// Acknowledgements cost no event unless the sender waits for them: a sender that is not held back by its
/// window assumes that they arrive when an idle network would deliver them.
#[derive(Clone, Debug)]
pub(crate) struct Window {
    window: u32,
    threshold: u32,
    receiver: u32,
    in_flight: u32,
    /// Use of the window: the maximum number of packets in flight, and whether they filled it. Both hold
    /// for the period that ends with packet `used_until`, and are then measured again.
    most_in_flight: u32,
    limited: bool,
    used_until: u32,
    /// Packets sent in total. 32 bits suffice: 2^32 packets are more than 6 TB.
    sent: u32,
    /// Packet number up to which the window was already reduced for losses.
    recover_until: u32,
    flights: Flights,
    /// Packets acknowledged since the window last grew, in congestion avoidance.
    credit: u32,
    /// Congestion window for which the send buffer was last sized, packets.
    buffered_for: u32,
    last_sent_ns: u64,
}

impl Window {
    /// A window after a connection set-up in which `acked` packets were acknowledged.
    pub(crate) fn new(profile: &Profile, acked: u32) -> Self {
        let grown = if profile.grows_unfilled { acked } else { 0 };
        Self {
            window: profile.initial_window_packets.saturating_add(grown),
            threshold: u32::MAX,
            receiver: profile.receive_window_packets,
            in_flight: 0,
            most_in_flight: 0,
            limited: false,
            used_until: 0,
            sent: 0,
            recover_until: 0,
            flights: Flights::default(),
            credit: 0,
            buffered_for: profile.initial_window_packets,
            last_sent_ns: 0,
        }
    }

    /// Packets that are in flight.
    pub(crate) fn in_flight(&self) -> u32 {
        self.in_flight
    }

    /// Congestion window for which the send buffer is sized, packets.
    pub(crate) fn buffered_for(&self) -> u32 {
        self.buffered_for
    }

    /// Resizes the send buffer for the congestion window, if that has grown.
    pub(crate) fn expand_buffer(&mut self) {
        self.buffered_for = self.buffered_for.max(self.window);
    }

    /// Sent packets that are no longer in flight.
    fn acked(&self) -> u32 {
        self.sent - self.in_flight
    }

    /// Packets that the window allows to be sent now.
    pub(crate) fn room(&self) -> u32 {
        self.window
            .min(self.receiver)
            .saturating_sub(self.in_flight)
    }

    pub(crate) fn packets(&self) -> u32 {
        self.window
    }

    pub(crate) fn is_idle(&self) -> bool {
        self.in_flight == 0
    }

    /// Records that packets were sent; `acked_ns` is the time of their acknowledgement unless
    /// the receiver reports it.
    pub(crate) fn sent(&mut self, now_ns: u64, packets: u32, acked_ns: u64) {
        self.last_sent_ns = now_ns;
        self.in_flight += packets;
        self.sent += packets;
        self.note_use();
        let Some(packets) = NonZeroU32::new(packets) else {
            return;
        };
        match self.flights.last_mut() {
            // An acknowledgement due at the same time as the previous one or before it: acknowledgements
            // are in order.
            Some(last) if last.acked_ns >= acked_ns && last.acked_ns != u64::MAX => {
                last.packets = last.packets.saturating_add(packets.get());
            }
            _ => self.flights.push(Flight { packets, acked_ns }),
        }
    }

    /// Processes the assumed acknowledgements that have arrived by now.
    pub(crate) fn advance(&mut self, now_ns: u64, profile: &Profile) {
        while let Some(first) = self.flights.first()
            && first.acked_ns <= now_ns
        {
            self.flights.pop();
            self.grow(first.packets.get(), profile);
        }
    }

    /// Processes a report of the receiver that `packets` more packets arrived.
    pub(crate) fn acknowledged(&mut self, now_ns: u64, mut packets: u32, profile: &Profile) {
        self.advance(now_ns, profile);
        while packets > 0
            && let Some(taken) = self.flights.take_reported(packets)
        {
            packets -= taken;
            self.grow(taken, profile);
        }
    }

    /// Time of the next assumed acknowledgement; `None` if the receiver reports it or none is due.
    pub(crate) fn next_ack_ns(&self) -> Option<u64> {
        let first = self.flights.first()?.acked_ns;
        (first != u64::MAX).then_some(first)
    }

    /// Whether the receiver is to report its acknowledgements. If so, it must report those of later
    /// packets too, as acknowledgements are in order.
    pub(crate) fn awaits(&self) -> bool {
        self.flights.last().is_some_and(|f| f.acked_ns == u64::MAX)
    }

    /// Removes packets from flight that the queue before the receiver dropped. Those whose acknowledgement the receiver
    /// reports are taken from such flights: it will not report them.
    pub(crate) fn dropped(&mut self, packets: u32, is_reported: bool) {
        let mut left = packets;
        while is_reported
            && left > 0
            && let Some(taken) = self.flights.take_reported(left)
        {
            left -= taken;
        }
        let taken = packets - left + self.flights.take_first(left);
        self.in_flight = self.in_flight.saturating_sub(taken);
    }

    /// Records how far the window is used, as Linux does (`tcp_cwnd_validate`): the window counts as
    /// filled until everything in flight at that time is acknowledged and more is sent.
    fn note_use(&mut self) {
        let limited = self.in_flight >= self.window;
        let more = !self.limited && self.in_flight > self.most_in_flight;
        if limited || more || self.acked() >= self.used_until {
            self.limited = limited;
            self.most_in_flight = self.in_flight;
            self.used_until = self.sent;
        }
    }

    fn grow(&mut self, packets: u32, profile: &Profile) {
        self.in_flight = self.in_flight.saturating_sub(packets);
        self.receiver = self
            .receiver
            .saturating_add(packets.saturating_mul(profile.receive_window_growth))
            .min(profile.receive_window_max_packets);
        let slow_start = self.window < self.threshold;
        // RFC 7661: a window that was never filled says nothing about the path.
        let filled = if slow_start {
            self.window < self.most_in_flight.saturating_mul(2)
        } else {
            self.window <= self.most_in_flight
        };
        if !(profile.grows_unfilled || self.limited || filled) {
            return;
        }
        if slow_start {
            self.window = self.window.saturating_add(packets);
            return;
        }
        self.credit += packets;
        while self.credit >= self.window {
            self.credit -= self.window;
            self.window += 1;
        }
    }

    /// Fast retransmit: halves the window and adds three packets for the three acknowledgements. Done
    /// once for all packets that were in flight together (RFC 6582).
    pub(crate) fn lost(&mut self) {
        if self.acked() < self.recover_until {
            return;
        }
        self.recover_until = self.sent;
        self.threshold = (self.window / 2).max(2);
        self.window = self.threshold + 3;
        self.most_in_flight = self.in_flight;
    }

    /// Shrinks the window after a retransmission time-out.
    pub(crate) fn timed_out(&mut self, profile: &Profile) {
        self.threshold = (self.in_flight / 2).max(2);
        self.window = profile.timeout_window_packets;
        self.most_in_flight = 0;
    }

    /// Applies the effect of a silence to the window before data is sent again.
    pub(crate) fn resume(&mut self, now_ns: u64, rto_ns: u64, profile: &Profile) {
        if profile.idle == Idle::Keep || !self.is_idle() || self.last_sent_ns == 0 {
            return;
        }
        let mut silent = now_ns.saturating_sub(self.last_sent_ns);
        let floor = profile.initial_window_packets.min(self.window);
        if silent > rto_ns {
            self.threshold = self.threshold.max(self.window / 4 * 3);
        }
        while silent > rto_ns && self.window > floor {
            self.window = (self.window / 2).max(floor);
            silent -= rto_ns;
        }
        self.most_in_flight = 0;
    }
}

#[cfg(test)]
#[path = "tests/inflight.rs"]
mod tests;
