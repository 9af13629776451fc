//! Bounds on circuits through this node.

use std::time::Duration;

use libp2p::relay;

/// Bounds on circuits that a node relays for others. Besides, a peer and an IP address may ask only so often.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CircuitLimits {
    /// Most peers that can be reached through this node.
    pub reservations_max: usize,
    /// Time after which a reservation has to be renewed.
    pub reservation: Duration,
    /// Most circuits at a time.
    pub circuits_max: usize,
    /// Most circuits of one peer at a time.
    pub circuits_per_peer_max: usize,
    /// Time after which a circuit is closed.
    pub circuit: Duration,
    /// Most bytes of a circuit, in each direction; it is closed then.
    pub circuit_bytes_max: u64,
}

impl Default for CircuitLimits {
    /// Returns what relays of libp2p grant by default: enough to punch a hole, not enough to live on.
    fn default() -> Self {
        Self {
            reservations_max: 128,
            reservation: Duration::from_secs(60 * 60),
            circuits_max: 16,
            circuits_per_peer_max: 4,
            circuit: Duration::from_secs(120),
            circuit_bytes_max: 1 << 17,
        }
    }
}

impl CircuitLimits {
    /// Returns the bounds as the library wants them, with its own on how often a peer and an address may ask.
    pub(super) fn config(&self) -> relay::Config {
        relay::Config {
            max_reservations: self.reservations_max,
            // One for each connection of the peer, of which there are two at most.
            max_reservations_per_peer: 2,
            reservation_duration: self.reservation,
            max_circuits: self.circuits_max,
            max_circuits_per_peer: self.circuits_per_peer_max,
            max_circuit_duration: self.circuit,
            max_circuit_bytes: self.circuit_bytes_max,
            ..relay::Config::default()
        }
    }
}
