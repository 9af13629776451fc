//! Frames of yamux, decoded from one direction of a connection.

/// Length of a header, bytes.
const HEADER_BYTES: usize = 12;

/// Kinds of frames.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FrameKind {
    /// Data of a stream.
    Data,
    /// Bytes that the other end may send in addition to those granted before.
    WindowUpdate,
    /// Round-trip measurement, or its answer.
    Ping,
    /// End of the session.
    GoAway,
}

impl FrameKind {
    /// Each kind, with its number on the wire and its name in recordings.
    pub const ALL: [(u8, Self, &'static str); 4] = [
        (0, Self::Data, "data"),
        (1, Self::WindowUpdate, "window"),
        (2, Self::Ping, "ping"),
        (3, Self::GoAway, "go-away"),
    ];

    fn of(number: u8) -> Option<Self> {
        let mut all = Self::ALL.iter();
        all.find(|(known, ..)| *known == number)
            .map(|(_, kind, _)| *kind)
    }
}

/// One frame of yamux.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct MuxFrame {
    /// Kind of the frame.
    pub kind: FrameKind,
    /// Id of its stream; 0 for the session.
    pub stream: u32,
    /// Field `length`: bytes of data, or bytes granted.
    pub length: u32,
}

/// Error: the bytes are not yamux.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("no header of yamux: version {version}, kind {kind}")]
pub struct NoYamux {
    version: u8,
    kind: u8,
}

/// Decoder of one direction; accepts bytes in any portions.
#[derive(Debug, Default)]
pub struct MuxFrameReader {
    header: Vec<u8>,
    /// Remaining bytes of the frame's data.
    data_left: usize,
    current: Option<MuxFrame>,
}

impl MuxFrameReader {
    /// Decodes the next bytes; returns the frames that they complete.
    ///
    /// # Errors
    /// `NoYamux` for an invalid header.
    pub fn read(&mut self, mut bytes: &[u8]) -> Result<Vec<MuxFrame>, NoYamux> {
        let mut ended = Vec::new();
        while !bytes.is_empty() {
            if self.current.is_none() {
                let missing = HEADER_BYTES - self.header.len();
                let (part, rest) = bytes.split_at(missing.min(bytes.len()));
                self.header.extend_from_slice(part);
                bytes = rest;
                if self.header.len() < HEADER_BYTES {
                    break;
                }
                let frame = decode(&self.header)?;
                self.header.clear();
                self.data_left = match frame.kind {
                    FrameKind::Data => frame.length as usize,
                    _ => 0,
                };
                self.current = Some(frame);
            }
            let taken = self.data_left.min(bytes.len());
            bytes = &bytes[taken..];
            self.data_left -= taken;
            if self.data_left == 0 {
                ended.extend(self.current.take());
            }
        }
        Ok(ended)
    }
}

fn decode(header: &[u8]) -> Result<MuxFrame, NoYamux> {
    let number = |at: usize| {
        let bytes = header[at..].iter().take(4);
        bytes.fold(0, |value, byte| value << 8 | u32::from(*byte))
    };
    let (version, kind) = (header[0], header[1]);
    match FrameKind::of(kind) {
        Some(kind) if version == 0 => Ok(MuxFrame {
            kind,
            stream: number(4),
            length: number(8),
        }),
        _ => Err(NoYamux { version, kind }),
    }
}
