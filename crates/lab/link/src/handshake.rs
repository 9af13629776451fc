//! Handshakes of connections as data: what each end writes before the first frame of a relay.

use crate::profile::Profile;

/// Writes of both ends from the dial until the connection is quiet: choice of security and muxer, noise, yamux,
/// identify, and the choice of the streams' protocols. They do not include frames of the relay.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct HandshakeProfile {
    /// Name in scenarios.
    pub name: &'static str,
    /// Round trips from the dial to the first frame of the relay.
    pub round_trips: u64,
    /// Lengths of the dialler's writes, bytes above TCP.
    pub dialler_bytes: &'static [u32],
    /// Lengths of the listener's writes, bytes above TCP.
    pub listener_bytes: &'static [u32],
    /// Origin of the numbers.
    pub source: &'static str,
}

/// Packets and bytes that one end of a connection has sent before the first frame.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct SentBefore {
    /// Packets with data.
    pub packets: u32,
    /// Bytes on the wire, headers included.
    pub wire_bytes: u64,
}

/// Handshakes that were measured.
pub static HANDSHAKES: [HandshakeProfile; 3] = [
    HandshakeProfile {
        name: "undertone",
        round_trips: 5,
        dialler_bytes: &[
            62, 170, 52, 30, 30, 80, 50, 60, 68, 66, 50, 48, 50, 46, 318, 30, 50, 62, 62, 30, 56,
            76, 33, 30, 30, 33, 30,
        ],
        listener_bytes: &[230, 100, 80, 68, 66, 30, 820, 261, 63],
        source: "undertone-peer of this repository; measured/handshakes/undertone.csv",
    },
    HandshakeProfile {
        name: "rust",
        round_trips: 4,
        dialler_bytes: &[
            62, 170, 64, 66, 68, 66, 30, 50, 46, 50, 35, 62, 48, 50, 46, 250, 30, 30, 62,
        ],
        listener_bytes: &[
            230, 38, 32, 30, 30, 66, 50, 46, 50, 48, 68, 66, 50, 46, 250, 30, 189,
        ],
        source: "gossipsub-peer: libp2p 0.57, libp2p-gossipsub 0.50.1, identify, ping; measured/handshakes/rust.csv",
    },
    HandshakeProfile {
        name: "js",
        round_trips: 5,
        dialler_bytes: &[
            28, 2, 32, 2, 184, 2, 28, 2, 28, 2, 64, 30, 2, 184, 428, 90, 2, 28, 2, 64, 186,
        ],
        listener_bytes: &[
            1, 27, 2, 32, 48, 136, 2, 28, 90, 162, 458, 30, 2, 28, 30, 30, 2, 220, 60,
        ],
        source: "@libp2p/gossipsub 17.1.1 with @libp2p/identify 4.1.14 and @libp2p/ping 3.1.13; measured/handshakes/js.csv",
    },
];

impl HandshakeProfile {
    /// Packets and bytes that one end has sent when the handshake is over. Each write takes at least one packet of its
    /// own.
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

#[cfg(test)]
#[path = "tests/handshake.rs"]
mod tests;
