//! Request budget shared by all peers, divided fairly among those that ask.
//!
//! Each served request adds a debt to its peer. Time pays off debts: the limit's rate is divided equally among the
//! peers in debt, as fair queueing divides a link. The total debt is bounded. A quarter of that bound is reserved for
//! peers without debt; a peer in debt is served while it owes at most three times what is free beside the reserve.
//!
//! A lone peer therefore gets more than half of a burst and then the whole rate. Greedy peers get equal shares, and a
//! peer that asks less often than its share is served whatever they do. A flood under many identities can use up the
//! reserve; only then does it affect everyone.

use std::collections::{BTreeMap, BTreeSet};

use undertone_gossip::Time;

use super::RateLimit;

#[cfg(test)]
#[path = "tests/fair.rs"]
mod tests;

/// Debt that a peer may have per free request.
const DEBT_PER_FREE: u128 = 3;

/// Divisor for the reserve: this part of the capacity is for peers without a debt only.
const RESERVED_ONE_IN: u128 = 4;

/// Budget of requests that is shared by all peers.
///
/// Amounts are requests times the period in nanoseconds, so that nothing is lost to rounding.
#[derive(Debug)]
pub(super) struct FairBudget<K> {
    limit: RateLimit,
    /// Amount of one request.
    request: u128,
    /// Maximum total debt.
    capacity: u128,
    /// Maximum number of peers with a debt of their own.
    max_peers: usize,
    /// Sum of all debts.
    owed: u128,
    /// Amount paid so far by a peer that has been in debt all the time.
    paid: u128,
    /// Value of `paid` at which a debt is paid off. The key `None` stands for debts of forgotten peers and the initial
    /// one.
    free_at: BTreeMap<Option<K>, u128>,
    /// The same debts, the smallest first.
    by_debt: BTreeSet<(u128, Option<K>)>,
    /// Remainder of the last division of inflow.
    rest: u128,
    /// Time until which debts are paid off; `None` before the first request.
    paid_until: Option<Time>,
}

impl<K: Ord + Copy> FairBudget<K> {
    /// Creates a budget that lets `capacity` requests through at once, but only the volume of the limit at first.
    pub(super) fn new(limit: RateLimit, capacity: u64, max_peers: usize) -> Self {
        let request = limit.period.as_nanos();
        let mut budget = Self {
            limit,
            request,
            capacity: u128::from(capacity).saturating_mul(request),
            max_peers,
            owed: 0,
            paid: 0,
            free_at: BTreeMap::new(),
            by_debt: BTreeSet::new(),
            rest: 0,
            paid_until: None,
        };
        let first = u128::from(limit.volume).saturating_mul(request);
        budget.add_debt(None, budget.capacity.saturating_sub(first));
        budget
    }

    /// Counts a request of a peer, and returns whether to serve it. A refused request costs nothing.
    pub(super) fn allow(&mut self, now: Time, peer: K) -> bool {
        self.pay_off(now);
        let Some(left) = self.capacity.checked_sub(self.owed + self.request) else {
            return false;
        };
        let debt = self.debt(Some(peer));
        let reserved = (self.capacity - self.debt(None)) / RESERVED_ONE_IN;
        let free = left.saturating_sub(reserved);
        if debt > 0 && debt + self.request > DEBT_PER_FREE.saturating_mul(free) {
            return false;
        }
        self.add_debt(Some(peer), self.request);
        while self.peers() > self.max_peers {
            self.forget_smallest();
        }
        true
    }

    /// Whether a peer has a debt of its own.
    pub(super) fn remembers(&self, peer: K) -> bool {
        self.free_at.contains_key(&Some(peer))
    }

    /// Returns the number of peers with a debt of their own.
    pub(super) fn peers(&self) -> usize {
        self.free_at.len() - usize::from(self.free_at.contains_key(&None))
    }

    fn debt(&self, peer: Option<K>) -> u128 {
        let free_at = self.free_at.get(&peer);
        free_at.map_or(0, |free_at| free_at.saturating_sub(self.paid))
    }

    fn add_debt(&mut self, peer: Option<K>, amount: u128) {
        if amount == 0 {
            return;
        }
        let free_at = self.free_at.entry(peer).or_insert(self.paid);
        self.by_debt.remove(&(*free_at, peer));
        *free_at += amount;
        self.by_debt.insert((*free_at, peer));
        self.owed += amount;
    }

    /// Divides the inflow since the last call among the debtors. Nobody pays more than they owe.
    fn pay_off(&mut self, now: Time) {
        let since = self.paid_until.map_or(now, |until| until.min(now));
        self.paid_until = Some(self.paid_until.map_or(now, |until| until.max(now)));
        let elapsed = now.since(since).as_nanos();
        let mut inflow = self.rest + elapsed.saturating_mul(u128::from(self.limit.volume));
        self.rest = 0;
        while let Some((free_at, peer)) = self.by_debt.first().copied() {
            let debtors = self.by_debt.len() as u128;
            let debt = free_at.saturating_sub(self.paid);
            let all = debt.saturating_mul(debtors);
            if inflow < all {
                let each = inflow / debtors;
                self.paid += each;
                self.owed -= each * debtors;
                self.rest = inflow % debtors;
                return;
            }
            inflow -= all;
            self.paid = free_at;
            self.owed -= all;
            self.by_debt.pop_first();
            self.free_at.remove(&peer);
        }
    }

    /// Forgets the peer with the smallest debt. The debt moves to the key `None`, so it is still paid off.
    fn forget_smallest(&mut self) {
        let smallest = self.by_debt.iter().find(|(_, peer)| peer.is_some());
        let Some(&(free_at, peer)) = smallest else {
            return;
        };
        self.by_debt.remove(&(free_at, peer));
        self.free_at.remove(&peer);
        let debt = free_at.saturating_sub(self.paid);
        self.owed -= debt;
        self.add_debt(None, debt);
    }
}
