//! Rendezvous: nodes register where they listen under a namespace, and ask who else has.
//!
//! [`RendezvousServer`] keeps registrations of one cluster; clients use the frames [`RendezvousRequest`],
//! [`RegisterResponse`] and [`DiscoverResponse`]. The frames are those of libp2p's rendezvous, the signed record in a
//! registration is Waku's own ([`WakuPeerRecord`]). Envelopes are signed and verified by the driver, which has the keys.

mod codec;
mod io;
mod record;
mod registrations;
mod server;

pub use codec::{
    DiscoverResponse, FoundRegistration, RegisterResponse, RendezvousCodecLimits,
    RendezvousRequest, RendezvousStatus,
};
pub use io::{Input, Output, RendezvousStats};
pub use record::{PeerRecordLimits, WakuPeerRecord};
pub use registrations::RegistrationLimits;
pub use server::{RendezvousLimits, RendezvousServer};

#[cfg(test)]
#[path = "tests/rendezvous.rs"]
mod tests;

/// Identifier of the protocol.
pub const PROTOCOL_ID: &str = "/vac/waku/rendezvous/1.0.0";

/// Domain for which the envelope of a [`WakuPeerRecord`] is signed (nwaku).
pub const RECORD_DOMAIN: &str = "libp2p-custom-peer-record";

/// Payload type of the envelope of a [`WakuPeerRecord`], as the reference node writes it at present.
pub const RECORD_PAYLOAD_TYPE: &[u8] = &[0x30, 0x00, 0x00];

/// Payload type that an older release of nwaku wrote.
pub const FORMER_RECORD_PAYLOAD_TYPE: &[u8] = &[0x05, 0x05];

/// Returns the namespace of the nodes that relay a shard. Releases of nwaku before the mix protocol used it; the present
/// one uses `rs/<cluster>/mix` alone.
pub fn shard_namespace(cluster: u16, shard: u16) -> String {
    format!("{}{shard}", cluster_prefix(cluster))
}

/// Beginning of all namespaces of a cluster.
fn cluster_prefix(cluster: u16) -> String {
    format!("rs/{cluster}/")
}
