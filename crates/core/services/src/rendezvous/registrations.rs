//! Bounded table of registrations, in the order in which they were made.
//!
//! When the table is full, registrations of disconnected peers are evicted first, then those not renewed for long, in
//! each case the oldest first. Connected peers that renew in time lose none; the node's connection limit bounds their
//! number.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use undertone_gossip::Time;

use crate::PeerNo;

#[cfg(test)]
#[path = "tests/registrations.rs"]
mod tests;

/// Limits on the registrations that a server keeps.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct RegistrationLimits {
    /// Maximum number of registrations.
    pub max_total: usize,
    /// Maximum number of registrations in one namespace.
    pub max_per_namespace: usize,
    /// Maximum number of registrations of one peer. Older releases of nwaku registered each shard and each of five
    /// capabilities; the public network has eight shards.
    pub max_per_peer: usize,
    /// Maximum number of bytes of all records and namespaces.
    pub max_bytes: usize,
    /// Time after which a registration without renewal may be evicted, in seconds: nwaku's longest renewal interval. It
    /// covers peers that left before their registration was kept, so that no event reports them as disconnected.
    pub renewal_s: u64,
}

impl Default for RegistrationLimits {
    fn default() -> Self {
        Self {
            max_total: 4096,
            max_per_namespace: 1024,
            max_per_peer: 64,
            max_bytes: 4 << 20,
            renewal_s: 300,
        }
    }
}

/// Registration that is kept.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Registration {
    pub(super) peer: PeerNo,
    pub(super) namespace: Arc<str>,
    /// Envelope with the signed record.
    pub(super) record: Bytes,
    /// Time of the registration or of its renewal.
    pub(super) made: Time,
    pub(super) expires: Time,
}

impl Registration {
    fn size_bytes(&self) -> usize {
        self.record.len() + self.namespace.len()
    }
}

/// Reason why a registration is not kept.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum RegistrationRefusal {
    /// The peer already has the maximum number of registrations.
    TooManyOfPeer,
    /// There is no room, and no registration may be evicted.
    NoRoom,
}

/// Registrations of one peer.
#[derive(Debug, Default)]
struct OfPeer {
    by_namespace: BTreeMap<Arc<str>, u64>,
    is_away: bool,
}

/// Bounded table of registrations. Each has a number; later ones have larger numbers, and a renewed registration gets a
/// new one.
#[derive(Debug)]
pub(super) struct Registrations {
    limits: RegistrationLimits,
    by_number: BTreeMap<u64, Registration>,
    by_namespace: BTreeMap<Arc<str>, BTreeSet<u64>>,
    by_peer: BTreeMap<PeerNo, OfPeer>,
    by_end: BTreeSet<(Time, u64)>,
    /// Registrations of disconnected peers.
    away: BTreeSet<u64>,
    bytes: usize,
    next: u64,
}

impl Registrations {
    pub(super) fn new(limits: RegistrationLimits) -> Self {
        Self {
            limits,
            by_number: BTreeMap::new(),
            by_namespace: BTreeMap::new(),
            by_peer: BTreeMap::new(),
            by_end: BTreeSet::new(),
            away: BTreeSet::new(),
            bytes: 0,
            next: 0,
        }
    }

    /// Keeps a registration. It replaces an earlier one of the same peer and namespace, which is removed even if there
    /// is no room for the new one.
    pub(super) fn insert(&mut self, new: Registration) -> Result<(), RegistrationRefusal> {
        self.remove(new.peer, &new.namespace);
        self.returned(new.peer);
        let of_peer = self.by_peer.get(&new.peer);
        let count = of_peer.map_or(0, |of_peer| of_peer.by_namespace.len());
        if count >= self.limits.max_per_peer {
            return Err(RegistrationRefusal::TooManyOfPeer);
        }
        self.make_room(&new)?;
        let number = self.next;
        self.next += 1;
        self.bytes += new.size_bytes();
        self.by_end.insert((new.expires, number));
        let namespace = Arc::clone(&new.namespace);
        let in_namespace = self.by_namespace.entry(Arc::clone(&namespace));
        in_namespace.or_default().insert(number);
        let of_peer = self.by_peer.entry(new.peer).or_default();
        of_peer.by_namespace.insert(namespace, number);
        self.by_number.insert(number, new);
        Ok(())
    }

    fn make_room(&mut self, new: &Registration) -> Result<(), RegistrationRefusal> {
        let limits = self.limits;
        let full = RegistrationRefusal::NoRoom;
        let in_namespace = self.by_namespace.get(&new.namespace);
        if let Some(numbers) = in_namespace.filter(|all| all.len() >= limits.max_per_namespace) {
            let mut all = numbers.iter();
            let away = all.find(|number| self.away.contains(number)).copied();
            let stale = || self.if_stale(numbers.first().copied(), new.made);
            self.take(away.or_else(stale).ok_or(full)?);
        }
        while self.by_number.len() >= limits.max_total
            || self.bytes + new.size_bytes() > limits.max_bytes
        {
            let away = self.away.first().copied();
            let first = || self.by_number.keys().next().copied();
            let stale = || self.if_stale(first(), new.made);
            self.take(away.or_else(stale).ok_or(full)?);
        }
        Ok(())
    }

    /// Returns the number if its registration was not renewed for long.
    fn if_stale(&self, number: Option<u64>, now: Time) -> Option<u64> {
        let renewal = Duration::from_secs(self.limits.renewal_s);
        number.filter(|number| {
            let kept = self.by_number.get(number);
            kept.is_some_and(|kept| kept.made.after(renewal) <= now)
        })
    }

    /// Ends a registration, if there is one.
    pub(super) fn remove(&mut self, peer: PeerNo, namespace: &str) {
        let of_peer = self.by_peer.get(&peer);
        let number = of_peer.and_then(|of_peer| of_peer.by_namespace.get(namespace));
        if let Some(number) = number.copied() {
            self.take(number);
        }
    }

    /// Removes expired registrations.
    pub(super) fn expire(&mut self, now: Time) {
        while let Some(&(expires, number)) = self.by_end.first() {
            if expires > now {
                return;
            }
            self.take(number);
        }
    }

    /// Marks a peer as disconnected.
    pub(super) fn left(&mut self, peer: PeerNo) {
        if let Some(of_peer) = self.by_peer.get_mut(&peer) {
            of_peer.is_away = true;
            self.away.extend(of_peer.by_namespace.values());
        }
    }

    /// Marks a peer as connected.
    fn returned(&mut self, peer: PeerNo) {
        if let Some(of_peer) = self.by_peer.get_mut(&peer).filter(|one| one.is_away) {
            of_peer.is_away = false;
            for number in of_peer.by_namespace.values() {
                self.away.remove(number);
            }
        }
    }

    /// Removes the registration with a number from every index.
    fn take(&mut self, number: u64) {
        let Some(taken) = self.by_number.remove(&number) else {
            return;
        };
        self.bytes -= taken.size_bytes();
        self.by_end.remove(&(taken.expires, number));
        self.away.remove(&number);
        if let Some(numbers) = self.by_namespace.get_mut(&taken.namespace) {
            numbers.remove(&number);
            if numbers.is_empty() {
                self.by_namespace.remove(&taken.namespace);
            }
        }
        if let Some(of_peer) = self.by_peer.get_mut(&taken.peer) {
            of_peer.by_namespace.remove(&taken.namespace);
            if of_peer.by_namespace.is_empty() {
                self.by_peer.remove(&taken.peer);
            }
        }
    }

    /// Returns the registrations with at least this number, of a namespace or of all, each with its number.
    pub(super) fn from<'a>(
        &'a self,
        namespace: Option<&str>,
        number: u64,
    ) -> Box<dyn Iterator<Item = (u64, &'a Registration)> + 'a> {
        let Some(namespace) = namespace else {
            let all = self.by_number.range(number..);
            return Box::new(all.map(|(number, one)| (*number, one)));
        };
        let numbers = self.by_namespace.get(namespace).into_iter();
        let numbers = numbers.flat_map(move |numbers| numbers.range(number..));
        Box::new(numbers.filter_map(|number| Some((*number, self.by_number.get(number)?))))
    }

    /// Whether a peer has already registered this exact record.
    pub(super) fn has_record(&self, peer: PeerNo, record: &[u8]) -> bool {
        let of_peer = self.by_peer.get(&peer);
        let mut numbers = of_peer.iter().flat_map(|one| one.by_namespace.values());
        numbers.any(|number| {
            let kept = self.by_number.get(number);
            kept.is_some_and(|kept| kept.record == record)
        })
    }

    /// Whether a peer has a registration.
    pub(super) fn has_peer(&self, peer: PeerNo) -> bool {
        self.by_peer.contains_key(&peer)
    }

    /// Returns the time at which the next registration expires.
    pub(super) fn first_end(&self) -> Option<Time> {
        self.by_end.first().map(|(expires, _)| *expires)
    }

    pub(super) fn len(&self) -> usize {
        self.by_number.len()
    }

    pub(super) fn namespaces(&self) -> usize {
        self.by_namespace.len()
    }
}
