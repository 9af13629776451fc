//! Reading leaves from the contract where its events do not determine them.

use std::collections::VecDeque;

use undertone_rln::Fr;

use crate::evm::chain::{Ask, BlockRef, ContractEvent};
use crate::registry::MemberIndex;

/// Maximum number of leaves per request: about 64 kB of JSON.
pub(super) const MAX_LEAVES: u32 = 1000;

/// Number of single leaves above which all leaves are read.
const MAX_SINGLE: usize = 16;

/// State of a comparison of roots, and the leaves that were read for it.
#[derive(Clone, Debug)]
pub(super) struct Repair {
    pub(super) head: BlockRef,
    /// Events of the last page.
    pub(super) events: Vec<ContractEvent>,
    /// The contract's root at `head`.
    pub(super) root: Fr,
    /// Set while the contract's number of leaves must be requested first: the index after the
    /// last known leaf.
    count_from: Option<u32>,
    /// Ranges of leaves still to be read: first and last index.
    wanted: VecDeque<(u32, u32)>,
    found: Vec<(MemberIndex, Fr)>,
    read_all: bool,
}

impl Repair {
    pub(super) fn new(head: BlockRef, events: Vec<ContractEvent>, root: Fr) -> Self {
        Self {
            head,
            events,
            root,
            count_from: None,
            wanted: VecDeque::new(),
            found: Vec::new(),
            read_all: false,
        }
    }

    /// Requests these leaves, or all leaves if there are many.
    pub(super) fn of(mut self, unverified: &[MemberIndex], known_end: u32) -> Self {
        if unverified.len() > MAX_SINGLE {
            return self.of_all(known_end);
        }
        self.wanted = unverified.iter().map(|i| (i.get(), i.get())).collect();
        self
    }

    /// Requests all leaves. Those after the contract's last, up to `known_end`, are empty.
    pub(super) fn of_all(mut self, known_end: u32) -> Self {
        self.found.clear();
        self.wanted.clear();
        self.read_all = true;
        self.count_from = Some(known_end);
        self
    }

    /// Takes the contract's number of leaves; returns whether it was asked for.
    pub(super) fn counted(&mut self, count: u32) -> bool {
        let Some(known_end) = self.count_from.take() else {
            return false;
        };
        let beyond = (count..known_end).filter_map(MemberIndex::new);
        self.found = beyond.map(|index| (index, Fr::from(0))).collect();
        self.wanted = count
            .checked_sub(1)
            .map(|last| (0, last))
            .into_iter()
            .collect();
        true
    }

    /// Whether any leaves were read.
    pub(super) fn has_read(&self) -> bool {
        !self.found.is_empty() || self.read_all
    }

    /// Whether all leaves were read.
    pub(super) fn has_read_all(&self) -> bool {
        self.read_all
    }

    pub(super) fn is_done(&self) -> bool {
        self.wanted.is_empty() && self.count_from.is_none()
    }

    pub(super) fn ask(&self, at_once: u32) -> Ask {
        if self.count_from.is_some() {
            return Ask::Count { at: self.head };
        }
        let (first, last) = self.next(at_once);
        Ask::Leaves {
            at: self.head,
            first,
            last,
        }
    }

    /// Takes the leaves that were read; returns whether their number is the requested one.
    pub(super) fn take(&mut self, leaves: Vec<Fr>, at_once: u32) -> bool {
        let (first, last) = self.next(at_once);
        if self.wanted.is_empty() || self.count_from.is_some() {
            return false;
        }
        if leaves.len() as u64 != u64::from(last - first) + 1 {
            return false;
        }
        let indices = (first..=last).filter_map(MemberIndex::new);
        self.found.extend(indices.zip(leaves));
        if let Some(range) = self.wanted.pop_front()
            && last < range.1
        {
            self.wanted.push_front((last + 1, range.1));
        }
        true
    }

    pub(super) fn found(&self) -> impl Iterator<Item = (MemberIndex, Fr)> {
        self.found.iter().copied()
    }

    fn next(&self, at_once: u32) -> (u32, u32) {
        let (first, last) = self.wanted.front().copied().unwrap_or((0, 0));
        (first, last.min(first.saturating_add(at_once.max(1) - 1)))
    }
}
