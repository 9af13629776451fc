//! Numbers by which a driver and the services name peers and requests.

/// Number of a peer, given by the driver; it stays bound while anything is outstanding for the peer.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct PeerNo(pub u64);

/// Number of a request, given by the side that makes it and repeated in the answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct RequestNo(pub u64);
