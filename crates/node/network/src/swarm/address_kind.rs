//! Kinds of addresses that are treated specially: QUIC addresses, and addresses through a relay.

use libp2p::Multiaddr;
use libp2p::multiaddr::Protocol;

/// Whether an address is a QUIC address without a relay in between.
pub fn is_quic(address: &Multiaddr) -> bool {
    address.iter().any(|part| part == Protocol::QuicV1) && !is_relayed(address)
}

/// Whether an address leads through a relay.
pub(crate) fn is_relayed(address: &Multiaddr) -> bool {
    address.iter().any(|part| part == Protocol::P2pCircuit)
}

#[cfg(test)]
#[path = "tests/address_kind.rs"]
mod tests;
