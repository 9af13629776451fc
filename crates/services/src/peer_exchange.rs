//! Peer exchange: addresses of other nodes on request.
