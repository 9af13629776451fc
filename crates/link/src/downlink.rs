//! The last hop to a host: bursts of several senders meet in one first-in-first-out queue.
//!
//! Between two events the queue is a fluid: every burst flows in evenly from its first to its last
//! packet, the link drains at its rate. That is exact up to a packet for a FIFO queue, and costs
//! two events per burst however many packets it has.

use crate::rate::Rate;

/// What happens to packets that wait.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Discipline {
    /// First in, first out; what does not fit is dropped.
    Fifo {
        /// Room, bytes.
        max_bytes: u64,
    },
    /// `CoDel` (RFC 8289).
    CoDel {
        /// Wait that is tolerated, nanoseconds.
        target_ns: u64,
        /// For how long more is, nanoseconds.
        interval_ns: u64,
    },
}

/// A burst that is flowing in.
#[derive(Clone, Copy, Debug)]
struct Inflow {
    burst: u64,
    /// Nanoseconds of the link's time that flow in per nanosecond.
    load: f64,
    /// Nanoseconds of the link's time that were dropped.
    dropped: f64,
}

/// The controlled-delay state.
#[derive(Clone, Copy, Debug, Default)]
struct CoDel {
    /// When the wait will have been too long for an interval.
    above_since: Option<f64>,
    dropping: bool,
    drop_next: f64,
    count: u32,
    /// `count` when dropping last began.
    last_count: u32,
}

/// Queue and link.
#[derive(Clone, Debug)]
pub(crate) struct Downlink {
    ns_per_byte: f64,
    discipline: Discipline,
    /// Work that waits, nanoseconds; below zero: what may pass at once.
    backlog: f64,
    floor: f64,
    at: f64,
    inflows: Vec<Inflow>,
    codel: CoDel,
    packet_bytes: f64,
    step_ns: u64,
}

impl Downlink {
    pub(crate) fn new(rate: &Rate, discipline: Discipline) -> Self {
        let floor = -(rate.at_once_bytes() as f64) * rate.ns_per_byte();
        Self {
            ns_per_byte: rate.ns_per_byte(),
            discipline,
            backlog: floor,
            floor,
            at: 0.0,
            inflows: Vec::new(),
            codel: CoDel::default(),
            packet_bytes: 1500.0,
            step_ns: rate.step_ns(),
        }
    }

    pub(crate) fn set_rate(&mut self, now_ns: u64, rate: &Rate) {
        self.advance(now_ns);
        let scale = rate.ns_per_byte() / self.ns_per_byte;
        self.ns_per_byte = rate.ns_per_byte();
        self.backlog *= scale;
        for inflow in &mut self.inflows {
            inflow.load *= scale;
        }
    }

    /// A burst begins to arrive; its last packet is `lasts_ns` away.
    pub(crate) fn begin(&mut self, now_ns: u64, burst: u64, bytes: u64, lasts_ns: u64) {
        self.advance(now_ns);
        let work = bytes as f64 * self.ns_per_byte;
        self.inflows.push(Inflow {
            burst,
            load: work / lasts_ns.max(1) as f64,
            dropped: 0.0,
        });
    }

    /// Its last packet has arrived. Returns when that packet has passed the link, and how many of
    /// the burst were dropped.
    pub(crate) fn end(&mut self, now_ns: u64, burst: u64) -> (u64, u32) {
        self.advance(now_ns);
        let at = self.inflows.iter().position(|i| i.burst == burst);
        let dropped = at.map_or(0.0, |at| self.inflows.remove(at).dropped);
        let packet = self.packet_bytes * self.ns_per_byte;
        (self.passed_at(now_ns), (dropped / packet).round() as u32)
    }

    /// Packets that arrive all at once; returns when the last of them has passed the link.
    pub(crate) fn at_once(&mut self, now_ns: u64, bytes: u64) -> u64 {
        self.advance(now_ns);
        self.backlog += bytes as f64 * self.ns_per_byte;
        self.passed_at(now_ns)
    }

    /// Nanoseconds that `bytes` take to pass.
    pub(crate) fn time_ns(&self, bytes: u64) -> u64 {
        (bytes as f64 * self.ns_per_byte) as u64
    }

    /// How long a packet that arrives now waits, nanoseconds.
    pub(crate) fn wait_ns(&self) -> u64 {
        self.backlog.max(0.0) as u64
    }

    /// With steps, what waits for less than one is no queue: sender and receiver count the same
    /// steps, so what the sender let pass in one passes here in the same.
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
        match self.discipline {
            Discipline::Fifo { max_bytes } => {
                let excess = self.backlog - max_bytes as f64 * self.ns_per_byte;
                if excess > 0.0 {
                    self.backlog -= excess;
                    self.charge(excess, load);
                }
            }
            Discipline::CoDel {
                target_ns,
                interval_ns,
            } => self.control_delay(before, slope, now, target_ns as f64, interval_ns as f64),
        }
        self.at = now;
    }

    /// Drops by RFC 8289 what it would have dropped since the last event, taking the wait to have
    /// changed evenly. A drop is charged to the bursts that were arriving then.
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
        let load: f64 = self.inflows.iter().map(|i| i.load).sum();
        let codel = &mut self.codel;
        let mut drops = 0u32;
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
            drops += 1;
        }
        while codel.dropping && codel.drop_next <= until {
            drops += 1;
            codel.count += 1;
            codel.drop_next += interval / f64::from(codel.count).sqrt();
        }
        if !is_above {
            codel.above_since = None;
            codel.dropping = false;
        }
        if drops > 0 {
            let work = f64::from(drops) * packet;
            self.backlog = (self.backlog - work).max(self.floor);
            self.charge(work, load);
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
mod tests;
