//! The two halves of one host's end of a connection.

mod recovery;

use std::collections::VecDeque;

use crate::boxed_if_used::BoxedIfUsed;
use crate::flow::StreamFlow;
use crate::inflight::Window;
use crate::profile::{Profile, SendBuffer, Sharing};

use recovery::{HeldBurst, Recovery};

pub(crate) use recovery::Retransmission;

/// A frame that is not yet completely sent.
#[derive(Debug)]
pub(crate) struct UnsentFrame<P> {
    pub(crate) frame: P,
    pub(crate) bytes_left: u64,
    pub(crate) packets_left: u32,
    /// Position among all frames that the host has written.
    pub(crate) order: u64,
    pub(crate) started: bool,
}

/// Packets of one frame that leave back to back.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Burst<P> {
    /// Sequence number of the burst on its connection.
    pub seq: u32,
    /// Number of packets that left.
    pub packets: u32,
    /// Congestion window of the sender, packets.
    pub window: u32,
    /// Length of the packets including headers, bytes.
    pub wire_bytes: u64,
    /// Time from the first to the last packet.
    pub lasts_ns: u64,
    /// Packets of the burst that did not arrive.
    pub missing: u32,
    /// Missing packets that the receiver's queue dropped. The sender already knows of the others.
    pub dropped: u32,
    /// Whether the sender waits for the acknowledgement.
    pub ack_wanted: bool,
    /// Whether the burst is a retransmission for an earlier one with the same `seq`.
    pub repair: bool,
    /// Whether it has all packets of its number. If not, it retransmits some, and the burst with the others was sent
    /// before it.
    pub whole: bool,
    /// Whether a frame of the multiplexer ends with this burst.
    pub ends_mux_frame: bool,
    /// Length of the frame that begins with this burst; 0 if the burst continues a frame.
    pub begins_bytes: u64,
    /// The frame that ends with this burst.
    pub frame: Option<P>,
}

/// Frames of a connection that are not yet completely sent.
#[derive(Debug)]
struct UnsentFrames<P> {
    frames: VecDeque<UnsentFrame<P>>,
    /// Unsent bytes of all frames.
    bytes: u64,
    /// How many of these bytes are in the send buffer; the writer still holds the rest.
    taken_bytes: u64,
    /// The bytes in the send buffer, split by the time at which it accepted them. Empty if each frame was accepted when
    /// written, or if connections take turns.
    parts: VecDeque<TakenPart>,
}

/// Bytes that a send buffer accepted at one time.
#[derive(Debug)]
struct TakenPart {
    bytes: u64,
    /// Position in the order of the host's writes.
    order: u64,
}

impl<P> UnsentFrames<P> {
    fn is_empty(&self) -> bool {
        self.frames.is_empty()
    }

    /// Records that the send buffer has accepted bytes from the writer.
    fn take(&mut self, bytes: u64, order: u64) {
        let is_all = self.taken_bytes + bytes == self.bytes;
        let last = self.frames.back();
        let is_as_written =
            last.is_some_and(|last| last.order == order && last.bytes_left == bytes);
        if bytes == 0 || is_all && is_as_written && self.parts.is_empty() {
            // The frame's own position is that of the buffering.
            self.taken_bytes += bytes;
            return;
        }
        if self.parts.is_empty() && self.taken_bytes > 0 {
            let first = self.frames.front().map_or(order, |first| first.order);
            self.parts.push_back(TakenPart {
                bytes: self.taken_bytes,
                order: first,
            });
        }
        self.taken_bytes += bytes;
        self.parts.push_back(TakenPart { bytes, order });
    }

    /// Records that bytes of the first frame have left.
    fn spend(&mut self, bytes: u64) {
        self.bytes -= bytes;
        self.taken_bytes = self.taken_bytes.saturating_sub(bytes);
        if let Some(first) = self.parts.front_mut() {
            first.bytes = first.bytes.saturating_sub(bytes);
            if first.bytes == 0 {
                self.parts.pop_front();
            }
        }
    }
}

impl<P> Default for UnsentFrames<P> {
    fn default() -> Self {
        Self {
            frames: VecDeque::new(),
            bytes: 0,
            taken_bytes: 0,
            parts: VecDeque::new(),
        }
    }
}

/// Effect of a burst's arrival.
#[derive(Debug, Default)]
pub(crate) struct Progress {
    /// Sequence numbers of earlier bursts of which nothing has arrived.
    pub(crate) gaps: Vec<u32>,
    /// Bytes of data that are now in order.
    pub(crate) data_bytes: u64,
    /// Whether a frame of the multiplexer ends within them.
    pub(crate) ends_mux_frame: bool,
}

/// One end of a connection.
#[derive(Debug)]
pub(crate) struct TcpEndpoint<P> {
    pub(crate) remote: u32,
    pub(crate) remote_conn: u32,
    /// One-way delay to the remote.
    pub(crate) delay_ns: u64,
    /// One-way delay from the remote.
    pub(crate) reverse_delay_ns: u64,
    /// Probability that a packet to the remote is lost.
    pub(crate) loss: f64,
    pub(crate) window: Window,
    unsent: BoxedIfUsed<UnsentFrames<P>>,
    /// Whether the writer was told to wait.
    pub(crate) writer_waits: bool,
    /// Whether the connection is in the uplink's ready list.
    pub(crate) ready: bool,
    /// Whether a timer is set for the next acknowledgement.
    pub(crate) watched: bool,
    pub(crate) next_seq: u32,
    /// Number of acknowledgements that this end has caused so far; the delay of the next depends on it.
    pub(crate) acks: u32,
    recovery: BoxedIfUsed<Recovery<P>>,
    pub(crate) expected_seq: u32,
    /// Time before which no later packet arrives, as packets of one connection keep their order.
    pub(crate) arrives_after_ns: u64,
    /// Flow control of the stream, if its multiplexer has any.
    pub(crate) flow: Option<Box<StreamFlow>>,
}

impl<P> Burst<P> {
    /// Bytes of data in the burst, including those of missing packets.
    fn data_bytes(&self, profile: &Profile) -> u64 {
        let headers = u64::from(self.packets) * u64::from(profile.header_bytes);
        self.wire_bytes.saturating_sub(headers)
    }
}

impl<P> TcpEndpoint<P> {
    pub(crate) fn new(
        profile: &Profile,
        remote: (u32, u32),
        delays_ns: (u64, u64),
        setup_packets: u32,
        loss: f64,
        flow: Option<StreamFlow>,
    ) -> Self {
        Self {
            remote: remote.0,
            remote_conn: remote.1,
            delay_ns: delays_ns.0,
            reverse_delay_ns: delays_ns.1,
            loss,
            window: Window::new(profile, setup_packets),
            unsent: BoxedIfUsed::default(),
            writer_waits: false,
            ready: false,
            watched: false,
            next_seq: 0,
            acks: setup_packets,
            recovery: BoxedIfUsed::default(),
            expected_seq: 0,
            arrives_after_ns: 0,
            flow: flow.map(Box::new),
        }
    }

    pub(crate) fn rto_ns(&self, profile: &Profile) -> u64 {
        self.delay_ns + self.reverse_delay_ns + profile.rto_min_ns
    }

    /// Whether everything written has been sent.
    pub(crate) fn is_all_sent(&self) -> bool {
        self.unsent.get().is_none_or(UnsentFrames::is_empty)
    }

    /// Bytes of frames that wait to be sent.
    pub(crate) fn unsent_bytes(&self) -> u64 {
        self.unsent.get().map_or(0, |unsent| unsent.bytes)
    }

    /// Position of the first unsent data in the order of the host's writes.
    pub(crate) fn first_order(&self) -> Option<u64> {
        let unsent = self.unsent.get()?;
        let part = unsent.parts.front().map(|part| part.order);
        part.or_else(|| unsent.frames.front().map(|first| first.order))
    }

    /// Adds a frame behind all unsent ones, or before those that have not begun if it is urgent.
    pub(crate) fn push(&mut self, frame: UnsentFrame<P>, is_urgent: bool) {
        let unsent = self.unsent.fill();
        unsent.bytes += frame.bytes_left;
        let begun = unsent.frames.iter().position(|waits| !waits.started);
        match begun.filter(|_| is_urgent) {
            Some(at) => unsent.frames.insert(at, frame),
            None => unsent.frames.push_back(frame),
        }
    }

    /// Whether the socket accepts another frame. A multiplexer accepts none while an earlier one waits for its window.
    pub(crate) fn is_writable(&self, profile: &Profile) -> bool {
        let credit_bytes = self.flow.as_ref().map_or(u64::MAX, |f| f.credit_bytes);
        let unsent_bytes = self.unsent_bytes();
        let has_room = match profile.send_buffer {
            SendBuffer::Fixed { bytes } => unsent_bytes < bytes,
            SendBuffer::Tuned(_) => !self.is_writer_held(),
        };
        has_room && unsent_bytes <= credit_bytes
    }

    /// Whether part of the written data is not yet in the send buffer.
    pub(crate) fn is_writer_held(&self) -> bool {
        let unsent = self.unsent.get();
        unsent.is_some_and(|unsent| unsent.taken_bytes < unsent.bytes)
    }

    /// Fills the free space of the send buffer; `order` is the position of this in the order of the host's writes.
    pub(crate) fn fill_buffer(&mut self, profile: &Profile, order: u64, is_acknowledged: bool) {
        let Some(unsent) = self.unsent.get_mut() else {
            return;
        };
        let SendBuffer::Tuned(tuning) = profile.send_buffer else {
            unsent.taken_bytes = unsent.bytes;
            return;
        };
        // A multiplexer passes down no more than its window allows.
        let credit_bytes = self.flow.as_ref().map_or(u64::MAX, |f| f.credit_bytes);
        let allowed_bytes = unsent.bytes.min(credit_bytes.max(unsent.taken_bytes));
        let waiting_bytes = allowed_bytes - unsent.taken_bytes;
        if waiting_bytes == 0 {
            return;
        }
        if is_acknowledged || tuning.grows_unasked {
            self.window.expand_buffer();
        }
        let size_bytes = tuning.size_bytes(self.window.buffered_for());
        let segment_bytes = u64::from(profile.segment_bytes);
        let in_flight_bytes = segment_bytes * u64::from(self.window.in_flight());
        let queued_bytes = in_flight_bytes + unsent.taken_bytes;
        if is_acknowledged && queued_bytes > size_bytes / 100 * tuning.takes_below_percent {
            return;
        }
        let taken_bytes = waiting_bytes.min(size_bytes.saturating_sub(queued_bytes));
        match profile.sharing {
            Sharing::WriteOrder => unsent.take(taken_bytes, order),
            // The position does not matter.
            Sharing::Turns { .. } => unsent.taken_bytes += taken_bytes,
        }
    }

    /// Maximum size of the next burst, by flow control and send buffer.
    pub(crate) fn burst_bytes(&self) -> u64 {
        let Some(unsent) = self.unsent.get() else {
            return u64::MAX;
        };
        let message_bytes = unsent.frames.front().map_or(0, |first| first.bytes_left);
        let taken_bytes = match unsent.parts.front() {
            Some(first) => first.bytes,
            None if unsent.taken_bytes < unsent.bytes => unsent.taken_bytes,
            None => u64::MAX,
        };
        let flow = self.flow.as_ref();
        flow.map_or(u64::MAX, |flow| flow.burst_bytes(message_bytes))
            .min(taken_bytes)
    }

    /// Adds the credit of a window update. If the first unsent frame had to wait for it, the rest of that frame gets
    /// position `order`.
    pub(crate) fn grant(&mut self, bytes: u64, order: u64) {
        let is_waiting = self.burst_bytes() == 0;
        if let Some(flow) = &mut self.flow {
            flow.grant(bytes);
        }
        let unsent = self.unsent.get_mut();
        if let Some(first) = unsent.and_then(|unsent| unsent.frames.front_mut())
            && is_waiting
        {
            first.order = order;
        }
    }

    /// Cuts the next burst: at most `packets` packets of the first unsent frame. The times of the burst
    /// are filled in later.
    pub(crate) fn cut(&mut self, packets: u32, profile: &Profile) -> Option<Burst<P>> {
        let most_bytes = self.burst_bytes();
        let unsent = self.unsent.get_mut()?;
        let first = unsent.frames.front_mut()?;
        let packets = packets.min(first.packets_left);
        let is_held_back = first.bytes_left > most_bytes;
        let packets = match is_held_back {
            true => packets.min(profile.packets(most_bytes)),
            false => packets,
        };
        let whole = packets == first.packets_left && !is_held_back;
        let data = if whole {
            first.bytes_left
        } else {
            // Packets are not full if the frame was passed down in pieces.
            let full = u64::from(packets) * u64::from(profile.segment_bytes);
            let even = first.bytes_left * u64::from(packets) / u64::from(first.packets_left);
            match first.packets_left > profile.packets(first.bytes_left) {
                true => even,
                false => full,
            }
            .min(most_bytes)
        };
        // The unsent rest is the whole frame, as nothing of it has left.
        let begins_bytes = if first.started { 0 } else { first.bytes_left };
        first.started = true;
        first.packets_left -= packets;
        first.bytes_left -= data;
        if is_held_back {
            // The last packet is not full where flow control ends the burst.
            first.packets_left = first.packets_left.max(profile.packets(first.bytes_left));
        }
        let message_bytes = first.bytes_left + data;
        unsent.spend(data);
        let flow = self.flow.as_mut();
        let ends_mux_frame = flow.is_some_and(|flow| flow.spend(data, message_bytes));
        let frame = if whole {
            unsent.frames.pop_front().map(|sent| sent.frame)
        } else {
            None
        };
        self.unsent.release(UnsentFrames::is_empty);
        let seq = self.next_seq;
        self.next_seq += 1;
        let burst = Burst {
            seq,
            packets,
            window: self.window.packets(),
            wire_bytes: profile.wire_bytes(data, packets),
            lasts_ns: 0,
            missing: 0,
            dropped: 0,
            ack_wanted: false,
            repair: false,
            whole: true,
            ends_mux_frame,
            begins_bytes,
            frame,
        };
        Some(burst)
    }

    /// Processes the arrival of a burst. Passes the frames that are now complete to `deliver`, in order.
    pub(crate) fn arrived(
        &mut self,
        burst: Burst<P>,
        profile: &Profile,
        mut deliver: impl FnMut(P),
    ) -> Progress {
        let (data_bytes, ends_mux_frame) = (burst.data_bytes(profile), burst.ends_mux_frame);
        let in_order = burst.seq == self.expected_seq && burst.missing == 0 && burst.whole;
        let recovery = self.recovery.get();
        if in_order && recovery.is_none_or(|recovery| recovery.held.is_empty()) {
            self.expected_seq += 1;
            burst.frame.map(deliver);
            let gaps = Vec::new();
            return Progress {
                gaps,
                data_bytes,
                ends_mux_frame,
            };
        }
        let waiting = &mut self.recovery.fill().held;
        if burst.seq >= self.expected_seq {
            let held = waiting.entry(burst.seq).or_insert_with(HeldBurst::new);
            held.missing += i64::from(burst.missing);
            if burst.whole {
                held.has_begun = true;
                (held.data_bytes, held.ends_mux_frame) = (data_bytes, ends_mux_frame);
                held.frame = burst.frame;
            } else {
                held.missing -= i64::from(burst.packets);
            }
        }
        let gaps = (self.expected_seq..burst.seq).filter(|seq| !waiting.contains_key(seq));
        let mut progress = Progress {
            gaps: gaps.collect(),
            ..Progress::default()
        };
        while let Some(held) = waiting.get(&self.expected_seq)
            && held.is_complete()
        {
            let held = waiting.remove(&self.expected_seq);
            progress.data_bytes += held.as_ref().map_or(0, |held| held.data_bytes);
            progress.ends_mux_frame |= held.as_ref().is_some_and(|held| held.ends_mux_frame);
            held.and_then(|held| held.frame).map(&mut deliver);
            self.expected_seq += 1;
        }
        self.recovery.release(Recovery::is_over);
        progress
    }
}
