//! What is under way and the window that bounds it.

use std::collections::VecDeque;

use crate::profile::{Idle, Profile};

/// Packets sent together.
#[derive(Clone, Copy, Debug)]
struct Flight {
    packets: u32,
    /// When their acknowledgement comes, or `u64::MAX` while the receiver is to say.
    acked_ns: u64,
}

/// Congestion window of one direction of a connection.
///
/// Acknowledgements cost no event unless somebody waits for them: a sender that is not held back by
/// its window takes them to come when an idle network would bring them.
#[derive(Clone, Debug)]
pub(crate) struct Window {
    window: u32,
    threshold: u32,
    receiver: u32,
    in_flight: u32,
    /// How far the window was used: the most packets in flight, and whether they filled it. Both are
    /// of the stretch that ends with packet `used_until`, and begin anew after it.
    most_in_flight: u32,
    limited: bool,
    used_until: u64,
    /// Packets ever sent, and those of them that are no longer in flight.
    sent: u64,
    acked: u64,
    /// What was lost before this packet was sent has been answered for.
    recover_until: u64,
    flights: VecDeque<Flight>,
    /// Packets acknowledged since the window last grew, in congestion avoidance.
    credit: u32,
    last_sent_ns: u64,
}

impl Window {
    /// A window after `acked` packets of set-up.
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
            acked: 0,
            recover_until: 0,
            flights: VecDeque::new(),
            credit: 0,
            last_sent_ns: 0,
        }
    }

    /// Packets that may be sent now.
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

    /// Packets leave; `acked_ns` is when they are acknowledged if nobody hears otherwise.
    pub(crate) fn sent(&mut self, now_ns: u64, packets: u32, acked_ns: u64) {
        self.last_sent_ns = now_ns;
        self.in_flight += packets;
        self.sent += u64::from(packets);
        self.note_use();
        match self.flights.back_mut() {
            // One that comes at the same time, or before what is ahead of it: acknowledgements
            // are in order.
            Some(last) if last.acked_ns >= acked_ns && last.acked_ns != u64::MAX => {
                last.packets += packets;
            }
            _ => self.flights.push_back(Flight { packets, acked_ns }),
        }
    }

    /// Takes in the acknowledgements that have come by now without being told.
    pub(crate) fn advance(&mut self, now_ns: u64, profile: &Profile) {
        while let Some(first) = self.flights.front()
            && first.acked_ns <= now_ns
        {
            let packets = first.packets;
            self.flights.pop_front();
            self.grow(packets, profile);
        }
        if self.flights.is_empty() && self.flights.capacity() > 0 {
            self.flights = VecDeque::new();
        }
    }

    /// The receiver says that it has so many packets more.
    pub(crate) fn acknowledged(&mut self, now_ns: u64, mut packets: u32, profile: &Profile) {
        self.advance(now_ns, profile);
        while packets > 0
            && let Some(at) = self.flights.iter().position(|f| f.acked_ns == u64::MAX)
        {
            let flight = &mut self.flights[at];
            let taken = packets.min(flight.packets);
            flight.packets -= taken;
            packets -= taken;
            if flight.packets == 0 {
                self.flights.remove(at);
            }
            self.grow(taken, profile);
        }
    }

    /// When the next acknowledgement comes that nobody has to tell.
    pub(crate) fn next_ack_ns(&self) -> Option<u64> {
        let first = self.flights.front()?.acked_ns;
        (first != u64::MAX).then_some(first)
    }

    /// Whether the receiver is to say when something arrives: it then has to for what follows, too,
    /// as acknowledgements are in order.
    pub(crate) fn awaits(&self) -> bool {
        self.flights.back().is_some_and(|f| f.acked_ns == u64::MAX)
    }

    /// Packets that the queue before the receiver dropped are no longer under way.
    pub(crate) fn dropped(&mut self, mut packets: u32) {
        for flight in &mut self.flights {
            let taken = packets.min(flight.packets);
            flight.packets -= taken;
            packets -= taken;
            self.in_flight = self.in_flight.saturating_sub(taken);
            self.acked += u64::from(taken);
        }
        self.flights.retain(|f| f.packets > 0);
    }

    /// Remembers how far the window is used, as Linux does (`tcp_cwnd_validate`): that it was full holds
    /// until all that was in flight then is acknowledged and more is sent.
    fn note_use(&mut self) {
        let limited = self.in_flight >= self.window;
        let more = !self.limited && self.in_flight > self.most_in_flight;
        if limited || more || self.acked >= self.used_until {
            self.limited = limited;
            self.most_in_flight = self.in_flight;
            self.used_until = self.sent;
        }
    }

    fn grow(&mut self, packets: u32, profile: &Profile) {
        self.acked += u64::from(packets);
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

    /// Fast retransmit: half the window, and three packets for the three acknowledgements. Once for all
    /// that was in flight together (RFC 6582).
    pub(crate) fn lost(&mut self) {
        if self.acked < self.recover_until {
            return;
        }
        self.recover_until = self.sent;
        self.threshold = (self.window / 2).max(2);
        self.window = self.threshold + 3;
        self.most_in_flight = self.in_flight;
    }

    /// A time-out.
    pub(crate) fn timed_out(&mut self, profile: &Profile) {
        self.threshold = (self.in_flight / 2).max(2);
        self.window = profile.timeout_window_packets;
        self.most_in_flight = 0;
    }

    /// What a silence does to the window before something is sent again.
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
mod tests;
