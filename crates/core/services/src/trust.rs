//! Trust in peers' answers: the standing of peers, and the choice of those to ask.
//!
//! An unknown peer that dialled in decides nothing alone. If the configuration or a caller names peers, only those are
//! asked. Otherwise come peers that this node dialled, or that agreed with such a peer before, and then strangers,
//! whose answer needs at least two that are unrelated. Every client of a service chooses by [`choose`], so this is the
//! only place with that rule.

use std::net::IpAddr;

use rand_chacha::ChaCha8Rng;

use crate::PeerNo;
use crate::rng::below;

#[cfg(test)]
#[path = "tests/trust.rs"]
mod tests;

/// Standing of a peer, in ascending order of trust.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Standing {
    /// Peer that dialled this node and about which nothing else is known.
    #[default]
    Stranger,
    /// Peer that this node dialled, or whose answer agreed with that of such a peer.
    Known,
    /// Peer that the configuration or a caller names.
    Named,
}

/// Address block that one party is likely to control as a whole: an IPv4 /24 or an IPv6 /48.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Network {
    /// First three bytes of an IPv4 address.
    V4([u8; 3]),
    /// First six bytes of an IPv6 address.
    V6([u8; 6]),
}

impl Network {
    /// Returns the network of an address.
    pub fn of(ip: IpAddr) -> Self {
        match ip.to_canonical() {
            IpAddr::V4(ip) => {
                let [a, b, c, _] = ip.octets();
                Self::V4([a, b, c])
            }
            IpAddr::V6(ip) => {
                let [a, b, c, d, e, f, ..] = ip.octets();
                Self::V6([a, b, c, d, e, f])
            }
        }
    }
}

/// Peer whose answer is trusted or compared with others'.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Witness {
    /// Number that the driver gave the peer.
    pub peer: PeerNo,
    /// Standing of the peer.
    pub standing: Standing,
    /// Network that the peer is connected from; `None` on loopback and in private networks, where each peer counts as
    /// unrelated.
    pub network: Option<Network>,
}

impl Witness {
    /// Whether two peers are independent, as far as their addresses show.
    pub fn is_unrelated(&self, other: &Self) -> bool {
        let is_same_network = self.network.is_some() && self.network == other.network;
        self.peer != other.peer && !is_same_network
    }
}

/// Returns the peers to ask in order. If any are named, those and nobody else; otherwise known ones before strangers,
/// with those of equal standing in random order.
pub fn choose(mut candidates: Vec<Witness>, rng: &mut ChaCha8Rng) -> Vec<Witness> {
    let named = |one: &Witness| one.standing == Standing::Named;
    if candidates.iter().any(named) {
        candidates.retain(named);
    }
    for last in (1..candidates.len()).rev() {
        candidates.swap(last, below(rng, last + 1));
    }
    candidates.sort_by_key(|one| std::cmp::Reverse(one.standing));
    candidates
}

/// Whether the answer on which these peers agree is trusted: one named peer is enough, else it takes two unrelated
/// ones.
pub fn is_believed(agreeing: &[Witness]) -> bool {
    let named = |one: &Witness| one.standing == Standing::Named;
    let mut rest = agreeing;
    while let Some((first, others)) = rest.split_first() {
        if named(first) || others.iter().any(|other| other.is_unrelated(first)) {
            return true;
        }
        rest = others;
    }
    false
}
