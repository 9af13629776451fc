//! Flow control of multiplexed streams: the implementations' rules as data, and the state of one end of a stream.

/// Flow control of a stream by a multiplexer. The receiver grants the sender credit in bytes, and grants more once the
/// layer above has read part of the receive window.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct FlowControl {
    /// Receive window of a new stream, bytes.
    pub initial_bytes: u64,
    /// Upper limit of the receive window, bytes.
    pub max_bytes: u64,
    /// The receive window doubles when a window update follows the previous one in less than this many round trips; 0
    /// for a constant window.
    pub doubles_within_round_trips: u64,
    /// A window update is due when the window divided by this has been read; [`u64::MAX`] sends one after every frame.
    pub update_divisor: u64,
    /// Bytes that the receiver reads before it checks whether a window update is due: one frame of the sender, or
    /// several that add up to exactly half a window.
    pub read_bytes: u64,
    /// Bytes by which a frame is shorter than the window allows; they follow in a separate frame.
    pub spared_bytes: u64,
    /// Whether a window update that doubles the window grants only the growth, so that the bytes read are never granted
    /// again.
    pub doubling_loses_read: bool,
    /// Shared receive window of all streams of a connection, bytes; [`u64::MAX`] if there is none.
    pub connection_bytes: u64,
}

/// Rules of a multiplexer with their origin.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct MuxProfile {
    /// Name in scenarios.
    pub name: &'static str,
    /// The rules; `None` for a multiplexer without flow control of its own.
    pub flow_control: Option<FlowControl>,
    /// Whether the rules were validated against recorded frames of the implementation, in `measured/`.
    pub is_measured: bool,
    /// Origin of the numbers.
    pub source: &'static str,
}

/// Multiplexers whose rules are known; the first is the default.
pub static MUXES: [MuxProfile; 8] = [
    MuxProfile {
        name: "none",
        flow_control: None,
        is_measured: true,
        source: "no flow control but that of TCP",
    },
    MuxProfile {
        name: "mplex",
        flow_control: None,
        is_measured: true,
        source: "specification of mplex, which has no flow control",
    },
    MuxProfile {
        name: "yamux-nim",
        flow_control: Some(FlowControl::YAMUX_NIM),
        is_measured: false,
        source: "nim-libp2p 12f25f0, libp2p/muxers/yamux/yamux.nim: YamuxDefaultWindowSize, updateRecvWindow, trySend",
    },
    MuxProfile {
        name: "yamux-rust",
        flow_control: Some(FlowControl::YAMUX_RUST),
        is_measured: true,
        source: "crate yamux 0.14.1, src/connection/stream/flow_control.rs, src/lib.rs; measured/mux/rust.csv",
    },
    MuxProfile {
        name: "yamux-go",
        flow_control: Some(FlowControl::YAMUX_GO),
        is_measured: true,
        source: "github.com/libp2p/go-yamux/v5 v5.1.0, stream.go, const.go, mux.go; measured/mux/go.csv",
    },
    MuxProfile {
        name: "yamux-js",
        flow_control: Some(FlowControl::YAMUX_JS),
        is_measured: true,
        source: "@chainsafe/libp2p-yamux 8.0.1, src/stream.ts, src/constants.ts; measured/mux/js.csv",
    },
    MuxProfile {
        name: "yamux-undertone",
        flow_control: Some(FlowControl::YAMUX_UNDERTONE),
        is_measured: false,
        source: "as yamux-rust, with the bound of crates/node/network, src/swarm/yamux.rs",
    },
    MuxProfile {
        name: "quic",
        flow_control: Some(FlowControl::QUIC_RUST),
        is_measured: false,
        source: "libp2p-quic 0.14.0, src/config.rs; quinn-proto 0.11.19, src/connection/streams/recv.rs",
    },
];

impl FlowControl {
    /// Yamux of nim-libp2p: 256 KiB, without growth. A frame is as long as the window allows, and is read whole.
    pub const YAMUX_NIM: Self = Self {
        initial_bytes: 256 << 10,
        max_bytes: 256 << 10,
        doubles_within_round_trips: 0,
        update_divisor: 2,
        read_bytes: 256 << 10,
        spared_bytes: 0,
        doubling_loses_read: false,
        connection_bytes: u64::MAX,
    };

    /// Yamux of rust-libp2p: doubles within two round trips, up to the part of a connection's 1 GiB that 511 other
    /// streams of 256 KiB each leave. Frames of 16 KiB.
    pub const YAMUX_RUST: Self = Self {
        initial_bytes: 256 << 10,
        max_bytes: (1 << 30) - 511 * (256 << 10),
        doubles_within_round_trips: 2,
        update_divisor: 2,
        read_bytes: 128 << 10,
        spared_bytes: 0,
        doubling_loses_read: false,
        connection_bytes: 1 << 30,
    };

    /// Yamux of Undertone's node: that of rust-libp2p, but windows grow by at most 2 MiB per connection.
    pub const YAMUX_UNDERTONE: Self = Self {
        max_bytes: (2 << 20) + (256 << 10),
        ..Self::YAMUX_RUST
    };

    /// Yamux of go-libp2p: doubles within four round trips, up to 16 MiB. Frames of 64 KiB, including a header of 12
    /// bytes. Version 5.1.0 accounts for the bytes read before it doubles a window, and then announces only the growth;
    /// recorded, and confirmed by its source.
    pub const YAMUX_GO: Self = Self {
        initial_bytes: 256 << 10,
        max_bytes: 16 << 20,
        doubles_within_round_trips: 4,
        update_divisor: 2,
        read_bytes: (64 << 10) - 12,
        spared_bytes: 0,
        doubling_loses_read: true,
        connection_bytes: u64::MAX,
    };

    /// Yamux of js-libp2p: an update after every frame, which doubles the window if it follows the previous one within
    /// four round trips, up to 16 MiB. A frame is 12 bytes shorter than the window allows, and is read whole.
    pub const YAMUX_JS: Self = Self {
        initial_bytes: 256 << 10,
        max_bytes: 16 << 20,
        doubles_within_round_trips: 4,
        update_divisor: u64::MAX,
        read_bytes: 16 << 20,
        spared_bytes: 12,
        doubling_loses_read: false,
        connection_bytes: u64::MAX,
    };

    /// Streams of QUIC in rust-libp2p: 10 MB, and 15 MB for a connection, without growth; an update when an eighth has
    /// been read. The congestion window is that of the TCP profile.
    pub const QUIC_RUST: Self = Self {
        initial_bytes: 10_000_000,
        max_bytes: 10_000_000,
        doubles_within_round_trips: 0,
        update_divisor: 8,
        read_bytes: 1_200,
        spared_bytes: 0,
        doubling_loses_read: false,
        connection_bytes: 15_000_000,
    };

    /// Largest window of a stream that is alone on its connection, bytes.
    pub fn largest_bytes(&self) -> u64 {
        self.max_bytes.min(self.connection_bytes)
    }
}

/// Length of a window update above TCP, bytes: 12 for the yamux header and 18 for noise.
pub(crate) const UPDATE_BYTES: u64 = 30;

/// One end of a stream with flow control.
#[derive(Clone, Debug)]
pub(crate) struct StreamFlow {
    rules: FlowControl,
    /// Bytes that this end may still send.
    pub(crate) credit_bytes: u64,
    /// Receive window of this end.
    pub(crate) window_bytes: u64,
    /// Bytes read since the last window update.
    pub(crate) read_bytes: u64,
    /// Unsent bytes of the frame that this end is sending.
    frame_left_bytes: u64,
    updated_ns: u64,
}

impl StreamFlow {
    pub(crate) fn new(rules: FlowControl, now_ns: u64) -> Self {
        Self {
            rules,
            credit_bytes: rules.initial_bytes,
            window_bytes: rules.initial_bytes,
            read_bytes: 0,
            frame_left_bytes: 0,
            updated_ns: now_ns,
        }
    }

    /// Maximum size of the next burst, given `message_bytes` still unsent: the rest of the current frame, or a new
    /// frame as far as the credit allows.
    pub(crate) fn burst_bytes(&self, message_bytes: u64) -> u64 {
        if self.frame_left_bytes > 0 {
            return self.frame_left_bytes;
        }
        let unspared = self.credit_bytes.saturating_sub(self.rules.spared_bytes);
        let most = if unspared > 0 {
            unspared
        } else {
            self.credit_bytes
        };
        // A message without bytes is sent like one of a single byte.
        most.min(self.rules.read_bytes).min(message_bytes.max(1))
    }

    /// Subtracts sent bytes from the credit; returns whether they end a frame of the multiplexer.
    pub(crate) fn spend(&mut self, bytes: u64, message_bytes: u64) -> bool {
        let frame_bytes = self.burst_bytes(message_bytes);
        self.frame_left_bytes = frame_bytes.min(message_bytes).saturating_sub(bytes);
        self.credit_bytes = self.credit_bytes.saturating_sub(bytes);
        self.frame_left_bytes == 0
    }

    /// Adds the credit of a window update.
    pub(crate) fn grant(&mut self, bytes: u64) {
        self.credit_bytes = self.credit_bytes.saturating_add(bytes);
    }

    /// Records bytes that arrived. If a frame ends with them, the layer above has read everything so far. Returns the
    /// bytes granted by a window update, if one is due.
    pub(crate) fn read(
        &mut self,
        now_ns: u64,
        (bytes, ends_frame): (u64, bool),
        round_trip_ns: u64,
    ) -> Option<u64> {
        self.read_bytes += bytes;
        if !ends_frame || self.read_bytes == 0 {
            return None;
        }
        if self.read_bytes < self.window_bytes / self.rules.update_divisor {
            return None;
        }
        let mut granted = std::mem::take(&mut self.read_bytes);
        let fast_ns = self
            .rules
            .doubles_within_round_trips
            .saturating_mul(round_trip_ns);
        if now_ns - self.updated_ns < fast_ns {
            let grown = (self.window_bytes * 2).min(self.rules.largest_bytes());
            if self.rules.doubling_loses_read && grown > self.window_bytes {
                granted = 0;
            }
            granted += grown - self.window_bytes;
            self.window_bytes = grown;
        }
        self.updated_ns = now_ns;
        Some(granted)
    }
}
