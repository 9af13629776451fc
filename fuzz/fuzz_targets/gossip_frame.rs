//! Frames of pubsub peers: the RPC, its beginning while it arrives, and fragments.
#![no_main]

use bytes::Bytes;
use libfuzzer_sys::fuzz_target;
use undertone_gossip::{Limits, fragments::Fragment, wire};

fuzz_target!(|input: &[u8]| {
    let bytes = Bytes::copy_from_slice(input);
    let limits = Limits::default();
    if let Ok(rpc) = wire::decode(&bytes, &limits) {
        assert!(rpc.messages.len() <= limits.messages_per_rpc_max);
        assert!(rpc.subscriptions.len() <= limits.subscriptions_per_rpc_max);
    }
    if let Some(rpc) = wire::unframe(&bytes) {
        let _ = wire::decode(&rpc, &limits);
    }
    if let Ok(fragment) = Fragment::read(&bytes) {
        assert!(fragment.index < fragment.count);
    }
});
