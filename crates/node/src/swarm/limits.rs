//! How many connections there may be.

use std::time::Duration;

/// Handles that a node needs for other things than connections: databases, logs, REST.
const OTHER_HANDLES: u64 = 128;

/// Connections of one IPv4 address or of one IPv6 /64 unless something else is said.
const PER_ADDRESS_DEFAULT: u32 = 16;

/// Fewest handshakes at a time; fewer would let a burst of honest peers fail.
const PENDING_MIN: u32 = 8;

/// Bounds of a node's connections. Static peers come in and are dialled beyond them.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ConnectionLimits {
    /// Connections at most, in both directions.
    pub total_max: u32,
    /// Of these, the ones that are kept free for peers that this node dials.
    pub outbound_reserved: u32,
    /// Connections that come from one IPv4 address or one IPv6 /64.
    pub per_address_max: u32,
    /// The same for each loopback address: other nodes of this host, or a proxy in front of the node.
    pub per_loopback_address_max: u32,
    /// Handshakes at a time with peers that have dialled. When there is one more, the oldest of the address
    /// with the most ends; an address has no more of them than it may have connections.
    pub pending_max: u32,
    /// How long the handshake of a peer that has dialled may take.
    pub handshake_timeout: Duration,
}

impl ConnectionLimits {
    /// The defaults for so many connections: an eighth of them, 16 at the most, are for peers that the node
    /// dials; 16 may come from one address, and any number from this host.
    pub fn with_total(total_max: u32) -> Self {
        Self {
            total_max,
            outbound_reserved: (total_max / 8).min(16),
            per_address_max: PER_ADDRESS_DEFAULT,
            per_loopback_address_max: total_max,
            pending_max: 128,
            handshake_timeout: Duration::from_secs(3),
        }
    }

    /// The same within the number of files that the process may open; `None` if they fit already.
    #[must_use]
    pub(crate) fn within_files(&self, files_max: u64) -> Option<Self> {
        let wanted = u64::from(self.total_max) + u64::from(self.pending_max) + OTHER_HANDLES;
        if wanted <= files_max {
            return None;
        }
        let left = files_max.saturating_sub(OTHER_HANDLES);
        // A quarter for handshakes, which do not last.
        let part = |share: u64| u32::try_from(share).unwrap_or(u32::MAX);
        let pending_max = self.pending_max.min(part(left / 4)).max(PENDING_MIN);
        let rest = left.saturating_sub(u64::from(pending_max));
        let total_max = self.total_max.min(part(rest)).max(1);
        Some(Self {
            total_max,
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
        assert!(u64::from(fitted.total_max + fitted.pending_max) + OTHER_HANDLES <= 256);
        assert!(fitted.total_max >= 90, "{fitted:?}");
        assert!(fitted.outbound_reserved < fitted.total_max);
    }

    #[test]
    fn a_process_with_hardly_any_files_still_has_a_connection() {
        let fitted = ConnectionLimits::with_total(150).within_files(10);
        assert_eq!(fitted.map(|limits| limits.total_max), Some(1));
    }
}
