//! What changes in a network that runs: faults.

use std::collections::{BTreeMap, BTreeSet};

use super::config::Rate;

/// A change; it acts at once.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Change {
    /// A host's links have other rates: packets that begin to be sent from now on take the new ones.
    /// None: no limit, and what waited leaves at once.
    Rates {
        /// The host's index.
        host: u32,
        /// From the host into the network.
        uplink: Option<Rate>,
        /// From the network to the host.
        downlink: Option<Rate>,
    },
    /// Packets that a host sends are lost with this probability, each by itself, beside what their paths
    /// lose.
    Loss {
        /// The host's index.
        host: u32,
        /// In millionths; 0: none.
        ppm: u32,
    },
    /// Packets between these hosts and all others are dropped where they arrive, also those that are on
    /// their way now. Cuts are told apart by a number; a second one of the same number replaces the first.
    Cut {
        /// The cut's number.
        cut: u32,
        /// One side; all other hosts are the other.
        hosts: Vec<u32>,
    },
    /// A cut ends; packets that arrive from now on pass.
    Heal {
        /// The cut's number.
        cut: u32,
    },
    /// What a host sends is held back behind its uplink: nobody hears from it, though it hears. What is
    /// on its way arrives.
    Hold {
        /// The host's index.
        host: u32,
    },
    /// What was held back goes on, in its order, and what comes after it.
    Release {
        /// The host's index.
        host: u32,
    },
}

/// The cuts that last.
#[derive(Clone, Debug, Default)]
pub(super) struct Cuts {
    /// One side of each, by number.
    sides: BTreeMap<u32, BTreeSet<u32>>,
}

impl Cuts {
    pub(super) fn cut(&mut self, cut: u32, hosts: Vec<u32>) {
        self.sides.insert(cut, hosts.into_iter().collect());
    }

    pub(super) fn heal(&mut self, cut: u32) {
        self.sides.remove(&cut);
    }

    pub(super) fn are_apart(&self, a: u32, b: u32) -> bool {
        let mut sides = self.sides.values();
        sides.any(|side| side.contains(&a) != side.contains(&b))
    }
}
