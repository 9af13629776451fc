//! Transmission times of packets on a link: exact arithmetic without drift.

use super::config::{LinkConfig, Rate};

const NS_PER_S: u64 = 1_000_000_000;

/// A token bucket in virtual-scheduling form. Instead of counting tokens, it keeps the time at which
/// the link will have caught up with all its packets.
#[derive(Clone, Debug)]
pub(super) struct Pacer {
    rate: Rate,
    /// Time by which an idle link may run ahead of its rate: the depth of the bucket.
    burst_ns: u64,
    caught_up_ns: u64,
    /// Fraction of a nanosecond that [`Pacer::caught_up_ns`] leaves out, in units of 1
    /// / rate; below rate.
    carry: u64,
}

impl Pacer {
    /// A pacer for a link; `None` for a link without a rate.
    pub(super) fn new(config: &LinkConfig) -> Option<Self> {
        Some(Self::of(config.rate?, config.burst_bytes))
    }

    pub(super) fn of(rate: Rate, burst_bytes: u32) -> Self {
        Self {
            rate,
            burst_ns: burst_ns(rate, burst_bytes),
            caught_up_ns: 0,
            carry: 0,
        }
    }

    /// Changes the rate of packets taken from now on.
    pub(super) fn set_rate(&mut self, rate: Rate, burst_bytes: u32) {
        self.rate = rate;
        self.burst_ns = burst_ns(rate, burst_bytes);
        // The carry counts in parts of the old rate, and is less than a nanosecond.
        self.carry = 0;
    }

    /// Takes a packet at `now_ns`, when the previous one has left, and returns when this one has left.
    pub(super) fn take(&mut self, now_ns: u64, len_bytes: u32) -> u64 {
        let earliest_ns = now_ns.saturating_sub(self.burst_ns);
        if self.caught_up_ns < earliest_ns {
            self.caught_up_ns = earliest_ns;
            self.carry = 0;
        }
        // At most 2^32 * 10^9 + 10^18 < 2^64.
        let work = u64::from(len_bytes) * NS_PER_S + self.carry;
        let rate = self.rate.as_bytes_per_s();
        self.caught_up_ns = self.caught_up_ns.saturating_add(work / rate);
        self.carry = work % rate;
        self.caught_up_ns.max(now_ns)
    }
}

fn burst_ns(rate: Rate, burst_bytes: u32) -> u64 {
    let ns = u128::from(burst_bytes) * u128::from(NS_PER_S) / u128::from(rate.as_bytes_per_s());
    u64::try_from(ns).unwrap_or(u64::MAX)
}
