//! The drop decision of CoDel: RFC 8289, section 5, in the RFC's own steps.

use super::config::CoDel;

/// A packet as the control law sees it, taken from the head of the queue.
#[derive(Clone, Copy, Debug)]
pub(super) struct HeadPacket {
    pub(super) waited_ns: u64,
    /// Bytes that are in the queue behind the packet.
    pub(super) left_bytes: u64,
}

/// Decision about the packet at the head of the queue.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum CoDelVerdict {
    Send,
    /// Drop the packet, then ask [`Law::next`] about the one behind it.
    Drop,
}

/// State that RFC 8289 keeps for a queue. One dequeue is a call of [`Law::first`], followed by
/// [`Law::next`] for as long as the verdict is to drop.
#[derive(Clone, Debug)]
pub(super) struct Law {
    config: CoDel,
    /// Time at which the delay will have been above the target for an interval; `None` while it is below.
    first_above_ns: Option<u64>,
    drop_next_ns: u64,
    count: u32,
    last_count: u32,
    dropping: bool,
    /// Whether the previous drop was the one that begins a dropping state.
    entering: bool,
}

impl Law {
    pub(super) fn new(config: CoDel) -> Self {
        Self {
            config,
            first_above_ns: None,
            drop_next_ns: 0,
            count: 0,
            last_count: 0,
            dropping: false,
            entering: false,
        }
    }

    /// Judges the first packet of a dequeue; `head` is `None` when the queue is empty.
    pub(super) fn first(&mut self, now_ns: u64, head: Option<HeadPacket>) -> CoDelVerdict {
        let may_drop = self.may_drop(now_ns, head);
        if self.dropping {
            self.dropping = may_drop;
            return self.due(now_ns);
        }
        if !may_drop {
            return CoDelVerdict::Send;
        }
        self.entering = true;
        CoDelVerdict::Drop
    }

    /// Judges the packet that moved to the head after a drop.
    pub(super) fn next(&mut self, now_ns: u64, head: Option<HeadPacket>) -> CoDelVerdict {
        let may_drop = self.may_drop(now_ns, head);
        if std::mem::take(&mut self.entering) {
            self.enter(now_ns);
            return CoDelVerdict::Send;
        }
        if may_drop {
            self.drop_next_ns = self.control_law(self.drop_next_ns);
        } else {
            self.dropping = false;
        }
        self.due(now_ns)
    }

    /// Decides to drop while in the dropping state if the next drop is due.
    fn due(&mut self, now_ns: u64) -> CoDelVerdict {
        if !self.dropping || now_ns < self.drop_next_ns {
            return CoDelVerdict::Send;
        }
        self.count = self.count.saturating_add(1);
        CoDelVerdict::Drop
    }

    /// Begins a dropping state. If the last one was recent, starts at the drop rate that
    /// controlled the queue then.
    fn enter(&mut self, now_ns: u64) {
        self.dropping = true;
        let delta = self.count.wrapping_sub(self.last_count);
        let since_ns = now_ns.saturating_sub(self.drop_next_ns);
        let recent = since_ns < self.config.interval_ns.saturating_mul(16);
        self.count = if delta > 1 && recent { delta } else { 1 };
        self.drop_next_ns = self.control_law(now_ns);
        self.last_count = self.count;
    }

    /// Whether the head may be dropped: `ok_to_drop` of the RFC's `dodequeue`.
    fn may_drop(&mut self, now_ns: u64, head: Option<HeadPacket>) -> bool {
        let below = head.is_none_or(|head| {
            head.waited_ns < self.config.target_ns
                || head.left_bytes <= u64::from(self.config.max_packet_bytes)
        });
        if below {
            self.first_above_ns = None;
            return false;
        }
        match self.first_above_ns {
            Some(first_above_ns) => now_ns >= first_above_ns,
            None => {
                self.first_above_ns = Some(now_ns.saturating_add(self.config.interval_ns));
                false
            }
        }
    }

    /// Time of the next drop: `from + INTERVAL / sqrt(count)`, rounded down to the nanosecond.
    fn control_law(&self, from_ns: u64) -> u64 {
        let interval_ns = u128::from(self.config.interval_ns);
        let step_ns = (interval_ns * interval_ns / u128::from(self.count.max(1))).isqrt();
        from_ns.saturating_add(u64::try_from(step_ns).expect("the root of a square of 64 bits"))
    }
}
