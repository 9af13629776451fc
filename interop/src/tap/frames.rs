use crate::protocol::ControlCounts;

use super::rpc;

#[cfg(test)]
mod tests;

/// A longer frame is passed over without being looked into. Above every frame limit in use.
const MAX_FRAME_BYTES: usize = 16 << 20;
/// The longest line that multistream-select allows.
const MAX_LINE_BYTES: usize = 1024;

/// Cuts one direction of one stream into length-prefixed frames, whatever the chunks it comes in, and
/// counts the control entries of those that are GossipSub RPCs.
///
/// Negotiation lines and RPCs have the same framing. They cannot be mixed up: lines start with `/` or
/// `n`, which no RPC can, since both would be protobuf tags of wire types that do not exist.
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
    /// In the length, of which so many bits were read.
    Length { value: u64, bits: u32 },
    /// In a frame that is kept; so much is missing.
    Body { kept: Vec<u8>, missing: usize },
    /// In a frame that is not looked into.
    Skip { missing: u64 },
}

impl Default for At {
    fn default() -> Self {
        Self::Length { value: 0, bits: 0 }
    }
}

impl Frames {
    /// Takes the next bytes of the stream; returns what the frames that they complete contain.
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
                    // No length of ours: whatever this stream is, it is not understood.
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
            // Nothing is set aside for bytes that were announced and have not come.
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
