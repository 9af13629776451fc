//! Bounds on circuits through this node.

use std::time::Duration;

use libp2p::relay;

/// Bounds on circuits that a node relays for others. The library's own limits on the rate of requests per peer and per
/// IP address apply as well.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CircuitLimits {
    /// Maximum number of reservations, by which peers are reached through this node.
    pub reservations_max: usize,
    /// Time after which a reservation has to be renewed.
    pub reservation: Duration,
    /// Maximum number of concurrent circuits.
    pub circuits_max: usize,
    /// Maximum number of concurrent circuits per peer.
    pub circuits_per_peer_max: usize,
    /// Time after which a circuit is closed.
    pub circuit: Duration,
    /// Maximum bytes of a circuit in each direction; the circuit is then closed.
    pub circuit_bytes_max: u64,
}

impl Default for CircuitLimits {
    /// Returns the default limits of libp2p relays: enough to punch a hole, not enough for regular traffic.
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
    /// Returns the bounds as the library's configuration, with its own limits on the rate of requests per peer and
    /// address.
    pub(super) fn config(&self) -> relay::Config {
        relay::Config {
            max_reservations: self.reservations_max,
            // Reservations belong to a connection, and a peer may have two at a time.
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
