//! Handshakes of connections as data: what each end writes before the first frame of a relay.

use crate::profile::Profile;

/// Writes of both ends from the dial until a connection is quiet: choice of security and muxer, noise, yamux, identify, the
/// choice of streams' protocols. Frames of the relay are not among them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct HandshakeProfile {
    /// Name in scenarios.
    pub name: &'static str,
    /// Round trips from the dial to the first frame of the relay.
    pub round_trips: u64,
    /// Lengths of the writes of the end that dials, bytes before TCP.
    pub dialler_bytes: &'static [u32],
    /// Lengths of the writes of the other end.
    pub listener_bytes: &'static [u32],
    /// Origin of the numbers.
    pub source: &'static str,
}

/// What one end of a connection has sent before the first frame.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct SentBefore {
    /// Packets with data.
    pub packets: u32,
    /// Bytes on the wire, headers included.
    pub wire_bytes: u64,
}

/// Handshakes that were measured.
pub static HANDSHAKES: [HandshakeProfile; 0] = [];

impl HandshakeProfile {
    /// What one end has sent when the handshake is over. Each write is a packet of its own, or several.
    pub fn sent_before(&self, profile: &Profile, is_dialler: bool) -> SentBefore {
        let writes = match is_dialler {
            true => self.dialler_bytes,
            false => self.listener_bytes,
        };
        let mut sent = SentBefore::default();
        for bytes in writes.iter().map(|bytes| u64::from(*bytes)) {
            let packets = profile.packets(bytes);
            sent.packets += packets;
            sent.wire_bytes += profile.wire_bytes(bytes, packets);
        }
        sent
    }
}
