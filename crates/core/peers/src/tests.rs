//! Identities and addresses for tests.

use multiaddr::{Multiaddr, PeerId};

/// Identity of the test peer with this number.
pub(crate) fn peer(number: u32) -> PeerId {
    let [a, b, c, d] = number.to_be_bytes();
    PeerId::from_bytes(&[0, 4, a, b, c, d]).expect("a multihash of four bytes")
}

/// Address of the test peer with this number: each in a network of its own.
pub(crate) fn address(number: u32) -> Multiaddr {
    let (a, b) = (number / 250, number % 250);
    let text = format!("/ip4/20.{a}.{b}.1/tcp/60000");
    text.parse().expect("an address of IPv4 and TCP")
}
