//! Bound on handshakes in progress with peers that have dialled.
//!
//! Peers that open sockets and say nothing must not keep others out, so no newcomer is refused: instead the
//! oldest handshake of the address with too many is aborted.

use std::collections::{BTreeMap, VecDeque};

use super::address_group::AddressGroup;
use super::limits::ConnectionLimits;

/// Identifier of a handshake.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct HandshakeId(u64);

/// All handshakes in progress.
#[derive(Debug)]
pub(crate) struct Handshakes {
    limits: ConnectionLimits,
    next: u64,
    groups: BTreeMap<AddressGroup, VecDeque<HandshakeId>>,
    count: usize,
}

impl Handshakes {
    pub(crate) fn new(limits: ConnectionLimits) -> Self {
        Self {
            limits,
            next: 0,
            groups: BTreeMap::new(),
            count: 0,
        }
    }

    /// Records a new inbound handshake. Returns its id, and the handshake to be aborted for it, if any.
    pub(crate) fn begin(&mut self, group: AddressGroup) -> (HandshakeId, Option<HandshakeId>) {
        let group_max = if group.is_loopback() {
            self.limits.per_loopback_address_max
        } else {
            self.limits.per_address_max
        };
        let of_group = self.groups.get(&group).map_or(0, VecDeque::len);
        let evicted = if of_group >= group_max.max(1) as usize {
            self.end_oldest(group)
        } else if self.count >= self.limits.pending_max.max(1) as usize {
            let most = self.groups.iter().max_by_key(|(_, ids)| ids.len());
            most.map(|(group, _)| *group)
                .and_then(|group| self.end_oldest(group))
        } else {
            None
        };
        let id = HandshakeId(self.next);
        self.next += 1;
        self.groups.entry(group).or_default().push_back(id);
        self.count += 1;
        (id, evicted)
    }

    fn end_oldest(&mut self, group: AddressGroup) -> Option<HandshakeId> {
        let oldest = *self.groups.get(&group)?.front()?;
        self.end(group, oldest);
        Some(oldest)
    }

    /// Removes a handshake that is over, whatever its outcome.
    pub(crate) fn end(&mut self, group: AddressGroup, id: HandshakeId) {
        let Some(ids) = self.groups.get_mut(&group) else {
            return;
        };
        let before = ids.len();
        ids.retain(|known| *known != id);
        self.count -= before - ids.len();
        if ids.is_empty() {
            self.groups.remove(&group);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn handshakes(pending_max: u32, per_address_max: u32) -> Handshakes {
        Handshakes::new(ConnectionLimits {
            pending_max,
            per_address_max,
            per_loopback_address_max: 1000,
            ..ConnectionLimits::with_total(100)
        })
    }

    fn address(n: u8) -> AddressGroup {
        AddressGroup::V4([10, 0, 0, n])
    }

    #[test]
    fn an_address_with_too_many_ends_its_own_oldest() {
        let mut all = handshakes(100, 2);
        let (first, _) = all.begin(address(1));
        let (second, none) = all.begin(address(1));
        assert_eq!(none, None);
        assert_eq!(all.begin(address(2)).1, None);
        assert_eq!(all.begin(address(1)).1, Some(first));
        assert_eq!(all.begin(address(1)).1, Some(second));
    }

    #[test]
    fn too_many_in_all_end_the_oldest_of_the_address_with_the_most() {
        let mut all = handshakes(3, 16);
        all.begin(address(1));
        let (flood, _) = all.begin(address(2));
        all.begin(address(2));
        assert_eq!(all.begin(address(3)).1, Some(flood));
        assert_eq!(all.count, 3);
    }

    #[test]
    fn what_has_ended_makes_room() {
        let mut all = handshakes(1, 16);
        let (first, _) = all.begin(address(1));
        all.end(address(1), first);
        all.end(address(1), first);
        assert_eq!(all.begin(address(2)).1, None);
        assert_eq!(all.groups.len(), 1);
    }
}
