//! Changes to a running network: the faults that a driver injects.

use std::collections::{BTreeMap, BTreeSet};

use super::config::Rate;

/// A change to a running network; takes effect at once.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Change {
    /// Changes the rates of a host's links, for packets whose transmission begins from now on. `None`
    /// removes the limit, and the packets in the queue leave at once.
    Rates {
        /// Index of the host affected.
        host: u32,
        /// Rate from the host into the network.
        uplink: Option<Rate>,
        /// Rate from the network to the host.
        downlink: Option<Rate>,
    },
    /// Loses packets that a host sends with this probability, each independently, in addition to the
    /// loss of their paths.
    Loss {
        /// Index of the host affected.
        host: u32,
        /// Probability in millionths; 0 for no loss.
        ppm: u32,
    },
    /// Drops packets between these hosts and all others when they arrive, including those in transit now.
    /// Cuts are identified by a number; a second cut of the same number replaces the first.
    Cut {
        /// Number that identifies the cut.
        cut: u32,
        /// Hosts on one side of the cut; all other hosts are on the other side.
        hosts: Vec<u32>,
    },
    /// Ends a cut; packets that arrive from now on pass.
    Heal {
        /// Number that identifies the cut.
        cut: u32,
    },
    /// Holds packets of a host back behind its uplink: it receives, but nobody receives from it. Packets
    /// already in transit arrive.
    Hold {
        /// Index of the host affected.
        host: u32,
    },
    /// Releases the packets that [`Change::Hold`] held back, in their order, and ends the hold.
    Release {
        /// Index of the host affected.
        host: u32,
    },
}

/// All cuts in force.
#[derive(Clone, Debug, Default)]
pub(super) struct Cuts {
    /// Hosts on one side of each cut, by the cut's number.
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
