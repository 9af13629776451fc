use crate::protocol::ControlCounts;

use super::rpc;

#[cfg(test)]
#[path = "tests/frames.rs"]
mod tests;

/// Longest frame that is parsed, above every frame limit in use; a longer one is skipped.
const MAX_FRAME_BYTES: usize = 16 << 20;
/// Longest line that multistream-select allows.
const MAX_LINE_BYTES: usize = 1024;

/// Parser that splits one direction of one stream into length-prefixed frames, for any chunk sizes, and
/// counts the control entries of GossipSub RPCs.
///
/// Negotiation lines and RPCs have the same framing. They cannot be confused: lines start with `/` or
/// `n`, which no RPC can, since both would be protobuf tags of invalid wire types.
#[derive(Debug, Default)]
pub struct Frames {
    stream: Kind,
    at: At,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum Kind {
    #[default]
    Negotiating,
    Gossip,
    Other,
}

#[derive(Debug)]
enum At {
    /// Within the length prefix, of which `bits` bits have been read.
    Length { value: u64, bits: u32 },
    /// Within a frame that is kept; `missing` bytes have not arrived yet.
    Body { kept: Vec<u8>, missing: usize },
    /// Within a frame that is skipped; `missing` bytes have not arrived yet.
    Skip { missing: u64 },
}

impl Default for At {
    fn default() -> Self {
        Self::Length { value: 0, bits: 0 }
    }
}

impl Frames {
    /// Processes the next bytes of the stream; returns the counts of the frames that they complete.
    pub fn feed(&mut self, mut bytes: &[u8]) -> ControlCounts {
        let mut counts = ControlCounts::default();
        while self.stream != Kind::Other && !bytes.is_empty() {
            bytes = self.step(bytes, &mut counts);
        }
        counts
    }

    fn step<'a>(&mut self, bytes: &'a [u8], counts: &mut ControlCounts) -> &'a [u8] {
        match &mut self.at {
            At::Length { value, bits } => {
                let byte = bytes[0];
                *value |= u64::from(byte & 0x7f) << *bits;
                *bits += 7;
                if byte & 0x80 == 0 {
                    self.at = self.begin_frame();
                } else if *bits > 56 {
                    // Not a valid length, so this stream carries another protocol.
                    self.stream = Kind::Other;
                }
                &bytes[1..]
            }
            At::Skip { missing } => {
                let taken = usize::try_from(*missing)
                    .unwrap_or(usize::MAX)
                    .min(bytes.len());
                *missing -= taken as u64;
                if *missing == 0 {
                    self.at = At::default();
                }
                &bytes[taken..]
            }
            At::Body { kept, missing } => {
                let taken = (*missing).min(bytes.len());
                kept.extend_from_slice(&bytes[..taken]);
                *missing -= taken;
                if *missing == 0 {
                    let frame = std::mem::take(kept);
                    self.at = At::default();
                    self.end_frame(&frame, counts);
                }
                &bytes[taken..]
            }
        }
    }

    fn begin_frame(&mut self) -> At {
        let At::Length { value, .. } = self.at else {
            return At::default();
        };
        match usize::try_from(value) {
            Ok(0) => At::default(),
            Ok(length) if self.stream == Kind::Negotiating && length > MAX_LINE_BYTES => {
                self.stream = Kind::Other;
                At::default()
            }
            // Memory is not reserved for announced bytes before they arrive.
            Ok(length) if length <= MAX_FRAME_BYTES => At::Body {
                kept: Vec::new(),
                missing: length,
            },
            _ => At::Skip { missing: value },
        }
    }

    fn end_frame(&mut self, frame: &[u8], counts: &mut ControlCounts) {
        match frame {
            b"/multistream/1.0.0\n" | b"na\n" => {}
            [b'/', .., b'\n'] => self.stream = kind(&frame[..frame.len() - 1]),
            _ if self.stream == Kind::Gossip => rpc::count(frame, counts),
            _ => self.stream = Kind::Other,
        }
    }
}

fn kind(protocol: &[u8]) -> Kind {
    let gossip = protocol.starts_with(b"/meshsub/")
        || protocol == crate::programs::WAKU_RELAY.as_bytes()
        || protocol == b"/floodsub/1.0.0";
    if gossip { Kind::Gossip } else { Kind::Other }
}
