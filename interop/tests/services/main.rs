//! js-waku's light clients on real nodes: what applications in Node.js and in browsers use of a node; and other
//! implementations of discovery. `interop/js/light-client/README.md` and `interop/js/discv5/README.md` describe them.
#![expect(
    clippy::unwrap_used,
    reason = "helpers of tests, which clippy takes for other code"
)]

mod circuit;
mod client;
mod filter;
mod discv5;
mod dns_list;
mod idle;
mod go_ethereum;
mod lightpush;
mod mismatch;
mod page;
mod peer_exchange;
mod restart;
mod relay_node;
mod stage;
mod store;
mod vectors;
mod zone;
