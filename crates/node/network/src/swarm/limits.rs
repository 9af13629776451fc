//! Bounds on the number of connections.

use std::time::Duration;

/// File handles that a node needs apart from connections: databases, logs, REST.
const OTHER_HANDLES: u64 = 128;

/// Default number of connections from one IPv4 address or one IPv6 /64.
const PER_ADDRESS_DEFAULT: u32 = 16;

/// Default number of connections from one network of the Internet (an IPv4 /24 or an IPv6 /48): as many as from two
/// addresses.
const PER_NETWORK_DEFAULT: u32 = 2 * PER_ADDRESS_DEFAULT;

/// Default number of places for clients.
const CLIENTS_DEFAULT: u32 = 512;

/// Minimum number of concurrent handshakes; with fewer, a burst of honest peers would fail.
const PENDING_MIN: u32 = 8;

/// Bounds on a node's connections. Static peers are exempt, in both directions.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ConnectionLimits {
    /// Maximum number of connections in both directions, not counting clients.
    pub total_max: u32,
    /// Maximum number of inbound connections from clients: peers without a pubsub session. One address or one network
    /// of the Internet may have half of them. A loopback address may have all, because a proxy in front of the node may
    /// carry them.
    pub clients_max: u32,
    /// Part of `total_max` that is reserved for peers that this node dials.
    pub outbound_reserved: u32,
    /// Maximum number of inbound connections from one IPv4 address or one IPv6 /64.
    pub per_address_max: u32,
    /// Maximum number of inbound connections from one network of the Internet, an IPv4 /24 or an IPv6 /48.
    pub per_network_max: u32,
    /// Maximum number of inbound connections from one loopback address: other nodes of this host, or a proxy in front
    /// of the node.
    pub per_loopback_address_max: u32,
    /// Maximum number of concurrent inbound handshakes; the same number again over QUIC, where addresses can be forged.
    /// One more aborts the oldest handshake of the network with the most. One address may have no more handshakes than
    /// connections.
    pub pending_max: u32,
    /// Time limit for inbound handshakes.
    pub handshake_timeout: Duration,
}

impl ConnectionLimits {
    /// Returns the defaults for `total_max` connections. An eighth of them, at most 16, are reserved for peers that the
    /// node dials. 16 may come from one address, 32 from one network, and any number from each loopback address.
    /// Clients have 512 places in addition.
    pub fn with_total(total_max: u32) -> Self {
        Self {
            total_max,
            clients_max: CLIENTS_DEFAULT,
            outbound_reserved: (total_max / 8).min(16),
            per_address_max: PER_ADDRESS_DEFAULT,
            per_network_max: PER_NETWORK_DEFAULT,
            per_loopback_address_max: total_max,
            pending_max: 128,
            handshake_timeout: Duration::from_secs(3),
        }
    }

    /// Returns lower limits that fit the number of files that the process may open; `None`
    /// if they fit already.
    #[must_use]
    pub(crate) fn within_files(&self, files_max: u64) -> Option<Self> {
        let connections = u64::from(self.total_max) + u64::from(self.clients_max);
        let wanted = connections + u64::from(self.pending_max) + OTHER_HANDLES;
        if wanted <= files_max {
            return None;
        }
        let left = files_max.saturating_sub(OTHER_HANDLES);
        // Up to a quarter goes to handshakes, which are short-lived.
        let part = |share: u64| u32::try_from(share).unwrap_or(u32::MAX);
        let pending_max = self.pending_max.min(part(left / 4)).max(PENDING_MIN);
        let rest = left.saturating_sub(u64::from(pending_max));
        // Every peer that dials begins as a client.
        let total_max = self.total_max.min(part(rest - rest / 16)).max(1);
        let clients_left = part(rest).saturating_sub(total_max);
        Some(Self {
            total_max,
            clients_max: self.clients_max.min(clients_left).max(1),
            pending_max,
            outbound_reserved: self.outbound_reserved.min(total_max / 2),
            ..self.clone()
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn limits_shrink_until_they_fit_the_files_of_the_process() {
        let limits = ConnectionLimits::with_total(150);
        assert_eq!(limits.within_files(1024), None);
        let fitted = limits.within_files(256).expect("they do not fit");
        let connections = fitted.total_max + fitted.clients_max;
        assert!(u64::from(connections + fitted.pending_max) + OTHER_HANDLES <= 256);
        assert!(fitted.total_max >= 90, "{fitted:?}");
        assert!(fitted.outbound_reserved < fitted.total_max);
    }

    #[test]
    fn a_process_with_hardly_any_files_still_has_a_connection() {
        let fitted = ConnectionLimits::with_total(150).within_files(10);
        assert_eq!(fitted.map(|limits| limits.total_max), Some(1));
    }
}
