//! js-waku's light clients on real nodes: what applications in Node.js and in browsers use of a node; and other
//! implementations of discovery. `tools/conformance/js/light-client/README.md` and `tools/conformance/js/discv5/README.md` describe them.
#![expect(
    clippy::unwrap_used,
    reason = "helpers of tests, which clippy takes for other code"
)]

mod certificate;
mod circuit;
mod client;
mod discv5;
mod dns_list;
mod filter;
mod go_ethereum;
mod idle;
mod lightpush;
mod mismatch;
mod page;
mod peer_exchange;
mod relay_node;
mod restart;
mod store;
mod test_network;
mod vectors;
mod zone;
