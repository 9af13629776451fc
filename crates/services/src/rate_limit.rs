//! Limits on the requests of one peer and of all peers.
