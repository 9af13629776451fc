//! TCP stacks as data: the parameters of the TCP models of Shadow and Linux.

/// Size from which a congestion window counts as large, packets; see [`Profile::ack_delay_large_ns`].
pub const LARGE_WINDOW_PACKETS: u32 = 40;

/// How segments of several connections share an uplink.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Sharing {
    /// Segments leave in the order in which the application wrote them, among those the windows allow.
    WriteOrder,
    /// Connections take turns, each of at most `packets` packets.
    Turns {
        /// Maximum number of packets in one turn.
        packets: u32,
    },
}

/// Effect of a silence of one retransmission time-out on a congestion window.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Idle {
    /// The window keeps its size.
    Keep,
    /// The window is halved for each time-out that passed, down to the initial window (RFC 2861).
    Decay,
}

/// Size of a socket's send buffer; a writer waits while it is full.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SendBuffer {
    /// The buffer has a constant size. The last frame that it accepts is accepted whole.
    Fixed {
        /// Size of the buffer, bytes; only bytes that have not left count.
        bytes: u64,
    },
    /// The buffer grows with the congestion window. It accepts part of a frame, and more as acknowledgements make room;
    /// bytes count until they are acknowledged. Bytes accepted later leave, on the uplink, after what was written in
    /// the meantime.
    Tuned(BufferTuning),
}

/// Rules by which a send buffer grows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct BufferTuning {
    /// Size of a new connection's buffer, bytes.
    pub initial_bytes: u64,
    /// Bytes for each packet of the congestion window.
    pub per_packet_bytes: u64,
    /// Whether the buffer grows with every acknowledgement, not only while a writer waits.
    pub grows_unasked: bool,
    /// Maximum fill level at which the buffer accepts more, percent.
    pub takes_below_percent: u64,
    /// Upper limit, bytes.
    pub max_bytes: u64,
}

impl BufferTuning {
    /// The rules of Linux, as read in its source (`tcp_sndbuf_expand`, `sk_stream_write_space`) and measured: twice the
    /// congestion window, where each packet counts as 2048 + 256 bytes, the memory of its descriptors.
    pub const LINUX: Self = Self {
        initial_bytes: 46_080,
        per_packet_bytes: 4608,
        grows_unasked: false,
        takes_below_percent: 66,
        max_bytes: 4 << 20,
    };

    /// The rules of Shadow 3.3.0, as measured. According to its source it also sizes the buffer by rate and round trip
    /// when it first measures one, but no measurement showed this.
    pub const SHADOW: Self = Self {
        initial_bytes: 131_072,
        per_packet_bytes: 4808,
        grows_unasked: true,
        takes_below_percent: 100,
        max_bytes: 4 << 20,
    };

    /// Size of the buffer for a congestion window.
    pub(crate) fn size_bytes(&self, window_packets: u32) -> u64 {
        let of_window = self.per_packet_bytes.saturating_mul(window_packets.into());
        of_window.max(self.initial_bytes).min(self.max_bytes)
    }
}

/// Parameters of a TCP stack.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Profile {
    /// Bytes of data in a full segment.
    pub segment_bytes: u32,
    /// Bytes of headers that a segment adds (IP and TCP).
    pub header_bytes: u32,
    /// Initial congestion window, packets.
    pub initial_window_packets: u32,
    /// Congestion window after a retransmission time-out, packets.
    pub timeout_window_packets: u32,
    /// Whether the window grows by acknowledgements even when the sender did not fill it.
    pub grows_unfilled: bool,
    /// Effect of a silence on the congestion window.
    pub idle: Idle,
    /// Longest delay from a packet to its acknowledgement, nanoseconds.
    pub ack_delay_ns: u64,
    /// Number of acknowledgements on a connection after which [`Profile::ack_delay_later_ns`] applies.
    pub ack_delay_first: u32,
    /// Longest delay of later acknowledgements, nanoseconds.
    pub ack_delay_later_ns: u64,
    /// Longest delay while the sender's window is [`LARGE_WINDOW_PACKETS`] or more, nanoseconds.
    pub ack_delay_large_ns: u64,
    /// Packets after which an acknowledgement is sent without delay; 0 if it is always delayed.
    pub ack_every_packets: u32,
    /// Smallest retransmission time-out, nanoseconds.
    pub rto_min_ns: u64,
    /// Initial receive window, packets.
    pub receive_window_packets: u32,
    /// Packets by which the receive window grows for each packet received.
    pub receive_window_growth: u32,
    /// Upper limit of the receive window, packets.
    pub receive_window_max_packets: u32,
    /// Size of a socket's send buffer.
    pub send_buffer: SendBuffer,
    /// Order in which connections share the uplink.
    pub sharing: Sharing,
    /// Length of the time steps in which rates are enforced, nanoseconds; 0 if bytes pass smoothly.
    pub rate_step_ns: u64,
    /// Bytes that may pass at once beyond the share of one step.
    pub rate_burst_bytes: u64,
}

impl Profile {
    /// The default TCP of the Shadow simulator (3.3.0), as read in its source. It counts packets, starts with a window
    /// of two, never shrinks the window after a silence, and acknowledges after a millisecond.
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
        // Measured, not read: every round of 64 packets or more is about 0.7 ms shorter than the delayed
        // acknowledgement explains, at every delay. Such a round begins when the window has grown past
        // 40.
        ack_delay_large_ns: 300_000,
        ack_every_packets: 0,
        rto_min_ns: 200_000_000,
        // 170 KiB, then sized by round-trip time and rate: no limit at the rates at which it is used
        // here.
        receive_window_packets: 4308,
        receive_window_growth: 0,
        receive_window_max_packets: 4308,
        send_buffer: SendBuffer::Fixed { bytes: 4 << 20 },
        sharing: Sharing::WriteOrder,
        rate_step_ns: 1_000_000,
        rate_burst_bytes: 1500,
    };

    /// The TCP of a Linux kernel: initial window 10 (RFC 6928), window reduced after idle
    /// times (RFC 2861), every second packet acknowledged, receive window of 64 KiB that grows
    /// with the data received.
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
        send_buffer: SendBuffer::Fixed { bytes: 4 << 20 },
        // A kernel sends data as far as the window allows, so a turn is the amount that a yamux stream with 16 KiB
        // frames passes down before another connection gets its turn.
        sharing: Sharing::Turns { packets: 132 },
        rate_step_ns: 0,
        rate_burst_bytes: 0,
    };

    /// The TCP of a Linux kernel whose own device is as fast as the uplink. Packets wait in the sockets and not behind
    /// the device: each socket has two segments of two packets in the device's queue (TCP small queues,
    /// `tcp_small_queue_check`), and connections share the uplink evenly.
    pub const LINUX_DEVICE: Self = Self {
        sharing: Sharing::Turns { packets: 4 },
        send_buffer: SendBuffer::Tuned(BufferTuning::LINUX),
        ..Self::LINUX
    };

    /// Packets that a frame of `bytes` bytes takes.
    pub fn packets(&self, bytes: u64) -> u32 {
        u32::try_from(bytes.div_ceil(u64::from(self.segment_bytes)).max(1)).unwrap_or(u32::MAX)
    }

    /// Bytes on the wire of `packets` packets that carry `bytes` bytes of data.
    pub fn wire_bytes(&self, bytes: u64, packets: u32) -> u64 {
        bytes + u64::from(packets) * u64::from(self.header_bytes)
    }

    /// Delay of an acknowledgement after `acks` earlier ones on the connection, when the sender's window
    /// is `window` packets, nanoseconds.
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
