//! Flow control of multiplexed streams: the rules of the implementations as data, and the state of one end of a stream.

/// Flow control of a stream by a multiplexer: the receiver grants the sender bytes, and grants more when the layer above has
/// read half of its receive window.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct FlowControl {
    /// Receive window of a new stream, bytes.
    pub initial_bytes: u64,
    /// Upper limit of the receive window, bytes.
    pub max_bytes: u64,
    /// The receive window doubles when a window update follows the one before in less than so many round trips; 0 for a
    /// window that keeps its size.
    pub doubles_within_round_trips: u64,
    /// Bytes that the receiver reads at once, before it looks whether a window update is due: a frame of the sender, or several
    /// that make up half a window exactly.
    pub read_bytes: u64,
}

impl FlowControl {
    /// Yamux of nim-libp2p (12f25f0, `muxers/yamux/yamux.nim`): 256 KiB, without growth. A frame is as long as the window
    /// allows, and is read whole.
    pub const YAMUX_NIM: Self = Self {
        initial_bytes: 256 << 10,
        max_bytes: 256 << 10,
        doubles_within_round_trips: 0,
        read_bytes: 256 << 10,
    };

    /// Yamux of rust-libp2p (crate `yamux` 0.14.1, `stream/flow_control.rs`): doubles within two round trips, up to what the
    /// 1 GiB of a connection leaves when 511 other streams have 256 KiB each. Frames of 16 KiB.
    pub const YAMUX_RUST: Self = Self {
        initial_bytes: 256 << 10,
        max_bytes: (1 << 30) - 511 * (256 << 10),
        doubles_within_round_trips: 2,
        read_bytes: 128 << 10,
    };

    /// Yamux of go-libp2p (`go-yamux` 78c3484, `stream.go` and `const.go`): doubles within four round trips, up to 16 MiB.
    /// Frames of 64 KiB, a header of 12 bytes included.
    pub const YAMUX_GO: Self = Self {
        initial_bytes: 256 << 10,
        max_bytes: 16 << 20,
        doubles_within_round_trips: 4,
        read_bytes: (64 << 10) - 12,
    };
}

/// Bytes of a window update before TCP: a header of yamux, 12, and what noise adds, 18.
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
    updated_ns: u64,
}

impl StreamFlow {
    pub(crate) fn new(rules: FlowControl, now_ns: u64) -> Self {
        Self {
            rules,
            credit_bytes: rules.initial_bytes,
            window_bytes: rules.initial_bytes,
            read_bytes: 0,
            updated_ns: now_ns,
        }
    }

    /// Bytes at most that this end sends as one burst: what the receiver reads at once, as far as the credit goes.
    pub(crate) fn burst_bytes(&self) -> u64 {
        self.credit_bytes.min(self.rules.read_bytes)
    }

    /// Takes bytes that are sent off the credit.
    pub(crate) fn spend(&mut self, bytes: u64) {
        self.credit_bytes = self.credit_bytes.saturating_sub(bytes);
    }

    /// Adds what a window update grants.
    pub(crate) fn grant(&mut self, bytes: u64) {
        self.credit_bytes = self.credit_bytes.saturating_add(bytes);
    }

    /// Takes note of bytes that the layer above has read; returns those that a window update grants, if one is due.
    pub(crate) fn read(&mut self, now_ns: u64, bytes: u64, round_trip_ns: u64) -> Option<u64> {
        self.read_bytes += bytes;
        if self.read_bytes < self.window_bytes / 2 {
            return None;
        }
        let mut granted = std::mem::take(&mut self.read_bytes);
        let fast_ns = self
            .rules
            .doubles_within_round_trips
            .saturating_mul(round_trip_ns);
        if now_ns - self.updated_ns < fast_ns {
            let grown = (self.window_bytes * 2).min(self.rules.max_bytes);
            granted += grown - self.window_bytes;
            self.window_bytes = grown;
        }
        self.updated_ns = now_ns;
        Some(granted)
    }
}
