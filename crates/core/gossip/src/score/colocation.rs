//! Peers that share an address (P6).
//!
//! Each peer is charged for those that were connected from its address before it, not for those that come
//! later: a crowd keeps newcomers out, and nobody can displace a member by connecting from its address.

use std::collections::BTreeMap;

use crate::address::AddressGroup;
use crate::types::PeerIx;

/// Connected peers by address group, in the order in which they connected.
#[derive(Debug, Default)]
pub(super) struct Colocation(BTreeMap<AddressGroup, Vec<PeerIx>>);

impl Colocation {
    pub(super) fn joined(&mut self, address: AddressGroup, peer: PeerIx) {
        self.0.entry(address).or_default().push(peer);
    }

    /// Removes a peer and returns those that connected after it.
    pub(super) fn left(&mut self, address: AddressGroup, peer: PeerIx) -> Vec<PeerIx> {
        let Some(peers) = self.0.get_mut(&address) else {
            return Vec::new();
        };
        let Some(at) = peers.iter().position(|other| *other == peer) else {
            return Vec::new();
        };
        let behind = peers.split_off(at).split_off(1);
        peers.extend_from_slice(&behind);
        if peers.is_empty() {
            self.0.remove(&address);
        }
        behind
    }

    /// Position of the peer among those at its address, counted from 1; 0 when it is not there.
    pub(super) fn place(&self, address: AddressGroup, peer: PeerIx) -> u32 {
        let peers = self.0.get(&address).map_or(&[][..], Vec::as_slice);
        let at = peers.iter().position(|other| *other == peer);
        at.map_or(0, |at| u32::try_from(at + 1).unwrap_or(u32::MAX))
    }
}
