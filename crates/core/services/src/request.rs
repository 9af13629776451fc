//! Numbers by which a driver and the services identify peers and requests.

/// Number of a peer, assigned by the driver. It must not be reassigned while anything is outstanding
/// for the peer.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct PeerNo(pub u64);

/// Number of a request, assigned by the side that makes it and repeated in the answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct RequestNo(pub u64);
