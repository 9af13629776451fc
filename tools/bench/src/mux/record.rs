//! Recording of a transfer: frames on the wire, and what they show of each message.

use std::fmt::Write as _;

use super::wire::{FrameKind, MuxFrame};

/// One frame as it left its sender.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct WireRow {
    /// Time at which its last byte left, microseconds from the connection.
    pub at_us: u64,
    /// Whether the end that dialled sent it, which sends the messages.
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
    /// Bytes with which the ends greet each other before the messages.
    pub hello_bytes: u64,
    /// All frames, both ways.
    pub rows: Vec<WireRow>,
}

/// One message as the wire shows it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct SeenMessage {
    /// Time from its first frame to its last, microseconds.
    pub lasts_us: u64,
    /// Number of its data frames.
    pub frames: u32,
    /// Length of the longest, bytes.
    pub longest_bytes: u64,
    /// Window updates of the receiver from its first frame to that of the next message.
    pub updates: u32,
    /// Bytes that these grant.
    pub granted_bytes: u64,
}

impl Recording {
    /// Frames as CSV with a header.
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

    /// Each message as the wire shows it.
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
