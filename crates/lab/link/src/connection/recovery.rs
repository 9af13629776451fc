//! Lost packets of a connection, as recorded at its two ends.

use std::collections::BTreeMap;

use super::TcpEndpoint;

/// Lost packets of a burst that must be retransmitted.
#[derive(Debug)]
pub(crate) struct Retransmission<P> {
    pub(crate) seq: u32,
    pub(crate) packets: u32,
    pub(crate) wire_bytes: u64,
    /// That of the burst if nothing of it has arrived, otherwise 0.
    pub(crate) begins_bytes: u64,
    pub(crate) frame: Option<P>,
    pub(crate) tries: u32,
    /// Whether nothing of the burst has arrived.
    pub(crate) whole: bool,
}

/// A burst that arrived incomplete or after a gap in the sequence, or packets of it that were sent again and overtook it.
#[derive(Debug)]
pub(crate) struct HeldBurst<P> {
    /// Missing packets; below 0 if those sent again came first.
    pub(crate) missing: i64,
    /// Whether the burst has arrived, but for these packets.
    pub(crate) has_begun: bool,
    pub(crate) data_bytes: u64,
    pub(crate) ends_mux_frame: bool,
    pub(crate) frame: Option<P>,
}

impl<P> HeldBurst<P> {
    pub(crate) fn new() -> Self {
        Self {
            missing: 0,
            has_begun: false,
            data_bytes: 0,
            ends_mux_frame: false,
            frame: None,
        }
    }

    pub(crate) fn is_complete(&self) -> bool {
        self.has_begun && self.missing <= 0
    }
}

/// Lost packets as recorded at one end of a connection.
#[derive(Debug)]
pub(super) struct Recovery<P> {
    /// Sent packets that were lost.
    repairs: Vec<Retransmission<P>>,
    /// Bursts that arrived incomplete or early, by number.
    pub(super) held: BTreeMap<u32, HeldBurst<P>>,
    /// Packets dropped from the queue after their acknowledgement was planned.
    unacked: u32,
}

impl<P> Recovery<P> {
    pub(super) fn is_over(&self) -> bool {
        self.repairs.is_empty() && self.held.is_empty() && self.unacked == 0
    }
}

impl<P> Default for Recovery<P> {
    fn default() -> Self {
        Self {
            repairs: Vec::new(),
            held: BTreeMap::new(),
            unacked: 0,
        }
    }
}

impl<P> TcpEndpoint<P> {
    /// The retransmission that waits for burst `seq`.
    pub(crate) fn repair_of(&mut self, seq: u32) -> Option<&mut Retransmission<P>> {
        let repairs = &mut self.recovery.get_mut()?.repairs;
        repairs.iter_mut().find(|repair| repair.seq == seq)
    }

    /// Removes and returns the retransmission that waits for burst `seq`.
    pub(crate) fn take_repair(&mut self, seq: u32) -> Option<Retransmission<P>> {
        let repairs = &mut self.recovery.get_mut()?.repairs;
        let at = repairs.iter().position(|repair| repair.seq == seq)?;
        let repair = repairs.remove(at);
        self.recovery.release(Recovery::is_over);
        Some(repair)
    }

    /// Records dropped packets that planned acknowledgements count as arrived.
    pub(crate) fn owe_acks(&mut self, packets: u32) {
        self.recovery.fill().unacked += packets;
    }

    /// Number of packets of a planned acknowledgement, less those dropped in the meantime.
    pub(crate) fn less_owed(&mut self, packets: u32) -> u32 {
        let Some(recovery) = self.recovery.get_mut() else {
            return packets;
        };
        let owed = recovery.unacked.min(packets);
        recovery.unacked -= owed;
        self.recovery.release(Recovery::is_over);
        packets - owed
    }

    pub(crate) fn add_repair(&mut self, repair: Retransmission<P>) {
        self.recovery.fill().repairs.push(repair);
    }
}
