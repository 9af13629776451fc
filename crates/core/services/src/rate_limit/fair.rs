//! Requests that all peers share, divided fairly among those that ask.
//!
//! Each request that is served is a debt of its peer. Debts are paid off by time: the limit's rate is divided equally among
//! the peers that have one, as fair queueing divides a link. What may be owed together is bounded, and a peer with a debt is
//! served while it owes at most three times what is still free beside a reserve, a quarter, for those without. So a peer alone
//! gets more than half of a burst and then the whole rate, greedy ones get an equal share each, and one that asks less often than that
//! is served, whatever they do. Under many names at once a flood can use up the reserve; only then are all in the same boat.

use std::collections::{BTreeMap, BTreeSet};

use undertone_gossip::Time;

use super::RateLimit;

#[cfg(test)]
#[path = "tests/fair.rs"]
mod tests;

/// Debt that one peer may have for each request that is free.
const DEBT_PER_FREE: u128 = 3;

/// Part of what may be owed that only peers without a debt may use: one in so many requests.
const RESERVED_ONE_IN: u128 = 4;

/// Budget of requests that is shared by all peers.
///
/// Amounts are requests times the period in nanoseconds, so that no fraction is lost.
#[derive(Debug)]
pub(super) struct FairBudget<K> {
    limit: RateLimit,
    /// Amount of one request.
    request: u128,
    /// Most that may be owed together.
    capacity: u128,
    /// Maximum number of peers with a debt of their own.
    max_peers: usize,
    /// Sum of all debts.
    owed: u128,
    /// Amount that a peer that has been in debt all the time has paid.
    paid: u128,
    /// Value of `paid` at which a peer is free of debt. `None` owes what belongs to no peer that is remembered.
    free_at: BTreeMap<Option<K>, u128>,
    /// The same debts, the smallest first.
    by_debt: BTreeSet<(u128, Option<K>)>,
    /// Inflow that was too little to be divided.
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

    /// Counts a request of a peer, and returns whether it is to be served. A refused one costs nothing.
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

    /// Divides what has flowed in since the last call among those that owe something. Nobody pays more than they owe.
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

    /// Makes the smallest debt of a peer one that belongs to nobody: it is still paid off.
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
