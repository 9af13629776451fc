//! Current and lost IP addresses of the node's host.

use std::net::IpAddr;

/// Maximum number of lost addresses that are remembered.
const LOST_MAX: usize = 8;

/// IP addresses of the host that the node listens on, and former ones.
#[derive(Debug, Default)]
pub(super) struct HostAddresses {
    now: Vec<IpAddr>,
    /// Lost addresses, the latest last.
    lost: Vec<IpAddr>,
}

impl HostAddresses {
    /// Records the current addresses of the host.
    pub(super) fn set(&mut self, now: Vec<IpAddr>) {
        let before = std::mem::replace(&mut self.now, now);
        let gone = before.into_iter().filter(|ip| !self.now.contains(ip));
        let gone: Vec<_> = gone.collect();
        self.lost
            .retain(|ip| !self.now.contains(ip) && !gone.contains(ip));
        self.lost.extend(gone);
        let surplus = self.lost.len().saturating_sub(LOST_MAX);
        self.lost.drain(..surplus);
    }

    /// Returns the address that a record should contain instead of one that the host has lost. An address that the host
    /// never had itself, such as that of a router, has no replacement.
    pub(super) fn replacement(&self, named: IpAddr) -> Option<IpAddr> {
        if !self.lost.contains(&named) {
            return None;
        }
        let of_kind = || self.now.iter().filter(|ip| ip.is_ipv4() == named.is_ipv4());
        let remote = of_kind().find(|ip| !ip.is_loopback());
        remote.or_else(|| of_kind().next()).copied()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ip(last: u8) -> IpAddr {
        [203, 0, 113, last].into()
    }

    const LOOPBACK: IpAddr = IpAddr::V4(std::net::Ipv4Addr::LOCALHOST);

    #[test]
    fn a_lost_address_is_replaced_by_one_that_others_reach() {
        let mut addresses = HostAddresses::default();
        addresses.set(vec![LOOPBACK, ip(1)]);
        assert_eq!(addresses.replacement(ip(1)), None);
        addresses.set(vec![LOOPBACK, ip(2)]);
        assert_eq!(addresses.replacement(ip(1)), Some(ip(2)));
        // It was never the host's own.
        assert_eq!(addresses.replacement(ip(9)), None);
        addresses.set(vec![LOOPBACK]);
        assert_eq!(addresses.replacement(ip(2)), Some(LOOPBACK));
        addresses.set(Vec::new());
        assert_eq!(
            addresses.replacement(ip(2)),
            None,
            "the host has no other one"
        );
    }

    #[test]
    fn an_address_that_comes_back_is_not_lost() {
        let mut addresses = HostAddresses::default();
        for last in [1, 2, 1] {
            addresses.set(vec![ip(last)]);
        }
        assert_eq!(addresses.replacement(ip(1)), None);
        assert_eq!(addresses.replacement(ip(2)), Some(ip(1)));
    }

    #[test]
    fn a_host_that_changes_its_address_for_ever_is_remembered_within_bounds() {
        let mut addresses = HostAddresses::default();
        (0..100).for_each(|last| addresses.set(vec![ip(last)]));
        assert_eq!(addresses.lost.len(), LOST_MAX);
        assert_eq!(addresses.replacement(ip(98)), Some(ip(99)));
        assert_eq!(addresses.replacement(ip(1)), None);
    }
}
