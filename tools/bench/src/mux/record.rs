//! Recording of a transfer: the frames on the wire, and measurements of each message.

use std::fmt::Write as _;

use super::wire::{FrameKind, MuxFrame};

/// One frame as it left its sender.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct WireRow {
    /// Time at which its last byte was sent, microseconds from the start of the connection.
    pub at_us: u64,
    /// Whether the dialling end sent it; that end also sends the messages.
    pub is_dialler: bool,
    /// Frame of the multiplexer.
    pub frame: MuxFrame,
}

/// Frames of a transfer of several messages of one size on one stream.
#[derive(Clone, Debug)]
pub struct Recording {
    /// Length of each message, bytes.
    pub message_bytes: u64,
    /// Number of messages.
    pub messages: u32,
    /// Number of bytes in the greeting that the ends exchange before the messages.
    pub hello_bytes: u64,
    /// All frames, in both directions.
    pub rows: Vec<WireRow>,
}

/// Measurements of one message on the wire.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct SeenMessage {
    /// Time from the first frame to the last, microseconds.
    pub lasts_us: u64,
    /// Number of data frames.
    pub frames: u32,
    /// Length of the longest data frame, bytes.
    pub longest_bytes: u64,
    /// Number of the receiver's window updates from this message's first frame to that of the next message.
    pub updates: u32,
    /// Bytes granted by these updates.
    pub granted_bytes: u64,
}

impl Recording {
    /// Returns the frames as CSV with a header.
    #[must_use]
    pub fn csv(&self) -> String {
        let mut text = "at_us,from,kind,stream,length\n".to_owned();
        for row in &self.rows {
            let from = if row.is_dialler {
                "dialler"
            } else {
                "listener"
            };
            let MuxFrame {
                kind,
                stream,
                length,
            } = row.frame;
            let known = FrameKind::ALL.iter().find(|(_, known, _)| *known == kind);
            let name = known.map_or("", |(_, _, name)| *name);
            let _ = writeln!(text, "{},{from},{name},{stream},{length}", row.at_us);
        }
        text
    }

    /// Returns the measurements of each message.
    #[must_use]
    pub fn seen(&self) -> Vec<SeenMessage> {
        let mut seen = vec![SeenMessage::default(); self.messages as usize];
        let mut passed_bytes = 0;
        let mut current: Option<(usize, u64)> = None;
        for row in &self.rows {
            let length = u64::from(row.frame.length);
            match (row.frame.kind, row.is_dialler) {
                (FrameKind::Data, true) => {
                    let after_hello = u64::checked_sub(passed_bytes, self.hello_bytes);
                    passed_bytes += length;
                    let Some(before) = after_hello.filter(|_| length > 0) else {
                        continue;
                    };
                    let at = (before / self.message_bytes) as usize;
                    let Some(message) = seen.get_mut(at) else {
                        continue;
                    };
                    let since = match current {
                        Some((of, since)) if of == at => since,
                        _ => row.at_us,
                    };
                    current = Some((at, since));
                    message.lasts_us = row.at_us - since;
                    message.frames += 1;
                    message.longest_bytes = message.longest_bytes.max(length);
                }
                (FrameKind::WindowUpdate, false) => {
                    if let Some((at, _)) = current {
                        seen[at].updates += 1;
                        seen[at].granted_bytes += length;
                    }
                }
                _ => {}
            }
        }
        seen
    }
}
