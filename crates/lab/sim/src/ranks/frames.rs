//! Frames that cross ranks: each is written once per section of a message, and stored once by the rank that reads it.

use std::collections::BTreeMap;
use std::sync::{Mutex, PoisonError};

use bytes::Bytes;
use undertone_wire::put_varint;

use crate::ranks::reader::{MessageReader, Unreadable};
use crate::trace;

/// Minimum length of frames that are kept so that later copies share their memory, bytes. Message ids and signal hashes
/// are cached by memory address; a shorter frame has no message or a tiny one.
const HELD_FROM_BYTES: usize = 128;

/// Maximum total length of kept frames; then all are released, which costs only rehashing.
const HELD_BYTES_MAX: usize = 64 << 20;

/// Frames of a section that is being written.
#[derive(Debug, Default)]
pub(crate) struct FrameTable {
    /// Numbers of the frames, by address and length. `frames` keeps them alive, so no address is reused.
    numbers: BTreeMap<(usize, usize), u64>,
    frames: Vec<Bytes>,
}

impl FrameTable {
    /// Number of a frame in the section.
    pub(crate) fn number(&mut self, frame: &Bytes) -> u64 {
        let key = (frame.as_ptr() as usize, frame.len());
        *self.numbers.entry(key).or_insert_with(|| {
            self.frames.push(frame.clone());
            self.frames.len() as u64 - 1
        })
    }

    /// Writes all frames.
    pub(crate) fn write(&self, out: &mut Vec<u8>) {
        put_varint(out, self.frames.len() as u64);
        for frame in &self.frames {
            put_varint(out, frame.len() as u64);
            out.extend_from_slice(frame);
        }
    }
}

/// Frames of other ranks that a process keeps, shared by its threads.
#[derive(Debug, Default)]
pub(crate) struct HeldFrames(Mutex<Held>);

#[derive(Debug, Default)]
struct Held {
    /// Frames by a hash over their content.
    frames: BTreeMap<u64, Bytes>,
    bytes: usize,
}

impl HeldFrames {
    /// Reads the frames of a section.
    pub(crate) fn read(&self, reader: &mut MessageReader<'_>) -> Result<Vec<Bytes>, Unreadable> {
        let count = reader.entries("number of frames")?;
        (0..count)
            .map(|_| Ok(self.shared(reader.bytes("frame")?)))
            .collect()
    }

    /// Returns a frame with this content: the kept one if there is one.
    fn shared(&self, content: &[u8]) -> Bytes {
        if content.len() < HELD_FROM_BYTES {
            return Bytes::copy_from_slice(content);
        }
        let key = hash(content);
        let mut held = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(frame) = held.frames.get(&key)
            && frame == content
        {
            return frame.clone();
        }
        if held.bytes + content.len() > HELD_BYTES_MAX {
            *held = Held::default();
        }
        let frame = Bytes::copy_from_slice(content);
        held.bytes += frame.len();
        if let Some(other) = held.frames.insert(key, frame.clone()) {
            held.bytes -= other.len();
        }
        frame
    }
}

fn hash(content: &[u8]) -> u64 {
    let mut hash = 0;
    for part in content.chunks(192) {
        trace::mix(&mut hash, [part.len() as u64, 0, 0], part);
    }
    hash
}

#[cfg(test)]
#[path = "tests/frames.rs"]
mod tests;
