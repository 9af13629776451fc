//! Traffic totals of a host.

/// Traffic totals of a host, in bytes on the wire and in packets.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct TrafficTotals {
    /// Bytes sent, including acknowledgements and packets that were lost on the way.
    pub sent_bytes: u64,
    /// Bytes that passed the downlink, including acknowledgements.
    pub received_bytes: u64,
    /// Packets with data that were sent.
    pub sent_packets: u64,
    /// Packets with data that passed the downlink.
    pub received_packets: u64,
    /// Packets with data that were lost on the way or dropped by the queue.
    pub lost_packets: u64,
    /// Packets that were retransmitted.
    pub repaired_packets: u64,
    /// Packets whose connection was closed while they were in transit.
    pub orphaned_packets: u64,
}
