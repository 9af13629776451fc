//! js-waku's light clients on real nodes: what applications in Node.js and in browsers use of a node.
//! `interop/js/light-client/README.md` describes the clients.
#![expect(
    clippy::unwrap_used,
    reason = "helpers of tests, which clippy takes for other code"
)]

mod circuit;
mod client;
mod filter;
mod idle;
mod lightpush;
mod mismatch;
mod page;
mod peer_exchange;
mod restart;
mod stage;
mod store;
mod vectors;
