//! What the tests have in common.

pub(crate) mod network;
pub(crate) mod raw_peer;
pub(crate) mod rpc;
pub(crate) mod victim;

/// The topic of all tests.
pub(crate) const TOPIC: &str = "/waku/2/rs/66/3";
