//! Undertone's own node among other implementations and under attack: real processes, real TCP.
#![expect(
    clippy::unwrap_used,
    reason = "helpers of tests, which clippy takes for other code"
)]

mod backpressure;
mod conformance;
mod gossip_paths;
mod js_waku;
mod memory;
mod misbehaviour_wire;
mod penalties_wire;
mod quic;
mod support;
mod undertone_peer;
