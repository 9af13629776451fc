//! TCP stacks as data.

/// From so many packets on a window is large, see [`Profile::ack_delay_large_ns`].
pub const LARGE_WINDOW_PACKETS: u32 = 40;

/// How segments of several connections share an uplink.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Sharing {
    /// In the order in which the application wrote them, among those the windows allow.
    WriteOrder,
    /// In turns of so many packets per connection.
    Turns {
        /// Packets.
        packets: u32,
    },
}

/// What happens to a congestion window after a silence of one retransmission time-out.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Idle {
    /// It stays.
    Keep,
    /// It is halved for each time-out that passed, down to the initial window (RFC 2861).
    Decay,
}

/// What a TCP does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Profile {
    /// Bytes of data in a full segment.
    pub segment_bytes: u32,
    /// Bytes of headers that a segment adds (IP and TCP).
    pub header_bytes: u32,
    /// Congestion window when data may first flow, packets.
    pub initial_window_packets: u32,
    /// Window after a retransmission time-out, packets.
    pub timeout_window_packets: u32,
    /// Whether the window grows by acknowledgements even when the sender did not fill it.
    pub grows_unfilled: bool,
    /// What a silence does to the window.
    pub idle: Idle,
    /// Longest wait from a packet to its acknowledgement, nanoseconds.
    pub ack_delay_ns: u64,
    /// Acknowledgements of a connection after which the next value holds.
    pub ack_delay_first: u32,
    /// The same wait, from then on, nanoseconds.
    pub ack_delay_later_ns: u64,
    /// The wait while the sender's window is [`LARGE_WINDOW_PACKETS`] or more, nanoseconds.
    pub ack_delay_large_ns: u64,
    /// Packets that are acknowledged at once, whatever the delay; 0: none.
    pub ack_every_packets: u32,
    /// Smallest retransmission time-out, nanoseconds.
    pub rto_min_ns: u64,
    /// Receive window at the start, packets.
    pub receive_window_packets: u32,
    /// Packets by which it grows for each packet received.
    pub receive_window_growth: u32,
    /// Receive window at most, packets.
    pub receive_window_max_packets: u32,
    /// Bytes that a socket takes before the writer has to wait.
    pub send_buffer_bytes: u64,
    /// How connections share the uplink.
    pub sharing: Sharing,
    /// Rates are enforced in steps of this length, nanoseconds; 0: smoothly.
    pub rate_step_ns: u64,
    /// Bytes that may pass at once beyond one step's share.
    pub rate_burst_bytes: u64,
}

impl Profile {
    /// The default TCP of the Shadow simulator (3.3.0), as read in its source: it counts packets,
    /// starts with two, never loses a window to silence, and acknowledges after a millisecond.
    pub const SHADOW: Self = Self {
        segment_bytes: 1460,
        header_bytes: 40,
        initial_window_packets: 2,
        timeout_window_packets: 10,
        grows_unfilled: true,
        idle: Idle::Keep,
        ack_delay_ns: 1_000_000,
        ack_delay_first: 1000,
        ack_delay_later_ns: 5_000_000,
        // Measured, not read: every round of 64 packets or more is about 0.7 ms shorter than the
        // delayed acknowledgement explains, at every delay. Such a round begins when the window has
        // grown past 40.
        ack_delay_large_ns: 300_000,
        ack_every_packets: 0,
        rto_min_ns: 200_000_000,
        // 170 KiB, then sized by round-trip time and rate: no limit at the rates it is used with.
        receive_window_packets: 4308,
        receive_window_growth: 0,
        receive_window_max_packets: 4308,
        send_buffer_bytes: 4 << 20,
        sharing: Sharing::WriteOrder,
        rate_step_ns: 1_000_000,
        rate_burst_bytes: 1500,
    };

    /// A Linux kernel's: initial window 10 (RFC 6928), window lost by idleness (RFC 2861), every
    /// second packet acknowledged, receive window of 64 KiB that follows what arrives.
    pub const LINUX: Self = Self {
        segment_bytes: 1448,
        header_bytes: 52,
        initial_window_packets: 10,
        timeout_window_packets: 1,
        grows_unfilled: false,
        idle: Idle::Decay,
        ack_delay_ns: 40_000_000,
        ack_delay_first: u32::MAX,
        ack_delay_later_ns: 40_000_000,
        ack_delay_large_ns: 40_000_000,
        ack_every_packets: 2,
        rto_min_ns: 200_000_000,
        receive_window_packets: 45,
        receive_window_growth: 2,
        receive_window_max_packets: 4308,
        send_buffer_bytes: 4 << 20,
        // What a yamux stream of 16 KiB frames hands on before another connection gets its turn: a
        // kernel sends what it is given as far as the window goes.
        sharing: Sharing::Turns { packets: 132 },
        rate_step_ns: 0,
        rate_burst_bytes: 0,
    };

    /// Packets that a frame of `bytes` takes.
    pub fn packets(&self, bytes: u64) -> u32 {
        u32::try_from(bytes.div_ceil(u64::from(self.segment_bytes)).max(1)).unwrap_or(u32::MAX)
    }

    /// Bytes on the wire of `packets` packets that carry `bytes`.
    pub fn wire_bytes(&self, bytes: u64, packets: u32) -> u64 {
        bytes + u64::from(packets) * u64::from(self.header_bytes)
    }

    /// Wait before an acknowledgement, after so many on this connection and with this window of the
    /// sender, nanoseconds.
    pub(crate) fn ack_delay_after(&self, acks: u32, window: u32) -> u64 {
        if window >= LARGE_WINDOW_PACKETS {
            self.ack_delay_large_ns
        } else if acks < self.ack_delay_first {
            self.ack_delay_ns
        } else {
            self.ack_delay_later_ns
        }
    }
}
