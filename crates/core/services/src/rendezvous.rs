//! Rendezvous: nodes register their addresses under a namespace, and ask which other nodes have registered.
//!
//! [`RendezvousServer`] keeps registrations of one cluster; clients use the frames [`RendezvousRequest`],
//! [`RegisterResponse`] and [`DiscoverResponse`]. The frames are those of libp2p's rendezvous; the signed record in a
//! registration is Waku's own ([`WakuPeerRecord`]). The driver has the keys, so it signs and verifies envelopes.

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

/// Domain string under which the envelope of a [`WakuPeerRecord`] is signed (nwaku).
pub const RECORD_DOMAIN: &str = "libp2p-custom-peer-record";

/// Payload type of the envelope of a [`WakuPeerRecord`], as current releases of the reference node write it.
pub const RECORD_PAYLOAD_TYPE: &[u8] = &[0x30, 0x00, 0x00];

/// Payload type that an older release of nwaku wrote.
pub const FORMER_RECORD_PAYLOAD_TYPE: &[u8] = &[0x05, 0x05];

/// Returns the namespace of the nodes that relay a shard. Releases of nwaku before the mix protocol used it; the
/// current one uses only `rs/<cluster>/mix`.
pub fn shard_namespace(cluster: u16, shard: u16) -> String {
    format!("{}{shard}", cluster_prefix(cluster))
}

/// Returns the prefix of all namespaces of a cluster.
fn cluster_prefix(cluster: u16) -> String {
    format!("rs/{cluster}/")
}
