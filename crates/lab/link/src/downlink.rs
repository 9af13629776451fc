//! The last hop to a host: bursts of several senders meet in one first-in-first-out queue.
//!
//! Between two events the queue is modelled as a fluid: every burst flows in evenly from its first to its
//! last packet, and the link drains at its rate. That is exact up to a packet for a FIFO queue, and costs
//! two events per burst however many packets it has.

use crate::rate::LinkRate;

/// Treatment of packets that wait for the downlink.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum QueueDiscipline {
    /// First in, first out; packets that do not fit are dropped.
    Fifo {
        /// Capacity of the queue, bytes.
        max_bytes: u64,
    },
    /// `CoDel` (RFC 8289): drops packets while the wait stays too long.
    CoDel {
        /// Longest wait that is acceptable (TARGET), nanoseconds.
        target_ns: u64,
        /// How long the wait may exceed the target before the first drop (INTERVAL), nanoseconds.
        interval_ns: u64,
    },
}

/// A burst flowing into the queue, or waiting in it.
#[derive(Clone, Copy, Debug)]
struct Inflow {
    burst: u32,
    /// Work that had arrived at the queue before the burst began.
    from: f64,
    /// Work that had arrived when the burst ended; infinite until it does.
    until: f64,
    /// Work that flows in per nanosecond, as nanoseconds of the link's time.
    load: f64,
    /// Work of the burst that was dropped, as nanoseconds of the link's time.
    dropped: f64,
    /// Share of a packet that the burst is charged with at the next drop, before others.
    due: f64,
}

/// State of the `CoDel` controller.
#[derive(Clone, Copy, Debug, Default)]
struct CoDelState {
    /// Time at which the wait rose above the target; `None` while it is below.
    above_since: Option<f64>,
    dropping: bool,
    drop_next: f64,
    count: u32,
    /// Value of `count` when dropping last began.
    last_count: u32,
}

/// Downlink of a host: the queue and the link.
#[derive(Clone, Debug)]
pub(crate) struct Downlink {
    ns_per_byte: f64,
    discipline: QueueDiscipline,
    /// Waiting work, nanoseconds of the link's time; if negative, work that may pass at once.
    backlog: f64,
    floor: f64,
    at: f64,
    /// Total work that has arrived so far. It identifies the packet at the head of the queue, as the queue is first in,
    /// first out.
    arrived: f64,
    inflows: Vec<Inflow>,
    /// Bursts that have arrived completely but not yet passed. Recorded only for `CoDel`, which may still drop their
    /// packets.
    waiting: Vec<Inflow>,
    codel: CoDelState,
    packet_bytes: f64,
    step_ns: u64,
}

impl Downlink {
    pub(crate) fn new(rate: &LinkRate, discipline: QueueDiscipline) -> Self {
        let floor = -(rate.at_once_bytes() as f64) * rate.ns_per_byte();
        Self {
            ns_per_byte: rate.ns_per_byte(),
            discipline,
            backlog: floor,
            floor,
            at: 0.0,
            arrived: 0.0,
            inflows: Vec::new(),
            waiting: Vec::new(),
            codel: CoDelState::default(),
            packet_bytes: 1500.0,
            step_ns: rate.step_ns(),
        }
    }

    pub(crate) fn set_rate(&mut self, now_ns: u64, rate: &LinkRate) {
        self.advance(now_ns);
        let scale = rate.ns_per_byte() / self.ns_per_byte;
        self.ns_per_byte = rate.ns_per_byte();
        self.backlog *= scale;
        self.arrived *= scale;
        for inflow in self.inflows.iter_mut().chain(&mut self.waiting) {
            inflow.load *= scale;
            inflow.from *= scale;
            inflow.until *= scale;
            inflow.dropped *= scale;
        }
    }

    /// Begins the arrival of a burst whose last packet arrives `lasts_ns` later.
    pub(crate) fn begin(&mut self, now_ns: u64, burst: u32, bytes: u64, lasts_ns: u64) {
        self.advance(now_ns);
        let work = bytes as f64 * self.ns_per_byte;
        // Most of a million hosts have one burst at a time.
        self.inflows.reserve_exact(1);
        self.inflows.push(Inflow {
            burst,
            from: self.arrived,
            until: f64::INFINITY,
            load: work / lasts_ns.max(1) as f64,
            dropped: 0.0,
            due: 0.0,
        });
    }

    /// Ends the arrival of a burst. Returns the time at which its last packet has passed the link, and the number of
    /// its packets dropped so far. If that time is later than now, [`Self::passed`] must be called then.
    pub(crate) fn end(&mut self, now_ns: u64, burst: u32) -> (u64, u32) {
        self.advance(now_ns);
        let passed_ns = self.passed_at(now_ns);
        let at = self.inflows.iter().position(|i| i.burst == burst);
        let Some(mut inflow) = at.map(|at| self.inflows.remove(at)) else {
            return (passed_ns, 0);
        };
        let dropped = self.dropped_packets(&inflow);
        if passed_ns > now_ns && matches!(self.discipline, QueueDiscipline::CoDel { .. }) {
            inflow.until = self.arrived;
            inflow.dropped = 0.0;
            self.waiting.reserve_exact(1);
            self.waiting.push(inflow);
        }
        (passed_ns, dropped)
    }

    /// Ends the wait of a burst in the queue. Returns the number of its packets that were dropped since it arrived.
    pub(crate) fn passed(&mut self, now_ns: u64, burst: u32) -> u32 {
        let Some(at) = self.waiting.iter().position(|i| i.burst == burst) else {
            return 0;
        };
        if self.may_have_dropped(now_ns) {
            self.advance(now_ns);
        }
        let inflow = self.waiting.remove(at);
        if self.waiting.is_empty() {
            self.waiting = Vec::new();
        }
        self.dropped_packets(&inflow)
    }

    /// Whether packets may have been dropped since the last event: the wait was or is above the target.
    fn may_have_dropped(&self, now_ns: u64) -> bool {
        let QueueDiscipline::CoDel { target_ns, .. } = self.discipline else {
            return false;
        };
        let load: f64 = self.inflows.iter().map(|i| i.load).sum();
        let wait = self.backlog + (load - 1.0) * (now_ns as f64 - self.at);
        self.codel.above_since.is_some() || wait > target_ns as f64
    }

    fn dropped_packets(&self, inflow: &Inflow) -> u32 {
        (inflow.dropped / (self.packet_bytes * self.ns_per_byte)).round() as u32
    }

    /// Adds packets that arrive all at once; returns the time at which the last of them
    /// has passed the link.
    pub(crate) fn at_once(&mut self, now_ns: u64, bytes: u64) -> u64 {
        self.advance(now_ns);
        let work = bytes as f64 * self.ns_per_byte;
        self.backlog += work;
        self.arrived += work;
        self.passed_at(now_ns)
    }

    /// Time that `bytes` bytes take to pass, nanoseconds.
    pub(crate) fn time_ns(&self, bytes: u64) -> u64 {
        (bytes as f64 * self.ns_per_byte) as u64
    }

    /// Wait of a packet that arrives now, nanoseconds.
    pub(crate) fn wait_ns(&self) -> u64 {
        self.backlog.max(0.0) as u64
    }

    /// Time at which a packet arriving now has passed the link. With steps, a wait shorter than one step does not
    /// count: sender and receiver use the same steps, so bytes that passed the sender's link in one step pass here in
    /// the same step.
    fn passed_at(&self, now_ns: u64) -> u64 {
        now_ns + self.wait_ns().saturating_sub(self.step_ns)
    }

    fn advance(&mut self, now_ns: u64) {
        let now = now_ns as f64;
        let passed = now - self.at;
        if passed <= 0.0 {
            return;
        }
        let load: f64 = self.inflows.iter().map(|i| i.load).sum();
        let before = self.backlog;
        let slope = load - 1.0;
        self.backlog = (before + slope * passed).max(self.floor);
        self.arrived += load * passed;
        match self.discipline {
            QueueDiscipline::Fifo { max_bytes } => {
                let excess = self.backlog - max_bytes as f64 * self.ns_per_byte;
                if excess > 0.0 {
                    self.backlog -= excess;
                    self.charge(excess, load);
                }
            }
            QueueDiscipline::CoDel {
                target_ns,
                interval_ns,
            } => self.control_delay(before, slope, now, target_ns as f64, interval_ns as f64),
        }
        self.at = now;
    }

    /// Drops the packets that RFC 8289 would have dropped since the last event, assuming that the wait
    /// changed evenly. A dropped packet is the one that was at the head of the queue.
    fn control_delay(&mut self, before: f64, slope: f64, now: f64, target: f64, interval: f64) {
        let (was_above, is_above) = (before > target, self.backlog > target);
        if !was_above && is_above {
            let crossed = self.at + (target - before) / slope;
            self.codel.above_since = Some(crossed);
        }
        let until = if was_above && !is_above {
            // The time at which the wait fell below the target.
            (self.at + (target - before) / slope).min(now)
        } else if is_above {
            now
        } else {
            self.codel.above_since = None;
            self.codel.dropping = false;
            return;
        };
        let packet = self.packet_bytes * self.ns_per_byte;
        let (began, load) = (self.at, slope + 1.0);
        let codel = &mut self.codel;
        let mut drops = 0u32;
        let mut drop_at = Vec::new();
        if !codel.dropping
            && let Some(since) = codel.above_since
            && until >= since + interval
        {
            codel.dropping = true;
            let last = codel.count - codel.last_count;
            let recent = last > 1 && until - codel.drop_next < 16.0 * interval;
            codel.count = if recent { last } else { 1 };
            codel.last_count = codel.count;
            codel.drop_next = since + interval + interval / f64::from(codel.count).sqrt();
            drop_at.push(since + interval);
        }
        while codel.dropping && codel.drop_next <= until {
            drop_at.push(codel.drop_next);
            codel.count += 1;
            codel.drop_next += interval / f64::from(codel.count).sqrt();
        }
        if !is_above {
            codel.above_since = None;
            codel.dropping = false;
        }
        for at in drop_at {
            let later = load * (now - at);
            let wait = before + slope * (at - began) - f64::from(drops) * packet;
            drops += 1;
            self.drop_one(self.arrived - later - wait.max(0.0), packet);
        }
        self.backlog = (self.backlog - f64::from(drops) * packet).max(self.floor);
    }

    /// Charges a dropped packet to one of the bursts arriving when it arrived, in proportion to their rates. `arrived`
    /// is the work that had arrived before the packet.
    fn drop_one(&mut self, arrived: f64, packet: f64) {
        let bursts = self.waiting.iter_mut().chain(&mut self.inflows);
        let mut arriving: Vec<&mut Inflow> = bursts
            .filter(|burst| burst.from <= arrived && arrived <= burst.until)
            .collect();
        let load: f64 = arriving.iter().map(|burst| burst.load).sum();
        for burst in &mut arriving {
            burst.due += burst.load / load;
        }
        let charged = arriving.into_iter().rev();
        if let Some(burst) = charged.max_by(|a, b| a.due.total_cmp(&b.due)) {
            burst.due -= 1.0;
            burst.dropped += packet;
        }
    }

    fn charge(&mut self, work: f64, load: f64) {
        if load <= 0.0 {
            return;
        }
        for inflow in &mut self.inflows {
            inflow.dropped += work * inflow.load / load;
        }
    }
}

#[cfg(test)]
#[path = "tests/downlink.rs"]
mod tests;
